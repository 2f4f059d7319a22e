"""What goes over the wire, as Flower's messages: weights, orders, and nothing of examples."""

from dataclasses import asdict

import torch
from flwr.app import ArrayRecord, ConfigRecord, Message, MessageType, RecordDict
from torch import Tensor

from dpfl.flower.server import Orders


def record(weights: Tensor) -> ArrayRecord:
    """Return weights [D] as a record, to the bit."""
    return ArrayRecord([weights.detach().cpu().numpy()])


def weights_of(message: Message) -> Tensor:
    """Return the weights [D] in a message."""
    (array,) = message.content["weights"].to_numpy_ndarrays()
    return torch.from_numpy(array.copy())


def order(orders: Orders, weights: Tensor, node: int) -> Message:
    """Return the message that asks the client at a node for its steps."""
    content = RecordDict({"weights": record(weights), "orders": ConfigRecord(asdict(orders))})
    return Message(content, node, MessageType.TRAIN, group_id=str(orders.round))


def question(digest: str, node: int) -> Message:
    """Return the message that asks a node which client it is, of the run of these settings."""
    content = RecordDict({"settings": ConfigRecord({"digest": digest})})
    return Message(content, node, MessageType.QUERY)
