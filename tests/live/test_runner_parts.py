"""The parts of a runner, each by itself: the time is handed in, and the store is asked and answered by hand."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from headway.live.client.messages import REQUESTS, RESPONSES, Progress, Response, Run
from headway.live.doors.messages import Hello, Question, Reply, Setting, Welcome, Word
from headway.live.doors.messages import Response as FromStore
from headway.live.home.folder import Home
from headway.live.placeholder.clients import PACE, Client
from headway.live.placeholder.demand import Demand
from headway.live.placeholder.exchange import AGAIN, CONTENDED, TRIES, Exchange
from headway.live.placeholder.jobs import GRACE, SEEN, Jobs
from headway.live.placeholder.room import AHEAD, DEEPEST, PATIENCE, HostRoom
from headway.live.placeholder.roster import Roster
from headway.live.placeholder.running import STOPPED, TIME_LIMIT, Running
from headway.live.placeholder.spool import Spool
from headway.live.placeholder.sub_workflows import SubWorkflows
from headway.live.placeholder.upkeep import Upkeep
from headway.model.errors import HeadwayError
from headway.model.messages import Answer, Finish, JobId, Lease, LeaseId, PlaceholderId, WorkflowId

W, OTHER = WorkflowId(1), WorkflowId(2)
NOW = 1000.0
BEAT = 20.0
MARK = "store"


class ByHand:
    """A port whose questions are kept, and whose answers are what a test gives."""

    is_connected = True
    is_behind = False

    def __init__(self, is_far: bool = False) -> None:
        self.is_far = is_far
        self.asked: list[Question] = []
        self.trouble: HeadwayError | None = None  # that comes of asking

    def hello(self, hello: Hello) -> Welcome:
        raise AssertionError("a runner that is there says hello no more")

    def call_again(self, hello: Hello) -> None:
        raise AssertionError("the connection is there")

    def ask(self, question: Question) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.asked.append(question)

    def responses(self) -> Sequence[FromStore]:
        return ()

    def leave(self) -> None:
        return

    def hang_up(self) -> None:
        raise AssertionError("nobody calls")

    def fileno(self) -> int:
        return -1


def lease(number: int, workflow: WorkflowId = W, spec: str = ":", time: float | None = None) -> Lease:
    return Lease(LeaseId(number), workflow, JobId(number), f"J{number}", 1, 1, spec, time)


def end(number: int, code: int | None = 0) -> Finish:
    return Finish(LeaseId(number), code, 1.0, 2.0)


class Parts:
    """A runner's parts without their runner."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / ".headway")
        self.poll = select.epoll()
        self.roster, self.spool = Roster(self.home.roster), Spool(self.home.spool)
        self.jobs = Jobs(self.home, MARK, None, self.roster, self.poll)
        self.demand = Demand(self.home, self.poll, 100)
        self.demand.slots, self.demand.wanted = 2, [W]
        self.sub_workflows = SubWorkflows(self.demand, self.jobs, MARK)
        self.lines: list[socket.socket] = []
        self.port = ByHand()

    def exchange(self, is_shared: bool = False, is_far: bool = False) -> Exchange:
        self.port = ByHand(is_far)
        welcome = Welcome(MARK, is_shared, PlaceholderId(1))
        return Exchange(
            *(self.home, self.port, welcome, self.spool, self.jobs, self.demand, self.sub_workflows, BEAT),
        )

    def room(self, is_far: bool = False) -> HostRoom:
        return HostRoom(self.jobs, self.demand, self.sub_workflows, is_far)

    def run(self, *numbers: int) -> None:
        """Jobs run, as far as the other parts know."""
        for number in numbers:
            output = self.jobs.launch.outputs.take()
            self.jobs.running[-number] = Running(lease(number), 0, 1.0, 0, output)
            self.jobs.busy += 1

    def client(self, *said: Run) -> tuple[Client, socket.socket]:
        """A client that has said something, and its end of the line."""
        ours, theirs = socket.socketpair()
        self.lines += [ours, theirs]
        ours.setblocking(False)
        client = self.demand.clients[ours.fileno()] = Client(ours)
        heard(theirs)
        for one in said:
            theirs.send(REQUESTS.encode(one))
            client.hear()
        return client, theirs


def heard(line: socket.socket) -> list[Response]:
    """What has come over a client's line."""
    line.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        return [RESPONSES.decode(text) for text in line.recv(1 << 16).splitlines()]
    return []


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    made = Parts(tmp_path)
    yield made
    for job in made.jobs.running.values():
        if job.pid:
            os.killpg(job.pid, signal.SIGKILL)
            os.waitpid(job.pid, 0)
    for line in made.lines:
        line.close()


def answered(exchange: Exchange, answer: Answer, now: float = NOW) -> None:
    """Asks, and has the store answer."""
    exchange.ask()
    exchange.taken(Reply(answer, {}), now)


# --- when an exchange is due ------------------------------------------------------------------------------------------


def test_an_end_waits_a_moment_for_others_while_all_slots_are_busy_and_a_job_is_prefetched(parts: Parts) -> None:
    exchange = parts.exchange()
    parts.run(1, 2)
    exchange.prefetched.append(lease(3))
    exchange.record(end(4), 0, NOW)
    exchange.record(end(5), 0, NOW + PATIENCE / 2)  # the first of them counts
    assert not exchange.is_due(NOW + PATIENCE / 2)
    assert exchange.next_due() == NOW + PATIENCE and exchange.is_due(NOW + PATIENCE)


def test_an_end_waits_for_nothing_if_a_slot_is_free_or_no_job_is_prefetched(parts: Parts) -> None:
    exchange = parts.exchange()
    parts.run(1, 2)
    exchange.record(end(4), 0, NOW)
    assert exchange.is_due(NOW)
    exchange.prefetched.append(lease(3))
    assert not exchange.is_due(NOW)
    parts.demand.slots = 3
    assert exchange.is_due(NOW)


def test_nothing_is_asked_while_an_answer_is_awaited(parts: Parts) -> None:
    exchange = parts.exchange(is_far=True)
    exchange.ask()
    exchange.record(end(4), 0, NOW)
    exchange.calls_roll = True
    assert not exchange.is_due(NOW + BEAT) and exchange.next_due() == float("inf")
    exchange.taken(Reply(Answer([]), {}), NOW)
    assert exchange.is_due(NOW)


def test_a_store_that_had_nothing_is_asked_again_when_it_said(parts: Parts) -> None:
    exchange = parts.exchange()
    assert exchange.is_due(NOW)
    answered(exchange, Answer([], wake=3.0))
    assert not exchange.is_due(NOW + 2.9) and exchange.next_due() == NOW + 3.0
    assert exchange.is_due(NOW + 3.0)


def test_a_store_that_had_nothing_is_asked_again_when_something_has_changed(parts: Parts) -> None:
    exchange = parts.exchange()
    answered(exchange, Answer([]))
    assert not exchange.is_due(NOW + BEAT)
    exchange.stir()
    assert exchange.is_due(NOW)


def test_what_was_changed_while_the_store_was_asked_is_asked_about_once_more(parts: Parts) -> None:
    exchange = parts.exchange(is_far=True)
    exchange.ask()
    exchange.stir()
    exchange.taken(Reply(Answer([], over=(W,)), {}), NOW)
    assert not exchange.over and exchange.is_due(NOW)


def test_trouble_is_tried_again_after_a_while_and_not_before(parts: Parts) -> None:
    exchange = parts.exchange()
    exchange.calls_roll = True
    exchange.worry("the store is away.", NOW)
    assert exchange.next_due() == NOW + AGAIN
    assert not exchange.is_due(NOW + 0.9 * AGAIN) and exchange.is_due(NOW + AGAIN)
    answered(exchange, Answer([]), NOW + AGAIN)
    assert not exchange.trouble


def test_jobs_that_others_may_be_taking_are_asked_for_after_twice_as_long_each_time(parts: Parts) -> None:
    exchange = parts.exchange(is_shared=True)
    for wait in (CONTENDED, 2 * CONTENDED, 4 * CONTENDED):
        answered(exchange, Answer([], contended=True, stuck=(W,)))
        assert exchange.next_due() == pytest.approx(NOW + wait) and not exchange.over
    for _ in range(12):  # and what nobody takes after that nobody will
        answered(exchange, Answer([], contended=True, stuck=(W,)))
        assert exchange.over == {W}
    assert exchange.next_due() == NOW + BEAT  # but never later than a sign of life is due
    exchange.stir()
    answered(exchange, Answer([], contended=True, stuck=(W,)))
    assert TRIES == 3 and exchange.next_due() == NOW + CONTENDED and not exchange.over


# --- what is told again -----------------------------------------------------------------------------------------------


def test_after_an_error_all_is_told_again_but_the_words_of_jobs_whose_senders_hear_of_the_error(parts: Parts) -> None:
    exchange, told = parts.exchange(), list[object]()
    exchange.record(end(4), 0, NOW)
    exchange.send(news=W)
    exchange.send(winds_up=OTHER)
    exchange.send(says=(Word(7, "", "half way", False), told.append))
    exchange.calls_roll = True
    parts.port.trouble = HeadwayError("the store is away.")
    with pytest.raises(HeadwayError, match="away"):
        exchange.ask()
    assert told == [parts.port.trouble] and [one.lease for one in exchange.unrecorded] == [4]
    exchange.record(end(5), 0, NOW)
    parts.port.trouble = None
    exchange.ask()
    (question,) = parts.port.asked
    assert [one.lease for one in question.ends] == [4, 5] and question.holds == []
    assert (question.news, question.says, question.winds_up) == ((W,), [], (OTHER,))


def test_what_was_answered_is_not_told_again(parts: Parts) -> None:
    exchange, told = parts.exchange(), list[object]()
    exchange.record(end(4), 0, NOW)
    exchange.send(news=W, says=(Word(7, "", "half way", False), told.append))
    exchange.calls_roll = True
    exchange.ask()
    exchange.taken(Reply(Answer([]), {W: Setting("/", {})}, heard=[True]), NOW)
    assert told == [True] and exchange.settings == {W: Setting("/", {})} and not exchange.unrecorded
    exchange.ask()
    first, second = parts.port.asked
    assert first.ends and first.news and first.says and first.holds is not None
    assert not second.ends and not second.news and not second.says and second.holds is None


def test_ends_that_come_while_the_store_is_asked_are_told_with_the_next_exchange(parts: Parts) -> None:
    exchange = parts.exchange(is_far=True)
    exchange.record(end(4), 0, NOW)
    exchange.ask()
    exchange.record(end(5), 0, NOW)
    assert [one.lease for one in exchange.unrecorded] == [4, 5]
    exchange.untold(HeadwayError("the connection to the store is lost."))
    exchange.ask()
    assert [[one.lease for one in question.ends] for question in parts.port.asked] == [[4], [4, 5]]


def test_leases_that_nobody_wants_go_back(parts: Parts) -> None:
    exchange = parts.exchange()
    exchange.prefetched += [lease(3), lease(4, OTHER)]
    exchange.reckon()
    assert [one.id for one in exchange.prefetched] == [3]
    assert [(one.lease, one.exit_code) for one in exchange.finished] == [(4, None)]


@pytest.mark.parametrize(
    ("is_shared", "holds", "leases", "age", "is_away"),
    [
        (True, False, (3,), 5.0, True),  # of twelve that are allowed: a gap, after which others may have the job
        (True, False, (3,), 3.0, False),
        (True, False, (), 5.0, False),
        (True, True, (3,), 5.0, False),  # which was a sign of life
        (True, True, (), 13.0, True),
        (False, False, (3,), 13.0, False),  # nobody else takes jobs
    ],
)
def test_what_an_old_answer_gives_is_not_begun_before_the_store_was_asked_again(
    parts: Parts,
    monkeypatch: pytest.MonkeyPatch,
    is_shared: bool,
    holds: bool,
    leases: Sequence[int],
    age: float,
    is_away: bool,
) -> None:
    clock = [100.0]
    monkeypatch.setattr("headway.live.placeholder.exchange.since_boot", lambda: clock[0])
    exchange = parts.exchange(is_shared, is_far=True)
    exchange.calls_roll = holds
    exchange.ask()
    clock[0] += age * BEAT  # the answer came at once, and nobody was there to read it
    exchange.taken(Reply(Answer([lease(number) for number in leases]), {}), NOW)
    assert exchange.was_away == is_away
    if is_away:
        assert exchange.is_due(NOW)
        exchange.ask()
        assert parts.port.asked[-1].holds == list(leases) and parts.port.asked[-1].room.most == 0
        exchange.taken(Reply(Answer([]), {}), NOW)
        assert not exchange.was_away


# --- what is asked for ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("round_trip", "ahead"), [(0.0, 0), (0.1, 4), (1.0, 40), (1e6, DEEPEST * 2)])
def test_the_longer_an_answer_takes_the_more_is_prefetched(parts: Parts, round_trip: float, ahead: int) -> None:
    parts.jobs.typical, parts.jobs.ended = 0.1, SEEN
    room = parts.room(is_far=True)
    exchange = parts.exchange()
    assert room.beside(exchange.prefetched, round_trip, NOW).ahead == ahead
    assert parts.room(is_far=False).beside(exchange.prefetched, round_trip, NOW).ahead == 0
    exchange.prefetched.append(lease(3))
    assert room.beside(exchange.prefetched, round_trip, NOW).ahead == max(ahead - 1, 0)


def test_of_a_store_on_this_host_only_short_jobs_are_prefetched_once_that_is_known(parts: Parts) -> None:
    room, nothing = parts.room(), parts.exchange().prefetched
    parts.jobs.typical, parts.jobs.ended = 0.001, SEEN - 1
    assert room.beside(nothing, 0.0, NOW).ahead == 0
    parts.jobs.ended = SEEN
    assert room.beside(nothing, 0.0, NOW).ahead == AHEAD * 2


def test_running_and_prefetched_jobs_leave_the_rest_of_the_room(parts: Parts) -> None:
    parts.demand.slots, parts.demand.named = 4, {"gpu": 1}
    parts.run(1)
    exchange = parts.exchange()
    exchange.prefetched.append(Lease(LeaseId(2), W, JobId(2), "J2", 1, 2, ":", named=(("gpu", 1),)))
    room = parts.room().beside(exchange.prefetched, 0.0, NOW)
    assert (room.free, room.slots, room.named, room.is_whole) == (1, 4, {"gpu": 0}, False)


def test_a_workflow_that_has_nothing_here_is_idle(parts: Parts) -> None:
    room, exchange = parts.room(), parts.exchange()
    parts.demand.wanted = [W, OTHER]
    assert room.idle(exchange.prefetched) == [W, OTHER]
    parts.run(1)
    assert room.idle(exchange.prefetched) == [OTHER]
    exchange.prefetched.append(lease(3, OTHER))
    assert room.idle(exchange.prefetched) == []


# --- clients ----------------------------------------------------------------------------------------------------------


def test_a_client_is_told_how_far_it_is_at_a_pace_and_failures_at_once(parts: Parts) -> None:
    client, line = parts.client(Run(W, 2))

    def tell(now: float, trouble: str = "") -> list[Response]:
        client.tell(1, [], trouble, False, False, [], now)
        return heard(line)

    assert client.due() <= NOW and len(tell(NOW)) == 1
    assert client.due() == float("inf") and tell(NOW + 10 * PACE) == []  # nothing has happened
    client.credit(1)
    early, later = NOW + PACE / 2, NOW + PACE
    assert client.due() == later and not client.has_news("", [], early) and tell(early) == []
    assert client.has_news("", [], later)
    (said,) = tell(later)
    assert isinstance(said, Progress) and said.done == 1
    client.note(end(4, 3), lease(4), parts.home)
    (said,) = tell(later)
    assert isinstance(said, Progress) and [one.exit_code for one in said.failures] == [3]
    (said,) = tell(later, "the disk is full.")
    assert isinstance(said, Progress) and said.trouble == "the disk is full."
    assert tell(later, "the disk is full.") == []


def test_a_warning_is_told_once_and_at_once(parts: Parts) -> None:
    client, line = parts.client(Run(W, 2))
    client.tell(0, [], "", False, False, [], NOW)
    assert heard(line)
    for warnings in (["first"], ["first", "second"]):
        assert client.has_news("", warnings, NOW)
        client.tell(0, [], "", False, False, warnings, NOW)
        (said,) = heard(line)
        assert isinstance(said, Progress) and said.warnings == warnings[-1:]
        assert not client.has_news("", warnings, NOW)


def test_demand_is_what_all_clients_want_and_they_take_turns(parts: Parts) -> None:
    parts.client(Run(W, 3, {}, named={"gpu": 1}))
    parts.client(Run(OTHER, 5, {"A": "b"}, named={"gpu": 2}))
    demand = parts.demand
    demand.reckon()
    assert (demand.wanted, demand.slots, demand.named) == ([W, OTHER], 5, {"gpu": 2})
    assert demand.environment(OTHER, {}) == {b"A": b"b"}
    demand.take_turns()
    assert demand.wanted == [OTHER, W]
    demand.cancel(W)
    demand.reckon()
    assert demand.wanted == [OTHER]
    demand.closing = True
    demand.reckon()
    assert demand.wanted == []


# --- alarms -----------------------------------------------------------------------------------------------------------

STUBBORN = """
import os, signal, sys
told = os.open(sys.argv[1], os.O_WRONLY)  # no buffer, which a signal could find half-written
signal.signal(signal.SIGTERM, lambda *_: os.write(told, b"asked to end\\n"))
os.write(told, b"ready\\n")
while True:
    signal.pause()
"""


def test_a_job_over_its_time_is_asked_to_end_and_then_ended(parts: Parts, tmp_path: Path) -> None:
    says = tmp_path / "says"
    os.mkfifo(says)
    command = shlex.join(["exec", sys.executable, "-c", STUBBORN, str(says)])
    assert parts.jobs.start(lease(1, spec=command, time=10.0), str(tmp_path), os.environb, NOW) is None
    with says.open() as told:
        assert told.readline() == "ready\n"
        assert parts.jobs.next_alarm() == NOW + 10
        parts.jobs.ring(NOW + 9.9)
        ((handle, job),) = parts.jobs.running.items()
        assert not job.reason
        parts.jobs.ring(NOW + 10)
        assert told.readline() == "asked to end\n" and job.reason == TIME_LIMIT
        assert parts.jobs.next_alarm() == NOW + 10 + GRACE
        parts.jobs.ring(NOW + 9.9 + GRACE)
        assert parts.jobs.next_alarm() == NOW + 10 + GRACE  # it is still given time
        parts.jobs.ring(NOW + 10 + GRACE)
        assert told.readline() == ""  # it is gone
    ended = parts.jobs.reap(handle)
    assert ended.status is not None and os.WTERMSIG(ended.status) == signal.SIGKILL
    finish = parts.jobs.settled(ended)
    assert (finish.exit_code, finish.reason) == (-signal.SIGKILL, TIME_LIMIT)
    assert parts.jobs.next_alarm() == float("inf")


def test_alarms_ring_in_the_order_of_their_times(parts: Parts, tmp_path: Path) -> None:
    for number, limit, begun in ((1, 30.0, NOW), (2, 10.0, NOW + 5), (3, 2.0, NOW + 6)):
        one = lease(number, spec="exec sleep 1000", time=limit)
        assert parts.jobs.start(one, str(tmp_path), os.environb, begun) is None

    def over() -> list[int]:
        return [job.lease.id for job in parts.jobs.running.values() if job.reason == TIME_LIMIT]

    assert parts.jobs.next_alarm() == NOW + 8
    parts.jobs.ring(NOW + 8)
    assert over() == [3] and parts.jobs.next_alarm() == NOW + 8 + GRACE
    parts.jobs.ring(NOW + 15)
    assert over() == [2, 3] and parts.jobs.next_alarm() == NOW + 15 + GRACE
    parts.jobs.ring(NOW + 30)
    assert over() == [1, 2, 3]


def test_a_job_that_was_told_to_end_is_not_told_again_when_its_time_is_over(parts: Parts, tmp_path: Path) -> None:
    one = lease(1, spec="exec sleep 1000", time=10.0)
    assert parts.jobs.start(one, str(tmp_path), os.environb, NOW) is None
    parts.jobs.stop(W, NOW + 9)
    ((handle, job),) = parts.jobs.running.items()
    select.select([handle], [], [])  # it has ended
    parts.jobs.ring(NOW + 10)
    assert job.reason == STOPPED and parts.jobs.settled(parts.jobs.reap(handle)).exit_code is None
    parts.jobs.ring(NOW + 9 + GRACE)  # nobody is there who could be ended
    assert parts.jobs.next_alarm() == float("inf")


# --- files that stay in their places ----------------------------------------------------------------------------------


def test_files_that_somebody_deletes_are_written_again_once_in_a_while(parts: Parts) -> None:
    lock = parts.home.locked()
    assert lock is not None
    runner = SimpleNamespace(home=parts.home, roster=parts.roster, spool=parts.spool, jobs=parts.jobs, beat=BEAT)
    upkeep = Upkeep(cast("object", runner))  # type: ignore[arg-type]
    upkeep.verify(NOW)
    assert parts.jobs.warnings == []
    parts.home.roster.unlink()
    upkeep.verify(NOW)
    assert parts.home.roster.exists() and len(parts.jobs.warnings) == 1
    parts.home.roster.unlink()
    upkeep.verify(NOW + BEAT - 1)
    assert not parts.home.roster.exists()
    upkeep.verify(NOW + BEAT)
    assert parts.home.roster.exists()
    assert len(parts.jobs.warnings) == 1, "the same is told once"
    lock.close()
