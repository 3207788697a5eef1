"""What becomes of workflows among a few peers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from headway.engine.peer import Peer
from headway.engine.peering.branch import Branch
from headway.engine.peering.messages import Note, Offer, Outcome, Request, Step, Submit, Withdraw
from headway.engine.peering.settings import Settings
from headway.engine.peering.tree_messages import Node, Update
from headway.model.errors import UsageError
from headway.model.record import replace
from headway.policies.by_when.reference_points import DAY, epoch
from headway.policies.by_when.summary import class_needed, class_of, summary
from tests.engine.peering.net import MINUTE, NOW, Net, submit


def test_a_workflow_is_reserved_run_and_done_by_its_deadline() -> None:
    net = Net().grown(6)
    net.tell(2, submit(net, deadline=50))
    deadline = net.now + 50 * MINUTE
    net.run(60 * MINUTE)
    assert net.state(2) == ["accepted", "done"] and net.held() == 0
    assert sorted(job for _, job, _, _ in net.runs) == [0, 1, 2, 3, 4]
    assert max(end for _, _, _, end in net.runs) <= deadline
    fork, join = (next(run for run in net.runs if run[1] == job) for job in (0, 4))
    assert all(fork[3] <= run[2] and run[3] <= join[2] for run in net.runs if run[1] in (1, 2, 3))


def test_the_owner_hears_of_the_last_job_by_the_deadline_even_if_that_runs_as_late_as_it_may() -> None:
    """The last jobs are due as long before it as news can take."""
    net = Net().grown(2)
    net.tell(1, submit(net, jobs=1, deadline=50))
    deadline = net.now + 50 * MINUTE
    net.run(5000)
    dues = [one.due for peer in net.peers.values() for one in peer.leaf.cores[0].queue]
    assert len(dues) >= 2 and max(dues) == deadline - net.settings.notice


def test_all_sequences_that_are_ready_are_sent_at_once() -> None:
    net = Net().grown(6)
    net.tell(1, submit(net, jobs=4))
    net.run(2000)
    asked = [letter.sent for letter in net.sent if isinstance(letter.body, Request) and letter.body.hops == 0]
    assert len(asked) == 4 and len(set(asked)) == 2


def test_what_has_no_room_is_rejected_at_the_root_and_leaves_nothing_behind() -> None:
    """Eight branches side by side in little more than their own time need more than three peers."""
    net = Net().grown(3)
    net.tell(1, submit(net, jobs=8, deadline=34))
    net.run(3 * MINUTE)
    assert net.state(1) == ["rejected"] and net.held() == 0 and net.runs == []
    assert net.outcomes[-1][1].reason.startswith("no peer has room for it by its deadline; a later one, or ")


def test_a_workflow_wider_than_a_grid_is_rejected_with_fewer_jobs_side_by_side_as_a_way_out() -> None:
    net = Net().grown(2)
    net.tell(1, submit(net, jobs=8, deadline=1000))
    net.run(3 * MINUTE)
    assert net.state(1) == ["rejected"] and "fewer jobs side by side" in net.outcomes[0][1].reason


def test_a_deadline_in_the_past_is_refused_at_once() -> None:
    net = Net().grown(2)
    net.tell(1, submit(net, deadline=-1))
    assert net.outcomes == [(1, Outcome(1, "rejected", "its deadline is in the past"))]


def test_a_deadline_shorter_than_the_longest_path_is_refused_with_one_that_would_do() -> None:
    net = Net().grown(3)
    net.tell(1, submit(net, deadline=29))
    assert net.state(1) == ["rejected"] and "fastest node; 18" in net.outcomes[-1][1].reason


def test_a_workflow_that_no_peer_can_hold_is_rejected_with_what_could_help() -> None:
    """It needs more memory than any peer has, and then more than there is a class for."""
    net = Net().grown(3)
    for workflow, memory in ((1, 32 << 30), (2, 1 << 60)):
        net.tell(1, submit(net, workflow=workflow, needed=class_needed(memory, 0)))
        net.run(3 * MINUTE)
        assert net.state(1, workflow) == ["rejected"] and net.held() == 0
        assert "no peer has room" in net.outcomes[-1][1].reason


def test_a_faster_peer_makes_a_short_deadline_possible() -> None:
    net = Net().grown(3)
    net.add(Peer(9, 9, 4000, net.settings, net.now), [1])
    net.run(3 * MINUTE)
    net.tell(1, submit(net, jobs=1, deadline=20))
    net.run(30 * MINUTE)
    assert net.state(1) == ["accepted", "done"] and {run[0] for run in net.runs} == {9}


def test_a_sequence_is_split_over_several_holes() -> None:
    """Each peer is withheld for one half of every hour: a job fits, two do not."""
    net = Net()
    halves = ([(at * 60 * MINUTE, at * 60 * MINUTE + 30 * MINUTE) for at in range(24)],
              [(at * 60 * MINUTE + 30 * MINUTE, (at + 1) * 60 * MINUTE) for at in range(24)])  # fmt: skip
    for number in (1, 2):
        net.add(Peer(number, number, 1000, net.settings, net.now, withheld=halves[number - 1]), list(net.peers))
        net.run(10_000)
    net.now = NOW + 2 * MINUTE
    works = (16 * MINUTE * 1000,) * 2
    net.tell(1, Submit(1, works, ((0, 1),), net.now + 58 * MINUTE))
    net.run(70 * MINUTE)
    assert net.state(1) == ["accepted", "done"]
    assert [run[0] for run in net.runs] == [2, 1] or [run[0] for run in net.runs] == [1, 2]


def test_withheld_hours_are_not_used() -> None:
    off = [(10 * 60 * MINUTE + 10 * MINUTE, 11 * 60 * MINUTE)]
    net = Net()
    net.add(Peer(1, 1, 1000, net.settings, net.now, withheld=off))
    net.tell(1, Submit(1, (20 * MINUTE * 1000,), (), net.now + 120 * MINUTE))
    net.run(150 * MINUTE)
    assert net.state(1) == ["accepted", "done"]
    (_, _, begun, ended), = net.runs  # fmt: skip
    assert begun % DAY >= off[0][1] or ended % DAY <= off[0][0]


def test_a_job_due_in_ten_days_is_not_promised_hours_that_are_withheld_every_day() -> None:
    """Withheld hours were known for five days. One of fifteen hours was accepted, and no day has so many left."""
    net = Net(Settings(refresh=DAY, status=DAY))
    net.add(Peer(1, 1, 1000, net.settings, net.now, withheld=[(8 * 60 * MINUTE, 18 * 60 * MINUTE)]))
    for workflow, hours in ((1, 15), (2, 13)):
        net.tell(1, Submit(workflow, (hours * 60 * MINUTE * 1000,), (), net.now + 10 * DAY))
        net.run(MINUTE)
    net.run(10 * DAY)
    assert net.state(1, 1) == ["rejected"] and net.state(1, 2) == ["accepted", "done"]


def test_a_peer_with_several_cores_is_several_leaves() -> None:
    net = Net()
    net.add(Peer(1, 1, 1000, net.settings, net.now, cores=4))
    net.run(1000)
    net.tell(1, submit(net, jobs=4, deadline=35))
    net.run(40 * MINUTE)
    assert net.state(1) == ["accepted", "done"]
    assert len({begun for _, job, begun, _ in net.runs if 1 <= job <= 4}) <= 3


def test_jobs_that_need_memory_go_where_it_is() -> None:
    net = Net().grown(3)
    net.add(Peer(9, 9, 1000, net.settings, net.now, rank=class_of(64 << 30, 0), cores=3), [1])
    net.run(3 * MINUTE)
    net.tell(1, submit(net, needed=class_needed(32 << 30, 0)))
    net.run(60 * MINUTE)
    assert net.state(1) == ["accepted", "done"] and {run[0] for run in net.runs} == {9}


def test_a_sequence_goes_where_there_is_memory_for_one_job_and_disk_for_another() -> None:
    net = Net().grown(3)
    net.add(Peer(8, 8, 1000, net.settings, net.now, rank=class_of(64 << 30, 0)), [1])
    net.add(Peer(9, 9, 1000, net.settings, net.now, rank=class_of(64 << 30, 1 << 40)), [1])
    net.run(3 * MINUTE)
    needed = class_needed(32 << 30, 0), class_needed(0, 256 << 30)
    for workflow in (1, 2):
        net.tell(1, Submit(workflow, (MINUTE * 1000,) * 2, ((0, 1),), net.now + 60 * MINUTE, needed))
        net.run(MINUTE)
    net.run(10 * MINUTE)
    assert [net.state(1, one) for one in (1, 2)] == [["accepted", "done"]] * 2
    assert {run[0] for run in net.runs} == {9}


@pytest.mark.parametrize("how", ["dies", "withdraws", "job fails"])
def test_jobs_that_are_lost_are_planned_again_and_still_in_time(how: str) -> None:
    net = Net().grown(8)
    if how == "job fails":
        net.broken.add(2)
    net.tell(1, submit(net, deadline=90))
    deadline = net.now + 90 * MINUTE
    while not any(run[1] == 2 for run in net.runs):
        net.run(10_000)
    lost = next(run[0] for run in net.runs if run[1] == 2)
    assert lost != 1
    if how == "withdraws":
        net.tell(lost, Withdraw())
        net.run(1000)
    if how != "job fails":
        del net.peers[lost]
    net.run(100 * MINUTE)
    assert net.state(1) == ["accepted", "done"]
    assert sum(run[1] == 2 for run in net.runs) == 2 and max(run[3] for run in net.runs if run[1] == 4) <= deadline


@pytest.mark.parametrize("dead_above", [1, 2])
def test_lost_jobs_are_planned_again_before_greetings_of_the_dead_branch_above_their_owner_are_missed(
    dead_above: int,
) -> None:
    """All requests went to that branch, and were lost, until it had missed three greetings. Then it was too late."""
    net = Net().grown(16)
    net.run(3 * MINUTE)  # all know who is above them
    owner = net.peers[11]
    above = owner.tree.leaf.ways
    assert len(above) == 3 and not {11, above[2].peer} & {one.peer for one in above[:2]}
    net.tell(11, submit(net, deadline=60))
    elsewhere = list[int]()
    while not elsewhere:
        net.run(10_000)
        elsewhere = [run[0] for run in net.runs if run[1] and run[3] > net.now and run[0] not in (11, above[2].peer)]
    for number in {elsewhere[0], *(one.peer for one in above[:dead_above])}:
        del net.peers[number]
    while sum(note.what is Step.ACCEPTED for note in net.notes[11]) < 2:
        net.run(1000)
        assert owner.tree.leaf.father == above[0]
    net.run(100 * MINUTE)
    assert net.state(11) == ["accepted", "done"]


def test_an_owner_that_is_back_has_its_lost_jobs_planned_again_as_soon_as_it_has_a_father() -> None:
    """It asked before it had one, and next after 24 s: a workflow that had 108 s left, and needed 94, was late."""
    net = Net().grown(8)
    net.tell(8, submit(net, deadline=60))
    net.run(15 * MINUTE)
    del net.peers[8]
    notes = [*net.notes[8], Note(1, Step.LOST, (1, 2, 3, 4))]
    back = Peer(8, 8, 1000, net.settings, net.now)
    net.add(back, [1])
    net.carry(back, back.recover(notes, net.now))
    assert back.tree.leaf.father is None
    net.run(2000)
    assert [note.what for note in net.notes[8]][-1] is Step.ACCEPTED


def test_a_request_that_is_repeated_passes_by_whom_it_went_to_before() -> None:
    """Down to another child, then up, then to those above the father, and to the father again."""
    branch = Branch(2, Settings())
    for peer in (11, 12):
        branch.add(Node(peer, 1), (peer, peer), 1, NOW)
        branch.children[peer].summary = summary(epoch(NOW), [(NOW, NOW + 3 * DAY, 1000, 0)])
    rows = ((0, 10 * MINUTE * 1000, NOW, NOW + 60 * MINUTE),)
    request = Request((7, 1, 2, 0), rows, NOW, NOW + 60 * MINUTE, NOW + 20_000, (11, 7), level=2)
    above = [Node(21, 3), Node(22, 4)]
    went = []
    for times in (None, 1, 2, 3, 4):
        again = replace(request, repeated=times)
        ((to, told),) = branch.routed(again, above, 99, NOW)
        assert isinstance(told, Request) and told.down == (to < 20)
        went.append((to, told.level))
    assert went == [(11, 1), (12, 1), (21, 3), (22, 4), (21, 3)]


def test_an_accepted_workflow_that_cannot_be_saved_is_told_to_have_failed() -> None:
    net = Net().grown(8)
    net.tell(1, submit(net, jobs=4, deadline=50))
    net.run(12 * MINUTE)
    assert net.state(1) == ["accepted"]
    for number in [number for number in net.peers if number != 1]:
        del net.peers[number]
    net.run(60 * MINUTE)
    assert net.state(1) == ["accepted", "failed"] and "longest path cannot be done" in net.outcomes[-1][1].reason


def test_room_that_is_held_comes_free_when_its_owner_dies() -> None:
    net = Net().grown(4)
    net.lose = lambda letter: isinstance(letter.body, Offer)
    net.tell(1, submit(net))
    net.run(1000)
    assert net.held() > 0
    del net.peers[1]
    net.run(40_000)
    assert net.held() == 0


def test_a_father_is_told_of_changes_once_a_period_at_most() -> None:
    net = Net(Settings(update=5000)).grown(4)
    net.sent.clear()
    for workflow in range(6):
        net.tell(1, submit(net, jobs=2, deadline=300, workflow=workflow))
        net.run(1500)
    times: dict[tuple[int, int], list[int]] = {}
    for letter in net.sent:
        if isinstance(letter.body, Update) and letter.body.summary is not None:
            times.setdefault((letter.sender, letter.body.level), []).append(letter.sent)
    assert any(len(sent) > 1 for sent in times.values())
    assert all(later - one >= 5000 for sent in times.values() for one, later in pairwise(sent))


def test_peers_without_power_or_cores_are_refused() -> None:
    for power, cores in ((0, 1), (1000, 0)):
        with pytest.raises(UsageError, match="can hold no job"):
            Peer(1, 1, power, Settings(), 0, cores)
