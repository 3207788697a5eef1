"""What a store remembers and forgets, defined: every store passes this."""

from __future__ import annotations

import pytest

from headway.live.store import Store, opened
from headway.live.store.submission import Submission
from headway.live.store.views import Attempt
from headway.model.dag import Dag
from headway.model.errors import HeadwayError, NotFoundError
from headway.model.flatten import Flat
from headway.model.job import Job, Rules, Script
from headway.model.messages import Finish, JobId, LeaseId, WorkflowId
from headway.model.states import Kind, State, Step
from tests.contracts.crew import Crew, flow


def scripted() -> Submission:
    """One node with a script before it and one after it."""
    rules = Rules(pre=Script("before"), post=Script("after"))
    flat = Flat(Dag(["A"], [], []), [Job("true", rules=rules)], frozenset())
    return Submission("w", "/w.dag", "/", flat, [0])


class PastContract:
    """`place` is what `opened` takes, for an empty store."""

    # --- remembering -----------------------------------------------------------------------------------------------

    def test_the_runs_of_a_store_are_there_in_order_with_how_far_they_are(self, place: str) -> None:
        crew = Crew.on(place, flow("abMc", "aM", "bM", "Mc"))
        crew.store.submissions.add(flow("x", source="/h\udcf6me/other.dag"), 5.0)
        crew.take(2)
        crew.end("a")
        one, two = crew.store.history.runs()
        assert (one.workflow, one.name, one.source, one.directory) == (crew.workflow, "flow", "/flow.dag", "/somewhere")
        assert one.counts == {State.DONE: 1, State.RUNNING: 1, State.WAITING: 1} and one.jobs == 3
        assert (one.leases, one.attempts, one.halted, one.what_next) == (1, 2, False, "fifo")
        assert one.started is not None and one.ended == one.last_sign and one.started < one.ended
        assert (two.source, two.submitted, two.attempts, two.started, two.ended) == (
            *("/h\udcf6me/other.dag", 5.0, 0, None, None),
        )
        assert one.is_under_way and two.is_under_way and not one.is_done

    def test_a_run_is_done_when_all_its_jobs_are_and_failed_jobs_are_not_under_way(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", "ab"))
        other = Crew(crew.store, crew.store.submissions.add(flow("ab", "ab"), 5.0))
        crew.run("a", "b")
        other.run("a", exit_code=1)
        one, two = crew.store.history.runs()
        assert one.is_done and not one.is_under_way
        assert not two.is_done and not two.is_under_way

    def test_history_tells_every_attempt_in_full(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", retries=1))
        crew.take()
        lease = crew.leases["a"].id
        crew.swap([Finish(lease, 7, 1.25, 2.5, 3 << 32, 0.125, "so")], 0)
        crew.take()
        crew.take()
        crew.end("b", exit_code=None)
        store, workflow = crew.store, crew.workflow
        first, second, third = store.history.attempts(workflow)
        numbers = (7, 3 << 32, 0.125)
        assert first == Attempt(lease, JobId(0), "a", 1, Step.MAIN, "here", 1.25, 2.5, *numbers, "so", None)
        assert (first.seconds, first.outcome) == (1.25, "failed")
        assert (second.name, second.outcome, second.seconds) == ("b", "given back", 0.5)
        assert (third.name, third.number, third.outcome, third.ended) == ("a", 2, "running", None)
        assert third.started is not None and third.seconds is None
        assert store.history.attempts(workflow, JobId(1)) == [second] and store.history.attempts(WorkflowId(9)) == []
        assert store.history.last_attempt(workflow, JobId(0)) == third

    def test_what_was_given_back_before_it_began_never_started(self, place: str) -> None:
        crew = Crew.on(place, flow("a"))
        crew.take()
        crew.swap([Finish(crew.leases["a"].id, None, ended=7.0, reason="given back")], 0)
        (attempt,) = crew.store.history.attempts(crew.workflow)
        assert (attempt.started, attempt.ended, attempt.seconds) == (None, 7.0, None)
        (run,) = crew.store.history.runs()
        assert run.started is None

    def test_scripts_are_attempts_at_a_step(self, place: str) -> None:
        crew = Crew.on(place, scripted())
        crew.run("A", "A", "A")
        assert [(one.name, one.number, one.step) for one in crew.store.history.attempts(crew.workflow)] == [
            *(("A", 1, Step.PRE), ("A", 2, Step.MAIN), ("A", 3, Step.POST)),
        ]

    def test_a_job_is_found_by_its_name(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", "ab"))
        store, workflow = crew.store, crew.workflow
        assert store.history.named(workflow, "b") == 1 and store.history.named(workflow, "c") is None
        assert store.history.last_attempt(workflow, JobId(1)) is None
        member = store.history.member(workflow, JobId(1))
        assert (member.name, member.kind, member.state, member.spec) == ("b", Kind.JOB, State.WAITING, "true")
        with pytest.raises(NotFoundError):
            store.history.member(workflow, JobId(2))

    def test_the_web_of_a_workflow_is_what_was_submitted(self, place: str) -> None:
        crew = Crew.on(place, flow("abMc", "aM", "bM", "Mc", "ac~"))
        web = crew.store.history.web(crew.workflow)
        assert [(member.name, member.kind) for member in web.members] == [
            *(("a", Kind.JOB), ("b", Kind.JOB), ("", Kind.MILESTONE), ("c", Kind.JOB)),
        ]
        assert web.arcs == [(0, 2), (0, 3), (1, 2), (2, 3)]

    # --- forgetting ------------------------------------------------------------------------------------------------

    def test_what_is_forgotten_is_gone_and_the_rest_stays(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ac", "bc"))
        other = Crew(crew.store, crew.store.submissions.add(flow("xy", "xy"), 5.0))
        crew.run("a", "b", "c")
        other.run("x")
        history = crew.store.history.attempts(other.workflow)
        crew.store.history.forget([crew.workflow])
        crew.store.database.shrink()
        assert [run.workflow for run in crew.store.history.runs()] == [other.workflow]
        assert crew.store.progress.jobs(crew.workflow) == [] and crew.store.history.attempts(crew.workflow) == []
        assert crew.store.history.attempts(other.workflow) == history
        other.run("y")

    def test_a_workflow_with_a_running_job_is_not_forgotten_nor_those_beside_it(self, place: str) -> None:
        crew = Crew.on(place, flow("ab"))
        other = crew.store.submissions.add(flow("x"), 5.0)
        crew.take()
        with pytest.raises(HeadwayError, match=f"workflow {crew.workflow} has jobs that run"):
            crew.store.history.forget([other, crew.workflow])
        assert len(crew.store.history.runs()) == 2
        crew.end("a")
        crew.run("b")

    def test_leases_and_workflows_are_never_used_again_though_all_was_forgotten(self, place: str) -> None:
        crew = Crew.on(place, flow("ab"))
        crew.take(2)
        leases, stale = {lease.id for lease in crew.leases.values()}, crew.finish("b")
        crew.end("a", "b", exit_code=None)
        placeholder = crew.placeholder
        crew.store.placeholders.leave(placeholder, 5000.0)
        for _ in range(2):
            workflow = crew.workflow
            crew.store.history.forget([workflow])
            assert crew.store.history.runs() == []
            crew = Crew(crew.store, crew.store.submissions.add(flow("ab"), 5.0))
            crew.take(2)
            assert crew.workflow > workflow and crew.placeholder > placeholder
            assert min(lease.id for lease in crew.leases.values()) > max(leases)
            crew.swap([stale], 0)
            assert crew.states() == "a:r b:r" and crew.store.history.events()[-1].kind == "refused"
            leases |= {lease.id for lease in crew.leases.values()}
            crew.end("a", "b")

    def test_placeholders_and_events_keep_their_order_though_all_was_forgotten(self, place: str) -> None:
        crew = Crew.on(place, flow("a"))
        crew.run("a")
        idle = Crew(crew.store, crew.workflow, "idle").placeholder
        for number in (crew.placeholder, idle):
            crew.store.placeholders.leave(number, 5000.0)
        crew.swap([Finish(crew.leases["a"].id, 1, 1.0, 2.0)], 0)
        (read,) = crew.store.history.events()
        crew.store.history.forget([crew.workflow])
        assert Crew(crew.store, crew.workflow).placeholder > idle
        crew.swap([Finish(LeaseId(77), 0)], 0)
        assert [event.kind for event in crew.store.history.events(read.id)] == ["refused"]

    def test_nothing_piles_up_when_all_is_forgotten_again_and_again(self, place: str) -> None:
        store = opened(place)
        for _ in range(4):
            crew = Crew(store, store.submissions.add(flow("abc"), 5.0))
            crew.run("a", "b", "c")
            store.placeholders.leave(crew.placeholder, 6000.0)
            store.history.forget([crew.workflow])
        for table, most in (("attempts", 1), ("placeholders", 1), ("jobs", 0), ("specs", 0), ("workflows", 0)):
            assert rows(store, table) <= most, table


def rows(store: Store, table: str) -> int:
    """How many rows a table has, asked behind the store's back."""
    found = store.database.connection.execute(f"SELECT COUNT(*) FROM {table}")  # type: ignore[attr-defined]
    ((count,),) = found.fetchall()
    return int(count)
