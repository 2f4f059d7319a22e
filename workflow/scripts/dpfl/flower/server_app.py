"""Flower's ServerApp: a strategy whose rounds are those of the simulation, with its ledger."""

import logging
import time
from collections.abc import Iterable
from pathlib import Path

from flwr.app import ArrayRecord, ConfigRecord, Context, Message
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import Strategy
from safetensors.torch import save

from dpfl.base.errors import UserError
from dpfl.base.files import atomic, write_json
from dpfl.flower import party, wire
from dpfl.flower.server import Server
from dpfl.runs.finished import digest

log = logging.getLogger("flwr")
app = ServerApp()


class PaidRounds(Strategy):
    """Asks the participants of the simulation for paid steps, and averages as it does.

    The account lies in a file before anybody is asked. A node is asked which client it is; of two
    that say the same the later one counts. `timeout` is how many seconds an answer may take.
    """

    def __init__(self, server: Server, settings: str, timeout: float, account: Path):
        self.server, self._settings, self._timeout = server, settings, timeout
        self._account, self._clients = account, {}

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Charge the round; return orders for the clients that are there."""
        there = set(grid.get_node_ids())
        self._meet(sorted(there - self._clients.keys()), grid)
        nodes = {client: node for node, client in self._clients.items() if node in there}
        asked, weights = self.server.begin(server_round), self.server.weights
        write_json(self._account, self.server.account())
        return [wire.order(asked[c], weights, nodes[c]) for c in asked if c in nodes]

    def aggregate_train(self, server_round: int, replies: Iterable[Message]) -> tuple:
        """End the round; name the clients that did not answer, or not with weights."""
        sent, why = {}, {}
        for one in replies:
            client = self._clients.get(one.metadata.src_node_id)
            try:
                sent[client] = wire.weights_of(one)
            except (KeyError, TypeError, ValueError) as error:  # of an error there is no content
                why[client] = one.error.reason if one.has_error() else f"no weights: {error}"
        for line in self.server.end(sent, why):
            log.warning(line)
        write_json(self._account, self.server.account())
        return wire.record(self.server.weights), None

    def configure_evaluate(self, *_: object) -> Iterable[Message]:
        """Ask nobody."""
        return []

    def aggregate_evaluate(self, *_: object) -> None:
        """Nobody was asked."""

    def summary(self) -> None:
        """Say how large the run is."""
        log.info("%d clients", len(self.server.parts.given.members))

    def _meet(self, nodes: list[int], grid: Grid) -> None:
        """Ask nodes which clients they are; one that has no answer is asked again."""
        questions = [wire.question(self._settings, node) for node in nodes]
        for reply in grid.send_and_receive(questions, timeout=self._timeout):
            if reply.has_error():
                log.warning("a node takes no part: %s", reply.error.reason)
                continue
            client = reply.content["who"]["client"]
            if client in self._clients.values():
                log.warning("client %d: another node takes its place", client)
                self.server.replaced.append(client)
            self._clients[reply.metadata.src_node_id] = client


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Train the run of the file `run`; write weights and account into the folder `results`."""
    try:
        _train(grid, context.run_config)
    except UserError as error:
        log.error("error: %s", error)
        raise


def _train(grid: Grid, config: dict) -> None:
    settings, inputs = party.read(config["run"])
    server = Server(*party.build(settings, inputs, ""))
    results = Path(config["results"])
    if (account := results / "account.json").exists():
        raise UserError(f"{account}: a run was begun there, expected another folder")
    _await(grid, len(server.parts.given.members), config["timeout"])
    rounds = PaidRounds(server, digest(settings), config["timeout"], account)
    weights, number = wire.record(server.weights), len(server.participants)
    rounds.start(grid, weights, number, timeout=config["timeout"])
    write_json(account, server.account() | {"final_test_accuracy": server.accuracy()})
    with atomic(results / "model.safetensors") as temporary:  # the last one
        state = server.trainer.flat.model.state_dict()
        temporary.write_bytes(save({k: v.detach().cpu().clone() for k, v in state.items()}))


def _await(grid: Grid, clients: int, seconds: float) -> None:
    """Wait until there are as many nodes as clients."""
    until = time.monotonic() + seconds
    while (there := len(list(grid.get_node_ids()))) < clients:
        if time.monotonic() > until:
            log.warning("%d nodes for %d clients; the run begins", there, clients)
            return
        time.sleep(1)
