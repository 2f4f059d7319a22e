"""Flower's ClientApp: one node is one client, as its node config says.

`client` is its number, `run` the file of the run, `state` a folder for what it keeps.
"""

from pathlib import Path

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from dpfl.base.errors import UserError
from dpfl.flower import party, wire
from dpfl.flower.client import Client
from dpfl.flower.server import Orders
from dpfl.runs.finished import digest
from dpfl.training.job import Inputs

app = ClientApp()


@app.query()
def who(message: Message, context: Context) -> Message:
    """Answer with the client's number; UserError if the run cannot be trained here."""
    settings, _ = _run(context)
    if digest(settings) != message.content["settings"]["digest"]:
        raise UserError(f"{context.node_config['run']}: settings are not those of the server")
    number = _client(context).number
    return Message(RecordDict({"who": ConfigRecord({"client": number})}), reply_to=message)


@app.train()
def visit(message: Message, context: Context) -> Message:
    """Take the steps of a round."""
    orders = Orders(**message.content["orders"])
    weights = wire.record(_client(context).visit(orders, wire.weights_of(message)))
    return Message(RecordDict({"weights": weights}), reply_to=message)


def _client(context: Context) -> Client:
    """Build the node's client, as it was after its last round."""
    own = context.node_config
    return Client(*_run(context), int(own["client"]), Path(own["state"]))


def _run(context: Context) -> tuple[party.Settings, Inputs]:
    for key in ("client", "run", "state"):
        if key not in context.node_config:
            expected = "client=NUMBER, run=FILE and state=FOLDER"
            raise UserError(f"node config: no {key!r}, expected {expected}")
    return party.read(context.node_config["run"])
