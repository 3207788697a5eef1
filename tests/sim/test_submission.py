"""A workflow in a simulated queue: the same on the plain queue and from a checkpoint of the fast one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.engine.queue import Policy
from headway.formats.swf import Log
from headway.model.dag import Dag
from headway.model.errors import HeadwayError
from headway.policies.how_much import Advice, Ask, Limits, Method, View, method
from headway.sim.queue import PlainQueue
from headway.sim.replay import Replay
from headway.sim.submission import Case, Outcome, Submission
from tests.policies.test_how_much import HOUR, chain, layers
from tests.sim.dags import small_dags
from tests.sim.queues import log_of, logs, policies

FIRST_COME = Policy("first come")
IDLE = log_of([(0, 1, 1, 1, 0), (10**7, 1, 1, 1, 0)], 8)
MINUTES = [at * 60.0 for at in range(1, 9)]


def busy(hours: float, processors: int = 8) -> Log:
    """The whole machine is taken for so long from the beginning on."""
    return log_of([(0, hours * HOUR, processors, hours * HOUR, 0)], processors)


def outcome(log: Log, case: Case, how: str | Method, at: float = 2.0, rules: Policy = FIRST_COME) -> Outcome:
    queue = Replay(log, rules, [at]).checkpoints[at].copied()
    chosen = method(how) if isinstance(how, str) else how
    return Submission(queue, case, chosen, log.processors, queue.showstart).outcome()


def slowly(log: Log, case: Case, how: str, at: float, rules: Policy) -> Outcome:
    """The log replayed an event at a time, and jobs run by the engine."""
    queue = PlainQueue(log, rules)
    queue.advance(at)
    return Submission(queue, case, method(how), log.processors, queue.showstart, by_engine=True).outcome()


@st.composite
def cases(draw: st.DrawFn) -> Case:
    dag = draw(small_dags(10).filter(lambda dag: dag.job_count))
    size = len(dag)
    seconds = draw(st.lists(st.sampled_from(MINUTES), min_size=size, max_size=size))
    cores = draw(st.lists(st.integers(1, 2), min_size=size, max_size=size))
    wrong = draw(st.sampled_from([0.25, 0.5, 1.0, 1.0, 2.0]))
    return Case(dag.with_seconds(seconds), cores, [wrong * one for one in seconds])


@st.composite
def minute_logs(draw: st.DrawFn) -> Log:
    """A small log whose times are minutes."""
    log = draw(logs(20))
    rows = zip(log.submit, log.run, log.width, log.request, log.user, strict=True)
    return log_of([(60 * a, 60 * b, c, 60 * d, e) for a, b, c, d, e in rows], log.processors)


@settings(max_examples=150)
@given(
    minute_logs(),
    policies(),
    cases(),
    st.integers(0, 40),
    st.sampled_from(["individual", "giant", "hybrid", "hybrid+"]),
)
def test_a_checkpoint_and_jobs_in_bulk_lead_to_what_the_plain_queue_and_the_engine_lead_to(
    log: Log, rules: Policy, case: Case, after: int, how: str
) -> None:
    at = log.submit[0] + 60.0 * after
    fast, slow = outcome(log, case, how, at, rules), slowly(log, case, how, at, rules)
    assert fast == slow


@settings(max_examples=150)
@given(minute_logs(), policies(), cases(), st.sampled_from(["individual", "giant", "hybrid", "hybrid+"]))
def test_every_job_runs_to_its_end_and_nothing_is_held_longer_than_asked_for(
    log: Log, rules: Policy, case: Case, how: str
) -> None:
    found = outcome(log, case, how, log.submit[0] + 60.0, rules)
    assert found.makespan >= case.run_time - 1e-6  # never faster than without a queue
    assert found.core_hours >= found.work_hours - 1e-9
    for one in found.allocations:
        assert one.ended is not None and one.asked <= (one.began if one.began is not None else one.ended) <= one.ended
        assert one.width <= log.processors
        if one.began is not None:
            assert one.ended - one.began <= one.seconds + 1e-6


@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("how", ["individual", "hybrid+"])
def test_jobs_in_bulk_keep_a_limit_on_requests_as_the_engine_does(how: str, limit: int) -> None:
    outcomes = []
    for by_engine in (False, True):
        queue = Replay(busy(2), FIRST_COME, [2.0]).checkpoints[2.0].copied()
        case = Case(layers([2, 4, 1, 3]), expected=[0.5 * HOUR] * 10)
        limits = Limits(requests=limit)
        one = Submission(queue, case, method(how), 8, queue.showstart, limits, by_engine=by_engine)
        outcomes.append(one.outcome())
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("loose", [False, True])
@pytest.mark.parametrize("how", ["individual", "hybrid+"])
def test_no_more_processors_are_out_at_once_than_a_user_may_have(how: str, loose: bool) -> None:
    queue = Replay(busy(2), FIRST_COME, [2.0]).checkpoints[2.0].copied()
    case = Case(layers([4, 2, 6, 1]))
    one = Submission(queue, case, method(how), 8, queue.showstart, Limits(processors=3), loose)
    found = one.outcome().allocations
    assert len(found) == 13 if how == "individual" else len(found) < 8  # a level that has no room yet is put off
    for moment in {alloc.asked for alloc in found}:
        assert sum(alloc.width for alloc in found if alloc.asked <= moment < (alloc.ended or 0)) <= 3


@pytest.mark.parametrize("how", ["individual", "giant", "hybrid", "hybrid+"])
def test_on_an_idle_machine_nothing_waits(how: str) -> None:
    found = outcome(IDLE, Case(layers([1, 4, 1])), how)
    assert (found.wait, found.relative_wait, found.makespan, found.allocation_wait) == (0, 0, 3 * HOUR, 0)


def test_individual_pays_for_every_level_and_giant_for_idle_processors() -> None:
    case = Case(layers([1, 4, 1]))
    assert outcome(IDLE, case, "individual").core_hours == 6
    assert outcome(IDLE, case, "giant").core_hours == 12


def test_waits_before_the_first_allocation_are_the_workflows_own() -> None:
    found = outcome(busy(5), Case(chain(1, 1)), "giant")
    assert found.wait == 5 * HOUR - 2 and found.relative_wait == found.wait / (2 * HOUR)


def test_a_machine_narrower_than_the_workflow_makes_it_wait_for_itself() -> None:
    """Eight jobs on four processors take two hours instead of one."""
    log = log_of([(0, 1, 1, 1, 0)], 4)
    for how in ("individual", "giant", "hybrid"):
        assert outcome(log, Case(layers([8])), how).wait == HOUR


def test_jobs_that_take_longer_than_expected_are_cut_off_and_tried_for_longer() -> None:
    dag = chain(3)
    found = outcome(IDLE, Case(dag, expected=[HOUR]), "giant")
    assert [one.seconds / HOUR for one in found.allocations] == [1, 2, 4]
    assert found.cut == 2 and found.makespan == (1 + 2 + 3) * HOUR


def test_an_allocation_that_begins_too_early_waits_for_its_predecessors() -> None:
    """The second level's allocation begins at once, is held while the first runs, and lasts long enough."""

    def level_by_level(view: View) -> Advice:
        return Advice((Ask(view.left.width(1), HOUR + view.busy, view.left.jobs(1)),))

    found = outcome(IDLE, Case(layers([2, 4])), level_by_level)
    assert found.wait == 0 and [one.began for one in found.allocations] == [2, 2]
    assert found.core_hours == 2 * 1 + 4 * 2


def test_one_that_was_not_asked_for_long_enough_is_asked_for_again() -> None:
    """The second level gets an hour from the start, in which its predecessors run."""

    def level_by_level(view: View) -> Advice:
        return Advice((Ask(view.left.width(1), HOUR, view.left.jobs(1)),))

    found = outcome(IDLE, Case(chain(1, 1)), level_by_level)
    assert len(found.allocations) == 3 and found.wait == 0


def test_a_method_that_asks_for_too_little_for_ever_is_stopped() -> None:
    with pytest.raises(HeadwayError, match=r"2,000 allocations were asked for, and 1 jobs are left"):
        outcome(IDLE, Case(chain(1)), lambda view: Advice((Ask(1, 60.0, view.left.jobs(1)),)))


def test_an_outcome_knows_what_was_estimated() -> None:
    found = outcome(busy(5), Case(chain(1)), "giant")
    (one,) = found.allocations
    assert one.began is not None and one.estimate == one.began - one.asked == 5 * HOUR - 2


def test_a_dag_of_nothing_is_over_at_once() -> None:
    assert outcome(IDLE, Case(Dag([], [], [])), "hybrid").makespan == 0


# --- loose mapping ---------------------------------------------------------------------------------------------------

METHODS = ["individual", "giant", "hybrid", "hybrid+"]


def loosely(log: Log, case: Case, how: str | Method, at: float = 2.0, rules: Policy = FIRST_COME) -> Outcome:
    queue = Replay(log, rules, [at]).checkpoints[at].copied()
    chosen = method(how) if isinstance(how, str) else how
    return Submission(queue, case, chosen, log.processors, queue.showstart, loose=True).outcome()


@settings(max_examples=200)
@given(minute_logs(), policies(), cases(), st.sampled_from(METHODS))
def test_with_guests_every_job_runs_to_its_end_as_well(log: Log, rules: Policy, case: Case, how: str) -> None:
    found = loosely(log, case, how, log.submit[0] + 60.0, rules)
    assert found.makespan >= case.run_time - 1e-6
    assert found.core_hours >= found.work_hours - 1e-9
    for one in found.allocations:
        assert one.ended is not None and one.asked <= (one.began if one.began is not None else one.ended) <= one.ended
        assert one.began is None or one.ended - one.began <= one.seconds + 1e-6


@settings(max_examples=200)
@given(minute_logs(), policies(), small_dags(10).filter(lambda dag: dag.job_count), st.sampled_from(METHODS))
def test_nothing_is_cut_off_where_run_times_are_known(log: Log, rules: Policy, dag: Dag, how: str) -> None:
    case = Case(dag.with_seconds([60.0 * (1 + at % 5) for at in range(len(dag))]))
    assert loosely(log, case, how, log.submit[0] + 60.0, rules).cut == 0


@settings(max_examples=200)
@given(cases(), st.sampled_from(METHODS), st.booleans())
def test_on_an_idle_queue_it_ends_whatever_is_expected(case: Case, how: str, loose: bool) -> None:
    """Every wait is 0, as docs/decisions/0025 has it; a job is cut off only as often as its expected time doubles."""
    log = log_of([(0, 1, 1, 1, 0), (10**7, 1, 1, 1, 0)], 1024)
    queue = Replay(log, FIRST_COME, [2.0]).checkpoints[2.0].copied()
    found = Submission(queue, case, method(how), 1024, queue.showstart, loose=loose).outcome()
    assert found.allocation_wait == 0
    assert len(found.allocations) <= 4 * (case.dag.job_count + found.cut) + 4
    if loose:
        assert found.cut <= 2 * case.dag.job_count


def test_an_allocation_that_has_processors_to_spare_runs_what_waits_for_another() -> None:
    """Two jobs of three hours, two of one: one of the short ones is asked for with the long ones, the other later."""
    dag = Dag(["a", "b", "c", "d"], [], [], [3 * HOUR, 3 * HOUR, HOUR, HOUR])

    def two(view: View) -> Advice:
        jobs = view.left.jobs(1)[:3]
        return Advice((Ask(min(3, len(jobs)), 3 * HOUR, jobs),))

    log = log_of([(0, 9 * HOUR, 5, 9 * HOUR, 0)], 8)  # three processors are free
    strict, loose = outcome(log, Case(dag), two), loosely(log, Case(dag), two)
    assert (strict.makespan, loose.makespan) == (4 * HOUR, 3 * HOUR)
    assert (strict.cancelled, loose.cancelled) == (0, 1) and loose.core_hours < strict.core_hours


@settings(max_examples=60)
@given(minute_logs(), policies(), cases(), st.sampled_from(["individual", "giant"]))
def test_guests_change_nothing_where_every_job_has_its_place(log: Log, rules: Policy, case: Case, how: str) -> None:
    """One allocation for all, or one for each: nobody else's job is left to run."""
    case = Case(case.dag, case.cores)  # with the right run times
    at = log.submit[0] + 60.0
    assert loosely(log, case, how, at, rules) == outcome(log, case, how, at, rules)
