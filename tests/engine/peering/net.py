"""Peers that talk to each other over links of 50 ms, and run their jobs for exactly as long as expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from headway.engine.peer import Peer
from headway.engine.peering.messages import Ended, Kill, Launch, Letter, Message, Note, Outcome, PieceId, Submit, Tick
from headway.engine.peering.settings import Settings

DELAY = 50
MINUTE = 60_000
NOW = 600 * MINUTE


class Net:
    """A world without chance."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.peers: dict[int, Peer] = {}
        self.now = NOW
        self.sent: list[Letter] = []
        self.outcomes: list[tuple[int, Outcome]] = []
        self.notes: dict[int, list[Note]] = {}
        self.runs: list[tuple[int, int, int, int]] = []  # peer, job, from, to
        self.lose: Callable[[Letter], bool] = lambda letter: False
        self.broken: set[int] = set()  # jobs that fail once
        self._events: list[tuple[int, int, Letter]] = []
        self._count = 0
        self._dead: set[tuple[int, PieceId, int]] = set()

    def add(self, peer: Peer, through: Sequence[int] = ()) -> None:
        self.peers[peer.number] = peer
        self.carry(peer, peer.join(through, self.now))

    def grown(self, count: int, power: int = 1000, apart: int = 12_000) -> Net:
        """So many peers that join one after the other."""
        for number in range(1, count + 1):
            self.add(Peer(number, number, power, self.settings, self.now), list(self.peers)[:3])
            self.run(apart)
        self.run(30_000)
        return self

    def plan(self, when: int, letter: Letter) -> None:
        self._count += 1
        heappush(self._events, (when, self._count, letter))

    def tell(self, to: int, body: Message, sender: int = 0, sent: int | None = None) -> None:
        """Hands a peer a message; without a sender it is from its own world."""
        letter = Letter(to, sender or to, self.now if sent is None else sent, body)
        self.carry(self.peers[to], self.peers[to].handle(letter, self.now))

    def carry(self, peer: Peer, letters: Sequence[Letter]) -> None:
        for letter in letters:
            body, own = letter.body, letter.to == peer.number
            if own and isinstance(body, Note):
                self.notes.setdefault(peer.number, []).append(body)
            elif own and isinstance(body, Outcome):
                self.outcomes.append((peer.number, body))
            elif own and isinstance(body, Kill):
                self._dead.add((peer.number, body.piece, body.job))
            elif own and isinstance(body, Launch):
                end = self.now + body.milliseconds
                self.runs.append((peer.number, body.job, self.now, end))
                ok = body.job not in self.broken
                self.broken.discard(body.job)
                self.plan(end, Letter(peer.number, peer.number, end, Ended(body.piece, body.job, ok)))
            else:
                self.sent.append(letter)
                if not self.lose(letter):
                    self.plan(self.now + (0 if own else DELAY), letter)

    def run(self, milliseconds: int) -> None:
        """Lets time go by."""
        until = self.now + milliseconds
        while True:
            wakes = ((peer.wake, peer.number) for peer in self.peers.values() if peer.wake >= 0)
            wake, who = min(wakes, default=(-1, 0))
            event = self._events[0][0] if self._events else until + 1
            at = min(event, wake if wake >= 0 else event)
            if at > until:
                break
            self.now = max(at, self.now)
            if event <= at:
                letter = heappop(self._events)[2]
                peer = self.peers.get(letter.to)
                body = letter.body
                if peer is None or (
                    isinstance(body, Ended) and (letter.to, body.piece, body.job) in self._dead
                ):  # fmt: skip
                    continue
            else:
                peer, letter = self.peers[who], Letter(who, who, self.now, Tick())
            self.carry(peer, peer.handle(letter, self.now))
        self.now = until

    def state(self, owner: int, workflow: int = 1) -> list[str]:
        """What has become of a workflow, in order."""
        return [one.state for peer, one in self.outcomes if (peer, one.workflow) == (owner, workflow)]

    def held(self) -> int:
        """Pieces that are held or committed to anywhere."""
        return sum(len(peer.leaf.pieces) for peer in self.peers.values())

    def leaves(self) -> list[int]:
        """The leaves below the only root, in order; empty if the tree is not whole."""
        roots = [peer for peer in self.peers.values() if peer.tree.link and peer.tree.link.is_root]
        return self._below(roots[0]) if len(roots) == 1 else []

    def _below(self, peer: Peer) -> list[int]:
        branch = peer.tree.branch
        if branch is None:
            return []
        if branch.level == 1:
            return list(branch.order)
        return [leaf for child in branch.order if child in self.peers for leaf in self._below(self.peers[child])]


def submit(net: Net, jobs: int = 3, deadline: int = 60, workflow: int = 1, needed: int = 0) -> Submit:
    """A fork-join of jobs that take ten minutes on a node of power 1000, due in so many minutes."""
    middle = range(1, jobs + 1)
    arcs = tuple((0, one) for one in middle) + tuple((one, jobs + 1) for one in middle)
    works = (10 * MINUTE * 1000,) * (jobs + 2)
    return Submit(workflow, works, arcs, net.now + deadline * MINUTE, (needed,) * (jobs + 2) if needed else ())
