"""TrellisDAG's services on the stores there are: what placeholders that are scripts get, tell and lose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.formats.dagman import parse as parse_dagman
from headway.formats.flat import parse
from headway.live.doors.job_attributes import JobAttributes
from headway.live.doors.services import Next, Services, Wants
from headway.live.store import Store, opened
from headway.live.store.callers import PARTS, Caller, Overdue
from headway.live.store.spec import Spec
from headway.live.store.submission import Submission
from headway.model.errors import NotFoundError, UsageError
from headway.model.messages import Finish, LeaseId, WorkflowId
from headway.model.states import State
from tests.contracts.crew import Crew, all_done, groups, states, submission
from tests.texts import Texts

LEASE = 60.0  # seconds


class Counter:
    """A store, the services at its counter, and placeholders that call them."""

    def __init__(self, place: str) -> None:
        self.store: Store = opened(place)
        self.services = Services(self.store)

    def submit(self, text: str, source: str = "/flow.sh") -> WorkflowId:
        return self.add(groups(text, source))

    def add(self, submission: Submission) -> WorkflowId:
        number = self.store.submissions.add(submission, self.store.clock())
        self.store.submissions.want(number, [""])
        return number

    def asked(self, who: str = "7", cores: int = 1, host: str = "here", slot: str = "") -> Next:
        return self.services.next_job(Caller("slurm", who, "login", host, slot), Wants(cores), LEASE)

    def next(self, who: str = "7", host: str = "here") -> str:
        """The id of its next job, which it begins."""
        id = self.asked(who, host=host).id
        assert id is not None
        self.name(id)
        self.store.callers.begin(self.services.given(id).lease, self.store.clock())
        return id

    def name(self, id: str) -> str:
        return self.services.running(id)[1].name

    def done(self, id: str, code: int | None = 0, reason: str = "") -> None:
        now = self.store.clock()
        self.services.done(id, Finish(self.services.given(id).lease, code, now - 1, now, reason=reason))

    def attribute(self, id: str, name: str) -> str:
        given, lease = self.services.running(id)
        return JobAttributes(self.store, given.workflow, given.job, given, lease).value(name)

    def rows(self) -> list[object]:
        """All that a service could have changed."""
        run = self.store.database.run
        return [run("standing", first=0, last=1 << 62), run("history", workflow=1, job=None)]


@pytest.fixture(params=["sqlite", "postgresql"])
def counter(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Counter]:
    (tmp_path / "sites").mkdir()  # of an embedded store that several placeholders may use
    place = str(tmp_path / "store.db")
    found = Counter(place if request.param == "sqlite" else request.getfixturevalue("postgres_url"))
    yield found
    found.store.close()


CHAIN = "mqsub -l A -c ./a\nmqsub -deps A -l B -c ./b\n"


def test_a_workflow_is_run_by_calls_alone(counter: Counter) -> None:
    number = counter.submit(CHAIN)
    first = counter.next()
    assert counter.name(first) == "A" and Spec.read(counter.services.running(first)[1].spec).command == "./a"
    assert counter.asked("8") == Next(None)
    counter.done(first)
    second = counter.next("8")
    assert counter.name(second) == "B"
    counter.done(second)
    assert all_done(counter.store, number)
    assert counter.asked() == Next(None, is_over=True)


def test_groups_retries_and_ranks_are_as_ever(counter: Counter) -> None:
    number = counter.submit(
        "mqsub -l G -prologue -c before\nmqsub -l G/X -c x\nmqsub -l G/Y -c y\nmqsub -l G -c own\n"
        "mqsub -l G -epilogue -c after\nmqsub -deps G -l Z -c z -attr retries=1\n"
    )
    order = list[str]()
    fails = {"Z"}
    while (asked := counter.asked(str(len(order) % 3))).id is not None:
        name = counter.name(asked.id)
        order.append(name)
        counter.done(asked.id, int(name in fails))
        fails.discard(name)
    assert order == ["G_prologue", "G/X", "G/Y", "G", "G_epilogue", "Z", "Z"]
    assert asked.is_over and all_done(counter.store, number)


def test_a_failure_ends_what_waits_for_it_and_nothing_else(counter: Counter) -> None:
    number = counter.submit(f"{CHAIN}mqsub -l C -c ./c\n")
    counter.done(counter.next(), 3)
    counter.done(counter.next())
    assert counter.asked().is_over
    assert states(counter.store, number) == "A:f B:w C:d"


def test_a_store_without_anything_submitted_has_nothing_more(counter: Counter) -> None:
    assert counter.asked() == Next(None, is_over=True)
    counter.store.submissions.add(groups(CHAIN), counter.store.clock())  # somebody runs it, but nobody submitted it
    assert counter.asked() == Next(None, is_over=True)


def test_an_answer_that_got_lost_is_given_again_until_its_job_begins(counter: Counter) -> None:
    counter.submit("mqsub -l A -c a\nmqsub -l B -c b\n")
    first = counter.asked().id
    assert first is not None and counter.asked().id == first
    assert counter.asked(slot="2").id != first
    counter.store.callers.begin(counter.services.given(first).lease, counter.store.clock())
    assert counter.asked() == Next(None)


def test_an_end_that_is_told_twice_counts_once(counter: Counter) -> None:
    number = counter.submit(CHAIN)
    id = counter.next()
    counter.done(id)
    before = counter.rows()
    counter.done(id)
    assert counter.rows() == before
    with pytest.raises(NotFoundError, match="does not count"):
        counter.done(id, 1)
    assert states(counter.store, number) == "A:d B:e" and counter.rows() == before


def test_what_is_given_back_runs_again_and_the_old_id_is_good_no_more(counter: Counter) -> None:
    number = counter.submit("mqsub -l A -c a\n")
    old = counter.next()
    counter.done(old, None, "told to end")
    counter.done(old, None, "told to end")
    new = counter.next("8")
    assert counter.name(new) == "A" and new != old
    for service in (lambda: counter.services.running(old), lambda: counter.done(old)):
        with pytest.raises(NotFoundError, match="not good any more"):
            service()
    assert states(counter.store, number) == "A:r"
    counter.done(new)
    (first, second) = counter.store.history.attempts(number)
    assert (first.outcome, first.reason, second.outcome) == ("given back", "told to end", "done")


@pytest.mark.parametrize("id", ["", "x", "7x", "-1", "1.5", "../7", "a b.7", "٧", "."])
def test_what_is_no_id_is_bad_usage(counter: Counter, id: str) -> None:
    counter.submit(CHAIN)
    before = counter.rows()
    with pytest.raises((UsageError, NotFoundError)):
        counter.done(id)
    assert counter.rows() == before


def test_ids_of_other_stores_and_ids_that_nobody_was_given_are_refused(counter: Counter) -> None:
    counter.submit(CHAIN)
    id = counter.next()
    before = counter.rows()
    number = id.rpartition(".")[2]
    with pytest.raises(NotFoundError, match="another store"):
        counter.services.done(f"0123456789abcdef.{number}", Finish(LeaseId(int(number)), 0))
    for wrong in (f"{counter.store.id}.999", "999", "9" * 40):
        with pytest.raises(NotFoundError, match="was ever given"):
            counter.services.done(wrong, Finish(LeaseId(999), 0))
    assert counter.rows() == before
    counter.services.done(number, Finish(LeaseId(int(number)), 0))  # as mqstat shows it


# --- those that nobody hears of ---------


def late(counter: Counter) -> float:
    """A moment when leases that were given now are over."""
    return counter.store.clock() + LEASE + 1


def look(counter: Counter, now: float, found: bool) -> list[Overdue]:
    """A look that finds all that are overdue, or none of them."""
    overdue = counter.store.callers.take_overdue(now)
    counter.store.callers.seen(overdue if found else (), () if found else overdue, now)
    return overdue


def test_nobody_is_looked_for_while_its_lease_lasts(counter: Counter) -> None:
    counter.submit(CHAIN)
    counter.next()
    assert counter.store.callers.take_overdue(counter.store.clock() + LEASE - 5) == []
    (one,) = counter.store.callers.take_overdue(late(counter))
    assert (one.sched, one.sched_id, one.submit_host) == ("slurm", "7", "login")


def test_who_is_missing_from_two_lists_in_a_row_loses_its_job_which_is_not_done(counter: Counter) -> None:
    number = counter.submit(CHAIN)
    old = counter.next()
    now = late(counter)
    look(counter, now, found=False)
    assert states(counter.store, number) == "A:r B:w"
    look(counter, now + LEASE / PARTS + 1, found=False)
    assert states(counter.store, number) == "A:e B:w"
    (attempt,) = counter.store.history.attempts(number)
    assert attempt.is_lost and "not in the list of slurm" in str(attempt.reason)
    new = counter.next("8")
    with pytest.raises(NotFoundError):
        counter.done(old)
    counter.done(new)
    assert states(counter.store, number) == "A:d B:e"


def test_a_late_end_of_one_that_was_given_up_counts_if_nobody_has_its_job(counter: Counter) -> None:
    number = counter.submit(CHAIN)
    id = counter.next()
    for at in (0.0, LEASE):
        look(counter, late(counter) + at, found=False)
    assert states(counter.store, number) == "A:e B:w"
    counter.done(id)
    assert states(counter.store, number) == "A:d B:e"


def test_who_is_found_once_begins_anew(counter: Counter) -> None:
    number = counter.submit(CHAIN)
    counter.next()
    for at, found in enumerate((False, True, False, True, False)):
        assert look(counter, late(counter) + at * LEASE, found)
    assert states(counter.store, number) == "A:r B:w"


def test_looks_are_apart_and_one_of_several_has_each(counter: Counter) -> None:
    counter.submit(CHAIN)
    counter.next()
    now = late(counter)
    assert counter.store.callers.take_overdue(now)
    assert counter.store.callers.take_overdue(now) == []
    assert counter.store.callers.take_overdue(now + LEASE / PARTS - 1) == []
    assert counter.store.callers.take_overdue(now + LEASE / PARTS + 1)


def test_one_that_has_called_again_meanwhile_is_not_lost(counter: Counter) -> None:
    number = counter.submit("mqsub -l A -c a\nmqsub -l B -c b\n")
    counter.next()
    look(counter, late(counter), found=False)
    overdue = counter.store.callers.take_overdue(late(counter) + LEASE)
    counter.next()
    counter.store.callers.seen((), overdue, late(counter) + LEASE)
    assert states(counter.store, number) == "A:r B:r"


def test_a_list_counts_once_one_of_ours_was_in_it(counter: Counter) -> None:
    counter.submit("mqsub -l A -c a\nmqsub -l B -c b\n")
    counter.next("7")
    callers = counter.store.callers
    assert not callers.is_ours("slurm", "login", set()) and not callers.is_ours("slurm", "login", {"1", "2"})
    assert callers.is_ours("slurm", "login", {"7"}) and callers.is_ours("slurm", "login", set())
    assert not callers.is_ours("slurm", "elsewhere", {"7"}) and not callers.is_ours("gridengine", "login", {"7"})


def test_as_long_as_it_has_a_job_somebody_is_there(counter: Counter) -> None:
    counter.submit("mqsub -l A -c a\n")
    id = counter.next()
    assert counter.store.watching.present(counter.store.clock() + 1e6) == 1
    counter.done(id)
    assert counter.store.watching.present(counter.store.clock() + 1e6) == 0


def test_silence_alone_costs_nobody_a_job(counter: Counter) -> None:
    number = counter.submit(CHAIN)
    counter.next()
    crew = Crew(counter.store, number)
    now = counter.store.clock() + 1e6
    assert crew.lost(now) == []
    assert states(counter.store, number) == "A:r B:w"


def test_one_without_a_job_is_looked_for_no_more(counter: Counter) -> None:
    counter.submit("mqsub -l A -c a\n")
    counter.done(counter.next())
    assert counter.store.callers.take_overdue(late(counter)) == []
    assert counter.store.watching.placeholders() == {}


# --- what cannot be run by a script ---------


def test_sub_dags_and_services_are_left_to_others_and_hold_up_nobody(counter: Counter) -> None:
    dag = "SUBDAG EXTERNAL S inner.dag\nJOB B b.sub\nSERVICE V v.sub\n"
    files = {"flow.dag": dag, "b.sub": "executable = b\n", "v.sub": "executable = v\n", "inner.dag": "JOB I b.sub\n"}
    from headway.live.runs.submit import submission_of

    workflow = parse_dagman("flow.dag", Texts(files))
    for group in (*workflow.groups, *workflow.services):
        if not group.jobs[0].rules.subdag:
            group.jobs[0].command, group.jobs[0].description = group.name, ""
    number = counter.add(submission_of(workflow, (), "fifo")[0])
    id = counter.next()
    assert counter.name(id) == "B" and not counter.asked("8").is_over
    counter.done(id)
    assert counter.asked() == Next(None)  # S is there for somebody else
    assert counter.store.progress.counts(number)[State.DONE] == 1


def test_a_node_of_several_processes_gives_one_at_a_time(counter: Counter) -> None:
    workflow = parse("flow.sh", Texts({"flow.sh": "mqsub -l A -c a\n"}))
    from headway.model.job import Job

    workflow.groups.groups[0].jobs[0].parts = (Job("one"), Job("two"))
    number = counter.add(submission(workflow))
    found = [counter.next(str(who)) for who in range(2)]
    assert [counter.name(id) for id in found] == ["A/0", "A/1"] and counter.asked("9") == Next(None)
    for id in found:
        counter.done(id)
    assert all_done(counter.store, number)


def test_a_job_is_given_as_many_cores_as_it_wants_and_there_are(counter: Counter) -> None:
    counter.submit("mqsub -l A -c a -attr cores=4\nmqsub -l B -c b\n")
    wide = counter.asked("7", cores=2).id
    assert wide is not None and counter.attribute(wide, "cores") == "4"
    assert counter.asked("8", cores=8).id is not None and counter.asked("9") == Next(None)


def test_affinity_waits_for_the_host_of_the_job_before(counter: Counter) -> None:
    counter.submit("mqsub -l A -c comp\nmqsub -l A -c ver -attr affinity=yes\n")
    counter.done(counter.next("7", host="h1"))
    assert counter.asked("8", host="h2") == Next(None)
    assert counter.name(counter.next("9", host="h1")) == "A#2"


# --- attributes ---------


def test_attributes_say_how_a_job_runs_and_what_its_user_says_of_it(counter: Counter) -> None:
    counter.submit(
        "mqsub -l A -c 'echo $X' -attr release=yes -attr seconds=90 -attr time=2h -attr memory=1G -attr retries=2"
        " -attr directory=sub -attr stdin=in -attr env.X=1 -attr slice=2100 -attr resource.gpu=0\n"
    )
    id = counter.next()
    found = {
        name: counter.attribute(id, name)
        for name in [
            "command",
            "dir",
            "seconds",
            "time",
            "memory",
            "retries",
            "release",
            "affinity",
            "stdin",
            "stdout",
            "env.X",
            "slice",
            "attempt",
            "name",
            "stop",
        ]
    }
    assert found == {
        "command": "echo $X",
        "dir": "/somewhere/sub",
        "seconds": "90",
        "time": "7200",
        "memory": str(1 << 30),
        "retries": "2",
        "release": "yes",
        "affinity": "no",
        "stdin": "in",
        "stdout": "",
        "env.X": "1",
        "slice": "2100",
        "attempt": "1",
        "name": "A",
        "stop": "",
    }
    assert f"HEADWAY_LEASE={id}" in counter.attribute(id, "script")
    with pytest.raises(NotFoundError, match="no attribute"):
        counter.attribute(id, "slize")


def test_the_history_profile_is_that_of_the_last_attempt_that_ended(counter: Counter) -> None:
    counter.submit("mqsub -l A -c a -attr retries=2\n")
    first = counter.next("7", host="h1")
    assert [counter.attribute(first, name) for name in ("start", "end", "host", "exit_code")] == ["", "", "", ""]
    lease = counter.services.given(first).lease
    counter.services.done(first, Finish(lease, 3, 1000.0, 1090.5, 4096, 12.5))
    given_back = counter.next("8", host="h2")
    counter.done(given_back, None, "told to end")
    again = counter.next("9", host="h3")
    names = ("start", "end", "host", "exit_code", "max_rss", "cpu_seconds")
    assert [counter.attribute(again, name) for name in names] == ["1000", "1090.5", "h1", "3", "4096", "12.5"]


def test_whoever_has_been_stopped_can_tell(counter: Counter) -> None:
    number = counter.submit("mqsub -l A -c a\n")
    id = counter.next()
    counter.store.steering.steer("stop", number, [(0, 0)])
    assert counter.attribute(id, "stop") == "its user has stopped it"
    counter.done(id, None, "stopped")
    assert states(counter.store, number) == "A:x"


def test_attributes_of_a_forgotten_workflow_are_forgotten(counter: Counter) -> None:
    number = counter.submit("mqsub -l A -c a -attr slice=1\n")
    assert counter.store.callers.attributes(number, counter.services.given(counter.next()).job) == {"slice": "1"}
    counter.done("1")
    counter.store.history.forget([number])
    assert counter.store.database.run("attributes_of", workflow=number, job=0) == []
