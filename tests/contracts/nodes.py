"""Nodes in a store, defined: steps, processes, throttles, and jobs outside the order; every store passes this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from headway.engine.intake import Outside
from headway.engine.ready import Room
from headway.live.store.makefiles import Begun, last_attempts, of_file, unfinished
from headway.live.store.spec import Spec
from headway.live.store.submission import Submission
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job, Resources, Rules, Script, Tolerance
from headway.model.states import Kind, State
from tests.contracts.crew import Crew, flow


def nodes(
    jobs: Mapping[str, Job],
    *arcs: str,
    outside: Sequence[tuple[Kind, str, Job]] = (),
    throttles: Mapping[str, int] | None = None,
    late: Mapping[int, int] | None = None,
) -> Submission:
    """Jobs by letter; an arc is two letters."""
    names = list(jobs)
    pairs = [(names.index(arc[0]), names.index(arc[1])) for arc in arcs]
    dag = Dag(names, [a for a, _ in pairs], [b for _, b in pairs])
    flat = Flat(dag, list(jobs.values()), frozenset(), late=late or {})
    return Submission("n", "/n.dag", "/", flat, [0] * len(names), Outside(outside, throttles or {}))


def job(parts: int = 0, **rules: object) -> Job:
    found = Job("main", rules=Rules(**rules))  # type: ignore[arg-type]
    found.parts = tuple(Job(f"part {number}") for number in range(parts))
    return found


PRE, POST = Script("/pre $JOB $RETRY"), Script("/post $RETURN")


def commands(crew: Crew, room: int = 9) -> list[str]:
    """Takes all there is; what it runs."""
    return [Spec.read(crew.leases[name].spec).command for name in crew.take(room)]


class NodeContract:
    """`place` is what `opened` takes, for an empty store."""

    def test_the_steps_of_a_node_follow_each_other(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(pre=PRE, post=POST), "b": Job("b")}, "ab"))
        assert commands(crew) == ["exec /pre a 0"]
        crew.end("a")
        assert commands(crew) == ["main"]
        crew.end("a", exit_code=7)
        assert crew.states() == "a:e b:w" and commands(crew) == ["exec /post 7"]
        crew.end("a")
        assert crew.states() == "a:d b:e"
        assert [attempt[:2] for attempt in crew.store.progress.attempts(crew.workflow)] == [
            ("a", 1),
            ("a", 2),
            ("a", 3),
        ]

    def test_a_step_that_goes_on_is_given_to_another_placeholder_as_it_was(self, place: str) -> None:
        held = Job("main", rules=Rules(post=POST, retries=1), resources=Resources(named=(("gpu", 1),)))
        crew = Crew.on(place, nodes({"a": job(pre=PRE, retries=1), "b": held, "c": job(parts=2)}))
        store, other = crew.store, crew.store.placeholders.enter("there", 2, 1000.0)
        room = Room(9, 9, named={"gpu": 1})
        leases = store.leases.exchange(crew.placeholder, [], room, [crew.workflow], 1000.0).leases
        assert [(one.name, one.named, one.final) for one in leases if one.name in "ab"] == [
            ("a", (), False),
            ("b", (("gpu", 1),), None),
        ]
        assert len(leases) == 4 and store.leases.adopt(other, [one.id for one in leases]) == sorted(
            leases, key=lambda x: x.id
        )

    def test_a_retry_begins_with_the_first_step(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(pre=PRE, retries=1)}))
        crew.run("a")
        crew.run("a", exit_code=2)
        assert commands(crew) == ["exec /pre a 1"]
        crew.end("a", exit_code=3)
        assert crew.states() == "a:f" and crew.store.progress.failures(crew.workflow) == [
            ("a", 0, 3, 3, "so", "local", "")
        ]
        crew.store.submissions.retry_failed(crew.workflow)
        assert commands(crew) == ["exec /pre a 0"]

    def test_what_is_put_off_comes_back_in_time(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(pre=Script("/pre", defer=(9, 50)))}))
        crew.take()
        answer = crew.store.leases.exchange(crew.placeholder, [crew.finish("a", 9)], Room(1, 1), [crew.workflow], 100.0)
        assert answer.leases == [] and answer.wake == 50.0 and crew.store.progress.is_under_way(crew.workflow)
        early = crew.store.leases.exchange(crew.placeholder, [], Room(1, 1), [crew.workflow], 149.0)
        assert early.leases == [] and early.wake == 1.0
        late = crew.store.leases.exchange(crew.placeholder, [], Room(1, 1), [crew.workflow], 150.0)
        assert [lease.name for lease in late.leases] == ["a"] and late.wake is None

    def test_retries_wait_longer_and_longer_and_get_more_memory(self, place: str) -> None:
        greedy = job(retries=3, back_off=10.0, more_memory=1.5)
        greedy.resources = Resources(memory=1000)
        crew = Crew.on(place, nodes({"a": greedy}))
        now, waits, memory = 0.0, [], []
        for _ in range(3):
            (lease,) = crew.store.leases.exchange(crew.placeholder, [], Room(1, 1), [crew.workflow], now).leases
            crew.leases["a"] = lease
            memory.append(lease.memory)
            wake = crew.store.leases.exchange(
                crew.placeholder, [crew.finish("a", 1)], Room(1, 1), [crew.workflow], now
            ).wake
            assert wake is not None
            waits.append(wake)
            now += wake
        assert waits == [10.0, 20.0, 40.0] and memory == [1000, 1500, 2250]

    def test_a_node_of_processes_is_done_when_they_are(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(parts=3, post=POST), "b": Job("b")}, "ab"))
        assert commands(crew, 2) == ["part 0", "part 1"] and crew.states() == "a:r b:w"
        crew.end("a/0")
        assert commands(crew) == ["part 2"]
        crew.end("a/1", "a/2")
        assert commands(crew) == ["exec /post 0"]
        crew.end("a")
        assert crew.states() == "a:d b:e"
        assert {state.name: n for state, n in crew.store.progress.counts(crew.workflow).items()} == {
            "DONE": 1,
            "ELIGIBLE": 1,
        }

    def test_a_failed_process_ends_the_others(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(parts=4, retries=1)}))
        crew.take(2)
        crew.swap([crew.finish("a/1", 5)], 0)
        told = crew.store.leases.stop_requests(crew.placeholder)
        assert [lease for lease, _ in told] == [crew.leases["a/0"].id] and crew.take(9) == []
        crew.end("a/0", exit_code=None)
        assert crew.take(9) == ["a/0", "a/1", "a/2", "a/3"]  # the retry
        crew.end("a/2", exit_code=6)
        crew.end("a/0", "a/1", "a/3", exit_code=None)
        assert crew.states() == "a:f" and crew.store.progress.failures(crew.workflow)[0][3] == 6

    def test_processes_that_fail_can_be_tolerated(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(parts=4, tolerance=Tolerance(50, percent=True))}))
        crew.take(4)
        crew.end("a/0", "a/1", exit_code=1)
        crew.end("a/2", "a/3")
        assert crew.states() == "a:d"

    def test_a_process_of_a_lost_placeholder_runs_again(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(parts=2)}))
        crew.take(2)
        crew.end("a/0")
        Crew(crew.store, crew.workflow).lost(1e9)
        assert crew.take(9) == ["a/1"]
        crew.end("a/1")
        assert crew.states() == "a:d"

    def test_a_workflow_that_was_ended_is_over_though_a_node_had_processes_to_begin(self, place: str) -> None:
        """With slots for two, the run waited for the other processes, which nobody was given any more."""
        crew = Crew.on(place, nodes({"b": job(abort_on=(4, 9)), "a": job(parts=3)}))
        assert crew.take(2) == ["b", "a/0"]
        stops = crew.store.leases.exchange(crew.placeholder, [crew.finish("b", 4)], Room(0, 4), [], 1000.0).stops
        assert stops == (crew.leases["a/0"].id,)
        crew.end("a/0", exit_code=None)
        answer = crew.store.leases.exchange(crew.placeholder, [], Room(4, 4), [crew.workflow], 1001.0, [crew.workflow])
        assert not answer.leases and answer.over == (crew.workflow,)

    def test_a_job_can_end_its_workflow(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(abort_on=(4, 9), retries=5), "b": Job("b"), "c": Job("c")}))
        assert crew.take(2) == ["a", "b"]
        answer = crew.store.leases.exchange(crew.placeholder, [crew.finish("a", 4)], Room(9, 9), [crew.workflow], 5.0)
        assert answer.leases == [] and answer.stops == (crew.leases["b"].id,)
        assert crew.store.progress.returned(crew.workflow) == 9
        crew.end("b", exit_code=None)
        assert crew.take(9) == [] and crew.states() == "a:f b:e c:e"
        crew.store.submissions.resume(crew.workflow)
        assert crew.store.progress.returned(crew.workflow) == 9 and crew.take(9) == ["b", "c"]
        crew.end("b", "c")
        assert crew.store.progress.returned(crew.workflow) == 9  # since nobody has retried it

    @pytest.mark.parametrize("how", ["retry", "redo", "done", "another failure"])
    def test_what_a_job_that_ended_its_workflow_returns_holds_until_something_else_comes_of_it(
        self, place: str, how: str
    ) -> None:
        crew = Crew.on(place, nodes({"a": job(abort_on=(4, 9)), "b": Job("b")}))
        crew.take(1)
        crew.end("a", exit_code=4)
        if how == "retry":
            crew.store.submissions.retry_failed(crew.workflow)
        elif how != "another failure":
            crew.steer(how, "a")
        crew.store.submissions.resume(crew.workflow)
        if how == "another failure":
            assert crew.store.progress.returned(crew.workflow) == 9
            crew.run("b", exit_code=1)
        assert crew.store.progress.returned(crew.workflow) is None

    def test_a_workflow_that_was_ended_and_has_gone_on_to_its_end_returns_nothing_else(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(abort_on=(0, 9)), "b": Job("b")}))
        crew.run("a")
        crew.store.submissions.resume(crew.workflow)
        assert crew.store.progress.returned(crew.workflow) == 9
        crew.run("b")
        assert crew.store.progress.returned(crew.workflow) is None

    def test_what_ends_with_its_workflow_does_not_change_what_that_returns(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(abort_on=(4, 9)), "b": Job("b")}))
        crew.take(2)
        crew.end("a", exit_code=4)
        crew.end("b", exit_code=-15)
        assert crew.states() == "a:f b:f" and crew.store.progress.returned(crew.workflow) == 9
        crew.store.submissions.resume(crew.workflow)
        assert crew.store.progress.returned(crew.workflow) == 9

    def test_a_final_job_that_is_called_done_decides_nothing(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": Job("a")}, outside=[(Kind.FINAL, "f", Job("f"))]))
        crew.run("a", exit_code=1)
        crew.run("f", exit_code=2)
        assert crew.store.progress.final_state(crew.workflow) is State.FAILED
        crew.steer("done", "f")
        assert crew.states() == "a:f f:d" and crew.store.progress.final_state(crew.workflow) is None

    def test_the_final_job_waits_for_all_and_for_what_is_tried_again(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": Job("a"), "b": Job("b")}, "ab", outside=[(Kind.FINAL, "f", Job("f"))]))
        assert crew.take(9) == ["a"]
        crew.end("a", exit_code=1)
        assert crew.take(9) == ["f"]
        crew.end("f")
        assert crew.states() == "a:f b:w f:d"
        crew.store.submissions.retry_failed(crew.workflow)
        crew.store.submissions.resume(crew.workflow)
        assert crew.states() == "a:e b:w f:w"
        crew.run("a", "b", "f")
        assert crew.states() == "a:d b:d f:d"

    def test_a_final_job_that_failed_is_retried_from_its_first_step(self, place: str) -> None:
        last = (Kind.FINAL, "f", job(pre=PRE))
        crew = Crew.on(place, nodes({"a": Job("a")}, outside=[last]))
        crew.run("a", "f")
        assert commands(crew) == ["main"]
        crew.end("f", exit_code=2)
        assert crew.states() == "a:d f:f" and crew.store.progress.final_state(crew.workflow) is State.FAILED
        assert crew.store.submissions.retry_failed(crew.workflow) == 1
        crew.store.submissions.resume(crew.workflow)
        assert commands(crew) == ["exec /pre f 0"]

    def test_a_workflow_that_is_removed_runs_its_final_job_only(self, place: str) -> None:
        last = (Kind.FINAL, "f", job(pre=Script("/pre $DAG_STATUS")))
        crew = Crew.on(place, nodes({"a": Job("a"), "b": Job("b")}, "ab", outside=[last]))
        assert crew.take(9) == ["a"]
        assert crew.store.steering.remove(crew.workflow) == [crew.leases["a"].id]
        assert crew.take(9) == [] and crew.store.steering.remove(crew.workflow) == []
        crew.end("a", exit_code=None)
        assert commands(crew) == ["exec /pre 4"] and crew.store.steering.remove(crew.workflow) == []  # it goes on
        crew.end("f")
        crew.run("f")
        assert crew.states() == "a:e b:w f:d" and crew.store.steering.remove(crew.workflow) is None

    def test_a_workflow_without_a_final_job_is_not_removed_so(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(pre=PRE)}))
        assert (
            crew.store.steering.remove(crew.workflow) is None and crew.store.progress.final_state(crew.workflow) is None
        )

    def test_a_job_that_ends_its_workflow_without_a_word_returns_its_exit_code(self, place: str) -> None:
        crew = Crew.on(place, nodes({"a": job(abort_on=(10, None))}))
        crew.run("a", exit_code=10)
        assert crew.store.progress.returned(crew.workflow) == 10

    def test_the_last_attempt_at_a_job_is_known_over_all_workflows_of_a_file(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", source="/w all"))
        crew.run("a")
        crew.run("b", exit_code=1)
        other, apart = (
            Crew(crew.store, crew.store.submissions.add(flow("b", source="/w"), 5.0)),
            flow("b", source="/w2"),
        )
        crew.store.submissions.add(apart, 5.0)
        other.run("b")
        database = crew.store.database
        both = of_file(database, "/w", None)
        assert sorted(both) == [crew.workflow, other.workflow]
        assert of_file(database, "/w", other.workflow) == [crew.workflow]
        assert unfinished(database, both) == [
            {"a": Begun(True, crew.leases["a"].id), "b": Begun(False, crew.leases["b"].id)}
        ]
        assert last_attempts(database, both, ["b", "c"]) == {"b": other.leases["b"].id}

    def test_a_process_is_tried_again_by_its_own_rules_below_those_of_its_node(self, place: str) -> None:
        node = job(retries=1, post=POST)
        node.parts = (Job("part", rules=Rules(retries=3, unless_exit=7, success=3)),)
        crew = Crew.on(place, nodes({"a": node}))
        for code in (0, 1, 7):  # 3 would be a success
            assert commands(crew) == ["part"]
            crew.end("a/0", exit_code=code)
        assert commands(crew) == ["exec /post 7"]
        crew.end("a", exit_code=7)
        assert commands(crew) == ["part"]
        crew.end("a/0", exit_code=3)
        assert commands(crew) == ["exec /post 3"]

    def test_services_and_provisioners_are_outside_the_order(self, place: str) -> None:
        beside = [(Kind.PROVISIONER, "p", Job("p")), (Kind.SERVICE, "s", Job("s"))]
        crew = Crew.on(place, nodes({"a": Job("a")}, outside=beside))
        assert crew.take(9) == ["p", "s"] and crew.leases["s"].cores == 0
        crew.end("p")
        assert crew.take(9) == ["a"]
        crew.end("a")
        assert not crew.store.progress.is_under_way(crew.workflow)  # though the service runs

    def test_a_category_is_throttled_in_order_of_rank(self, place: str) -> None:
        jobs = {name: job(category="io" if name != "d" else None) for name in "abcd"}
        crew = Crew.on(place, nodes(jobs, throttles={"io": 2}))
        assert crew.take(9) == ["a", "b", "d"]
        crew.end("b")
        assert crew.take(9) == ["c"]

    def test_named_resources_are_given_while_there_are_some(self, place: str) -> None:
        jobs = {name: Job(name, resources=Resources(named=(("gpu", 1),))) for name in "ab"} | {"c": Job("c")}
        crew = Crew.on(place, nodes(jobs))
        room = Room(9, 9, named={"gpu": 1})
        got = crew.store.leases.exchange(crew.placeholder, [], room, [crew.workflow], 1.0).leases
        assert [(lease.name, lease.named) for lease in got] == [("a", (("gpu", 1),)), ("c", ())]

    def test_a_failure_after_an_early_release_puts_its_dependents_in_doubt(self, place: str) -> None:
        jobs = {name: Job(name) for name in "abcd"}  # a releases early, b belongs to its group, c and d hang on it
        crew = Crew.on(place, nodes(jobs, "ab", "ac", "cd", late={1: 0}))
        crew.run("a")
        assert crew.take(9) == ["b", "c"]
        crew.end("c")
        crew.end("b", exit_code=1)
        assert crew.store.database.run("all_doubts", workflow=crew.workflow) == [(1, 2)]
