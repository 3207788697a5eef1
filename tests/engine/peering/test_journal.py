"""An owner that crashes after any of its letters, and goes on from what it has written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from headway.engine.peer import Peer
from headway.engine.peering.messages import Finished, Letter, Note, Outcome, Step, Submit, Tick
from headway.engine.peering.owner import GATHER, Owner
from tests.engine.peering.net import MINUTE, Net, submit

OWNER = 1


class Crashing(Net):
    """The owner's process ends after so many of the letters and notes that it hands over, and begins again."""

    crash_after, handed, downtime, crashes = -1, 0, 10_000, 0

    def carry(self, peer: Peer, letters: Sequence[Letter]) -> None:
        if peer.number != OWNER:
            super().carry(peer, letters)
            return
        for letter in letters:
            if not isinstance(letter.body, Note | Outcome) and letter.body.__class__.__name__ not in OWNERS:
                super().carry(peer, [letter])
                continue
            if self.handed == self.crash_after and not self.crashes:
                self.crash(peer)
            if self.handed >= self.crash_after >= 0 and self.crashes == 1:
                continue  # what it would have said is lost with it
            self.handed += 1
            super().carry(peer, [letter])

    def crash(self, peer: Peer) -> None:
        self.crashes += 1
        peer.owner = Owner(peer.number, peer.low, peer.power, peer.settings)

    def recover(self) -> None:
        peer = self.peers[OWNER]
        self.crashes = 2
        self.crash_after = -1
        super().carry(peer, peer.recover(self.notes.get(OWNER, []), self.now))


OWNERS = ("Request", "Commit", "Rollback", "Renew", "Start", "StatusAck")  # what an owner says to others


def whole_run(crash_after: int) -> Crashing:
    net = Crashing()
    for number in range(1, 6):
        net.add(Peer(number, number, 1000, net.settings, net.now), list(net.peers)[:3])
        net.run(12_000)
    net.run(30_000)
    net.crash_after = crash_after
    net.tell(OWNER, submit(net, jobs=3, deadline=90))
    for _ in range(400):
        net.run(15_000)
        if net.crashes == 1:
            net.recover()
    return net


def steps() -> int:
    return whole_run(-1).handed


LETTERS = steps()


@pytest.mark.parametrize(
    "crash_after", [pytest.param(at, marks=pytest.mark.slow if at % 12 else ()) for at in range(LETTERS)]
)
def test_a_crash_at_any_step_neither_forgets_nor_doubles_a_workflow(crash_after: int) -> None:
    net = whole_run(crash_after)
    notes = net.notes.get(OWNER, [])
    if not any(note.what is Step.SUBMITTED for note in notes):
        assert net.runs == []  # it was never told that its workflow was taken
        return
    assert net.crashes == 2
    assert [note.facts[0] for note in notes if note.what is Step.OVER] == ["done"]
    assert sum(note.what is Step.ACCEPTED for note in notes) == 1
    ended = Counter(note.facts[0] for note in notes if note.what is Step.ENDED)
    assert ended == dict.fromkeys(range(5), 1)
    assert sorted(job for _, job, _, _ in net.runs) == [0, 1, 2, 3, 4]  # none ran twice
    assert max(end for _, _, _, end in net.runs) <= next(note.facts[2] for note in notes if note.what is Step.SUBMITTED)
    assert net.held() == 0 and net.peers[OWNER].owner.flows == {}


def test_who_is_back_does_not_give_up_what_a_faster_peer_could_still_do() -> None:
    """It judged by its own power until it was told of a faster peer, and gave up workflows with time to spare."""
    net = Net()
    peer = Peer(OWNER, OWNER, 1000, net.settings, net.now)
    taken = submit(net, deadline=20)  # three jobs of ten minutes, one after the other: too long for its own power
    facts = (taken.works, taken.arcs, taken.deadline, ())
    notes = [Note(1, Step.SUBMITTED, facts), Note(1, Step.ACCEPTED, (1,)), Note(1, Step.LOST, tuple(range(5)))]
    peer.tree.first(net.now)
    letters = peer.recover(notes, net.now)
    letters += peer.handle(Letter(OWNER, OWNER, net.now + GATHER, Tick()), net.now + GATHER)
    assert not any(isinstance(letter.body, Outcome) for letter in letters)
    assert peer.owner.flows[1].plan is not None


def test_there_are_many_steps_to_crash_at() -> None:
    assert LETTERS > 25


def test_an_end_is_told_until_it_is_acknowledged() -> None:
    """Every first word of it is lost."""
    net = Net().grown(4)
    net.lose = lambda letter: isinstance(letter.body, Finished)
    net.tell(OWNER, submit(net, deadline=90))
    net.run(100 * MINUTE)
    assert net.state(OWNER) == ["accepted", "done"] and len(net.runs) == 5
    assert all(not peer.leaf.ends for peer in net.peers.values())


def test_an_owner_that_is_back_learns_at_once_what_has_ended_and_what_a_leaf_has_given_up() -> None:
    """The leaf told it of what had ended only, and it waited for the rest for as long as for a silent leaf."""
    net = Net().grown(12)
    fast = [Peer(number, number, 4000, net.settings, net.now) for number in (20, 21)]
    for peer in fast:
        net.add(peer, [1])
        net.run(3 * MINUTE)
    net.tell(
        OWNER, Submit(1, tuple(one * MINUTE * 1000 for one in (40, 40, 4)), ((0, 2), (1, 2)), net.now + 18 * MINUTE)
    )
    net.run(5 * MINUTE)
    assert sorted(run[:2] for run in net.runs) in ([(20, 0), (21, 1)], [(20, 1), (21, 0)])
    del net.peers[OWNER]
    net.run(9 * MINUTE)
    assert all(peer.leaf.ends and not peer.leaf.pieces for peer in fast)
    back = Peer(OWNER, OWNER, 1000, net.settings, net.now)
    net.add(back, [9])
    known = len(net.notes[OWNER])
    net.carry(back, back.recover(net.notes[OWNER], net.now))
    net.run(1000)
    told = [(note.what, note.facts) for note in net.notes[OWNER][known:]]
    assert {(Step.ENDED, (0,)), (Step.ENDED, (1,)), (Step.LOST, (2,))} <= set(told)
    net.run(40 * MINUTE)
    assert net.state(OWNER) == ["accepted", "done"] and len(net.runs) == 3


def test_an_owner_that_is_back_does_not_wait_long_for_a_leaf_that_has_died_meanwhile() -> None:
    net = Net().grown(12)
    fast = [Peer(number, number, 4000, net.settings, net.now) for number in (20, 21)]
    for peer in fast:
        net.add(peer, [1])
        net.run(3 * MINUTE)
    net.tell(OWNER, Submit(1, (40 * MINUTE * 1000,), (), net.now + 30 * MINUTE))
    net.run(5 * MINUTE)
    del net.peers[OWNER], net.peers[net.runs[0][0]]
    net.run(10_000)
    back = Peer(OWNER, OWNER, 1000, net.settings, net.now)
    net.add(back, [2])
    net.carry(back, back.recover(net.notes[OWNER], net.now))
    net.run(net.settings.answer + 1000)
    assert [note.what for note in net.notes[OWNER] if note.what is Step.LOST]
    net.run(30 * MINUTE)
    assert net.state(OWNER) == ["accepted", "done"] and len({run[0] for run in net.runs}) == 2
