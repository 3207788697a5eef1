"""Peers by the thousand, message by message: the world of peercomp.txt, on the same engine/peer.py as real ones.

A link has a delay and a bandwidth, a computer runs its jobs for as long as their work takes at its power, and computers
die, leave and come as they like.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from headway.engine.peer import Peer
from headway.engine.peering.messages import (
    Ended,
    Kill,
    Launch,
    Letter,
    Note,
    Outcome,
    PieceId,
    Submit,
    Tick,
    Withdraw,
)
from headway.engine.peering.settings import Settings
from headway.engine.peering.sizes import size
from headway.engine.peering.tree_messages import Node as TreeNode
from headway.model.record import mutable, record
from headway.sim.heap import Heap, Streams
from headway.sim.links import MICRO, Network, drawn
from headway.sim.planting import plant
from headway.sim.rng import key
from headway.sim.traffic import Counts

SECOND = 1000


AT_ONCE, LETTERS, SUBMISSIONS, TICKS = -1, 1 << 60, 1 << 61, 1 << 62  # what comes first at the same peer and moment


@record
class Job:
    """A job that ran: for whom, where, from when to when."""

    owner: int
    workflow: int
    job: int
    peer: int
    begun: int
    ended: int


@mutable
class Submitted:
    """A workflow in this world."""

    owner: int
    works: tuple[int, ...]
    at: int
    deadline: int
    state: str = "asking"
    reason: str = ""
    decided: int = -1  # when it was accepted or rejected
    ended: int = -1
    hops: int = 0  # of the request that went furthest
    splits: int = 0


class World:
    """A grid of peers. Peers are numbered from 1, in the order of their addresses."""

    def __init__(
        self,
        settings: Settings,
        network: Network,
        seed: int = 0,
        start: int = 0,
        drift: Callable[[int], int] | None = None,
    ) -> None:
        self.settings, self.network = settings, network
        self.heap, self.streams = Heap(), Streams(seed)
        self.heap.now = start
        self.peers: dict[int, Peer] = {}
        self.traffic = Counts()
        self.free_at: dict[int, int] = {}  # when the link of each peer has sent all that waits, in microseconds
        self.serials: dict[int, int] = {}  # messages that each peer has sent
        self._delays, self._key = network.delays(), key(seed, "links")
        self.wakes: dict[int, int] = {}
        self.running: dict[tuple[int, PieceId, int], int] = {}  # the number of each start
        self.starts = 0
        self.ran: list[Job] = []
        self.workflows: dict[tuple[int, int], Submitted] = {}
        self.messages: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.events = 0
        self.drift = drift or (lambda peer: 0)  # by how much each clock is off
        self.noise: Callable[[], float] = lambda: 1.0  # actual over expected run time
        self.places: Callable[[Letter], bool] = lambda letter: False  # somebody else than the tree finds room
        self.on_note: Callable[[int, Note], None] = lambda peer, note: None
        self.on_outcome: Callable[[int, Outcome], None] = lambda peer, outcome: None

    @property
    def now(self) -> int:
        return int(self.heap.now)

    # --- peers that come and go --------------------------------------------------------------------------------

    def planted(self, powers: Sequence[int], fan_out: int, cores: int = 1) -> None:
        """A tree that is whole already."""
        peers = [Peer(number, number, power, self.settings, self.now, cores) for number, power in enumerate(powers, 1)]
        self.planted_with(peers, fan_out)

    def planted_with(self, peers: Sequence[Peer], fan_out: int) -> None:
        """The same of peers that were made already, numbered from 1."""
        plant(peers, fan_out, self.now)
        for peer in peers:
            self._put(peer)
            self.wakes[peer.number] = self.now
            self.heap.at(self.now, self._waker(peer.number, self.now), TICKS)

    def joins(self, peer: Peer, through: Sequence[int]) -> None:
        """A peer joins the grid through others; none: it begins one."""
        self._put(peer)
        self._carry(peer, peer.join(through, self.now))

    def _put(self, peer: Peer) -> None:
        self.peers[peer.number] = peer
        self.free_at[peer.number] = 0

    def dies(self, number: int) -> None:
        """Without a word. What runs there ends."""
        del self.peers[number]
        self.wakes.pop(number, None)
        self.running = {key: turn for key, turn in self.running.items() if key[0] != number}
        for owner, workflow in [one for one in self.workflows if one[0] == number]:
            one = self.workflows[owner, workflow]
            if one.state in ("asking", "accepted"):
                one.state, one.reason = "orphaned", "its owner has died"

    def withdraws(self, number: int) -> None:
        """Its user wants it back: it says so, and is gone."""
        peer = self.peers[number]
        letters = peer.handle(Letter(number, number, self.now, Withdraw()), self.now)
        self._carry(peer, letters)
        self.dies(number)

    def recovers(self, number: int, notes: Iterable[Note]) -> None:
        """An owner that was away, and has joined again, goes on from what it has written down."""
        for (owner, _), one in self.workflows.items():
            if owner == number and one.state == "orphaned":
                one.state, one.reason = "accepted" if one.decided >= 0 else "asking", ""
        self._carry(self.peers[number], self.peers[number].recover(notes, self.now + self.drift(number)))

    # --- letters -----------------------------------------------------------------------------------------------

    def submits(self, owner: int, body: Submit) -> None:
        self.workflows[owner, body.workflow] = Submitted(owner, body.works, self.now, body.deadline)
        self._handled(owner, Letter(owner, owner, self.now, body))

    def _handled(self, number: int, letter: Letter) -> None:
        peer = self.peers.get(number)
        if peer is None:
            return
        self.events += 1
        self.traffic.event(number, self.now)
        self._carry(peer, peer.handle(letter, self.now + self.drift(number)))

    def _carry(self, peer: Peer, letters: Sequence[Letter]) -> None:
        number = peer.number
        for letter in letters:
            body = letter.body
            if letter.to == number and isinstance(body, Launch | Kill | Outcome | Note):
                self._obey(number, body)
            elif letter.to == number:
                self.heap.at(self.heap.now, partial(self._handled, number, letter), AT_ONCE)
            elif not self.places(letter):
                self.post(letter)
        wake = max(peer.wake - self.drift(number), self.now + 1) if peer.wake >= 0 else -1
        planned = self.wakes.get(number, -1)
        if wake >= 0 and not self.now < planned <= wake:
            self.wakes[number] = wake
            self.heap.at(wake, self._waker(number, wake), TICKS)

    def _waker(self, number: int, at: int) -> Callable[[], None]:
        def wake() -> None:
            peer = self.peers.get(number)
            if peer is not None and self.wakes.get(number) == at:
                self.wakes[number] = -1
                now = self.now + self.drift(number)
                self._carry(peer, peer.handle(Letter(number, number, now, Tick()), now))

        return wake

    def post(self, letter: Letter) -> None:
        amount, sender = size(letter.body), letter.sender
        sent = max(self.now * MICRO, self.free_at.get(sender, 0)) + self.network.transfer(amount)
        self.free_at[sender] = sent
        serial = self.serials.get(sender, 0)
        self.serials[sender] = serial + 1
        kind = type(letter.body).__name__
        self.messages[kind] += 1
        self.bytes[kind] += amount
        self.traffic.sent(sender, amount, self.now)
        when = (sent + self._delays[drawn(self._key, sender, serial)]) // MICRO + 1

        def arrives() -> None:
            if letter.to in self.peers:
                self.traffic.received(letter.to, amount, self.now)
                self._handled(letter.to, letter)

        self.heap.at(when, arrives, LETTERS + (sender << 32) + serial)

    def _obey(self, number: int, body: Launch | Kill | Outcome | Note) -> None:
        """What a peer says to its own world."""
        if isinstance(body, Note):
            self.on_note(number, body)
            return
        if isinstance(body, Outcome):
            self._outcome(number, body)
            return
        key = (number, body.piece, body.job)
        if isinstance(body, Kill):
            self.running.pop(key, None)
            return
        self.starts += 1
        turn, begun = self.starts, self.now
        self.running[key] = turn
        taken = max(1, int(body.milliseconds / self.settings.margin * self.noise()))

        def ends() -> None:
            if number in self.peers and self.running.get(key) == turn:
                del self.running[key]
                self.ran.append(Job(body.piece[0], body.piece[1], body.job, number, begun, self.now))
                self._handled(
                    number, Letter(number, number, self.now + self.drift(number), Ended(body.piece, body.job))
                )

        self.heap.at(self.now + taken, ends)

    def _outcome(self, number: int, body: Outcome) -> None:
        one = self.workflows[number, body.workflow]
        one.state, one.reason = body.state, body.reason
        if body.state in ("accepted", "rejected"):
            one.decided, one.hops, one.splits = self.now, body.hops, body.splits
        if body.state in ("done", "failed"):
            one.ended = self.now
        self.on_outcome(number, body)

    def run(self, until: int) -> None:
        self.heap.run(until)

    # --- what the tree looks like ------------------------------------------------------------------------------

    def roots(self) -> list[int]:
        return [number for number, peer in self.peers.items() if peer.tree.link and peer.tree.link.is_root]

    def leaves_in_order(self) -> list[int]:
        """The leaves below the root, as they come; those of a broken tree are not all peers."""
        found: list[int] = []
        stack = [TreeNode(root, self.peers[root].tree.link.level) for root in self.roots()]  # type: ignore[union-attr]
        while stack:
            node = stack.pop()
            if not node.level:
                found.append(node.peer)
                continue
            branch = self.peers[node.peer].tree.branch if node.peer in self.peers else None
            if branch and branch.level == node.level:
                stack.extend(branch.children[peer].node for peer in reversed(branch.order))
        return found

    def is_whole(self) -> bool:
        """One root, every peer a leaf below it once, and every father knows his children and they him."""
        if len(self.roots()) != 1 or sorted(self.leaves_in_order()) != sorted(self.peers):
            return False
        for number, peer in self.peers.items():
            for link in peer.tree.links():
                if link.is_root:
                    continue
                father = self.peers.get(link.father.peer) if link.father else None
                if father is None or father.tree.branch is None or number not in father.tree.branch.children:
                    return False
                if father.tree.branch.level != link.level + 1:
                    return False
        return True
