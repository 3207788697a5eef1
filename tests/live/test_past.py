"""What earlier runs teach the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.engine.intake import Outside
from headway.live.runs.expected_times import chosen_run, measured, run_times, with_history
from headway.live.store import Store, opened
from headway.live.store.submission import Submission
from headway.model.dag import Dag
from headway.model.errors import NotFoundError
from headway.model.flatten import Flat
from headway.model.job import Job, Rules, Script
from headway.model.messages import Finish
from headway.model.states import Kind
from headway.policies.what_next.critical_path import ranks
from tests.contracts.crew import Crew, flow


@pytest.fixture
def store() -> Store:
    return opened(":memory:")


def ran(crew: Crew, *ends: tuple[str, float, int | None]) -> None:
    """Jobs that took so long and ended so, one after the other."""
    for name, seconds, code in ends:
        crew.take(1)
        crew.swap([Finish(crew.leases[name].id, code, 1000.0, 1000.0 + seconds)], 0)


def whole() -> Submission:
    """A node of two processes between scripts, a job after it, a service, and a final job."""
    node = Job(None, rules=Rules(pre=Script("before"), post=Script("after")), parts=(Job("p"), Job("q")))
    flat = Flat(Dag(["n", "z"], [0], [1]), [node, Job("z")], frozenset())
    outside = Outside([(Kind.SERVICE, "s", Job("s")), (Kind.FINAL, "f", Job("f"))])
    return Submission("w", "/w.dag", "/", flat, [0, 0], outside)


def run_whole(store: Store) -> Crew:
    crew = Crew(store, store.submissions.add(whole(), 1.0))
    crew.take(1)
    assert list(crew.leases) == ["s", "n"]  # neither a service nor the script of a node of processes takes a core
    ran(crew, ("n", 1.0, 0), ("n/0", 5.0, 0), ("n/1", 3.0, 0), ("n", 2.0, 0), ("z", 10.0, 0))
    crew.swap([Finish(crew.leases["s"].id, 0, 1000.0, 1900.0)], 0)
    ran(crew, ("f", 7.0, 0))
    return crew


def test_the_run_that_is_meant_is_the_latest_or_the_one_of_a_number_or_file(store: Store, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="empty"):
        chosen_run(store)
    file = str(tmp_path / "my flow.dag")
    for source in (f"'{file}'", f"'{file}' all", "/flow.dag", "/flow.dagger"):
        store.submissions.add(flow("a", source=source), 1.0)
    assert chosen_run(store).workflow == 4
    assert chosen_run(store, "1").workflow == 1
    assert chosen_run(store, file).workflow == 2
    assert chosen_run(store, "/flow.dag").workflow == 3
    with pytest.raises(NotFoundError, match=r"no workflow \"9\"\. It has 4 "):
        chosen_run(store, "9")


def test_the_minimal_schedule_of_a_run_starts_everything_as_early_as_possible(store: Store) -> None:
    crew = Crew(store, store.submissions.add(flow("abcd", "ac", "bc", "cd"), 1.0))
    ran(crew, ("a", 4.0, 0), ("b", 6.0, 0), ("c", 3.0, 0), ("d", 1.0, 0))
    schedule = measured(store.history.web(crew.workflow), store.history.attempts(crew.workflow)).minimal_schedule
    assert schedule.makespan == 10.0 and list(schedule.starts) == [0.0, 0.0, 6.0, 9.0]
    assert schedule.concurrency == [(0.0, 2), (4.0, 1), (6.0, 1), (9.0, 1), (10.0, 0)]


def test_a_node_takes_its_scripts_and_its_longest_process_and_the_final_job_is_last(store: Store) -> None:
    crew = run_whole(store)
    dag = measured(store.history.web(crew.workflow), store.history.attempts(crew.workflow))
    assert dag.minimal_schedule.makespan == 1.0 + 5.0 + 2.0 + 10.0 + 7.0
    assert dag.work == 1.0 + 5.0 + 3.0 + 2.0 + 10.0 + 7.0


def test_retries_count_with_the_time_of_the_last_and_no_failure_hides_a_success(store: Store) -> None:
    crew = Crew(store, store.submissions.add(flow("a", retries=3), 1.0))
    ran(crew, ("a", 1.0, None), ("a", 9.0, 1), ("a", 4.0, 1))
    assert run_times(store, "/flow.dag") == {"a": 4.0}
    ran(crew, ("a", 2.0, 0))
    assert run_times(store, "/flow.dag") == {"a": 2.0}


def test_run_times_come_from_the_latest_runs_of_the_same_source(store: Store) -> None:
    first, second = (Crew(store, store.submissions.add(flow("abc"), 1.0)) for _ in range(2))
    other = Crew(store, store.submissions.add(flow("a", source="/other.dag"), 1.0))
    store.submissions.add(flow("abc"), 1.0)
    ran(first, ("a", 1.0, 0), ("b", 2.0, 0), ("c", 3.0, 0))
    ran(second, ("a", 10.0, 0), ("b", 20.0, 1))
    ran(other, ("a", 99.0, 0))
    assert run_times(store, "/flow.dag") == {"a": 10.0, "b": 20.0, "c": 3.0}
    assert run_times(store, "/nothing.dag") == {}


def test_run_times_of_nodes_are_those_of_all_their_steps(store: Store) -> None:
    run_whole(store)
    assert run_times(store, "/w.dag") == {"n": 8.0, "z": 10.0, "s": 900.0, "f": 7.0}


def test_history_puts_the_longest_remaining_path_first() -> None:
    dag = Dag(["short", "long", "new", "M"], [0], [3], [5.0, 1.0, None, None], bytes([0, 0, 0, 1]))
    assert list(ranks(dag)) == [0, 1, 2, 2]
    known = with_history(dag, {"long": 30.0, "short": 10.0})
    assert list(known.seconds) == [10.0, 30.0, 20.0, 0.0]
    assert list(ranks(known)) == [2, 0, 1, 3]
    assert with_history(dag, {}) is dag
