"""The jobs database, defined: every store passes this."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.engine.ready import Room
from headway.live.store import opened
from headway.live.store.spec import Spec
from headway.live.store.submission import Submission
from headway.model.dag import Dag
from headway.model.errors import NotFoundError
from headway.model.flatten import Flat
from headway.model.job import Job, Resources
from headway.model.messages import Finish, LeaseId, WorkflowId
from headway.model.states import State
from tests.contracts.crew import Crew, flow, groups, states
from tests.contracts.past import PastContract


class StoreContract(PastContract):
    """`place` is what `opened` takes, for an empty store."""

    # --- submitting ------------------------------------------------------------------------------------------------

    def test_a_workflow_is_taken_in_with_its_eligible_jobs(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ac", "bc"))
        assert crew.states() == "a:e b:e c:w"
        assert crew.store.leases.directory(crew.workflow) == "/somewhere"

    def test_the_latest_workflow_of_a_file_is_found(self, place: str) -> None:
        store = opened(place)
        assert store.submissions.latest("/flow.dag") is None
        store.submissions.add(flow("a"), 1.0)
        new = flow("ab")
        number = store.submissions.add(new, 2.0)
        store.submissions.add(flow("abc", source="/other.dag"), 3.0)
        assert store.submissions.latest("/flow.dag") == (number, new.digest)

    def test_a_workflow_that_is_not_there_is_said_so(self, place: str) -> None:
        store = opened(place)
        with pytest.raises(NotFoundError):
            store.leases.directory(WorkflowId(9))
        assert store.progress.counts(WorkflowId(9)) == {} and store.progress.jobs(WorkflowId(9)) == []

    def test_names_need_not_be_unicode(self, place: str) -> None:
        odd = "/h\udcf6me/\x01\0né.dag"
        crew = Crew.on(place, flow("a", source=odd))
        latest = crew.store.submissions.latest(odd)
        assert latest is not None and latest[0] == crew.workflow

    def test_commands_need_not_be_unicode(self, place: str) -> None:
        odd = "echo caf\udce9 \udcff"
        crew = Crew.on(place, groups(f"mqsub -l A\udce9 -c '{odd}'\n"))
        assert crew.take(1) == ["A\udce9"]
        assert [Spec.read(lease.spec).command for lease in crew.leases.values()] == [odd]
        assert [job.command for job in crew.store.watching.running()] == [odd]

    def test_counts_leave_milestones_out(self, place: str) -> None:
        crew = Crew.on(place, flow("abMc", "aM", "bM", "Mc"))
        assert crew.store.progress.counts(crew.workflow) == {State.ELIGIBLE: 2, State.WAITING: 1}

    def test_every_store_has_a_mark_of_its_own(self, place: str) -> None:
        assert len(opened(place).id) == 16

    # --- leases ----------------------------------------------------------------------------------------------------

    def test_smaller_ranks_come_first(self, place: str) -> None:
        assert Crew.on(place, flow("abc", ranks=[2, 0, 1])).take(3) == ["b", "c", "a"]

    def test_equal_ranks_come_in_the_order_they_became_eligible(self, place: str) -> None:
        crew = Crew.on(place, flow("abcd", "ac", "bd"))
        crew.take(2)
        crew.end("b")
        crew.end("a")
        assert crew.take(2) == ["d", "c"]

    def test_roots_come_before_those_that_became_eligible_later(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ab"))
        crew.run("a")
        assert crew.take(2) == ["c", "b"]

    def test_nobody_gets_more_than_wanted_and_nobody_gets_a_job_twice(self, place: str) -> None:
        crew = Crew.on(place, flow("abc"))
        assert crew.take(0) == [] and crew.take(2) == ["a", "b"] and crew.take(2) == ["c"] and crew.take(2) == []

    def test_a_lease_says_all_that_is_needed(self, place: str) -> None:
        crew = Crew.on(place, flow("a", cores={"a": 2}))
        crew.take(4)
        lease = crew.leases["a"]
        assert (lease.workflow, lease.job, lease.attempt, lease.cores, lease.time) == (crew.workflow, 0, 1, 2, 60.0)
        assert Spec.read(lease.spec).command == "true"
        assert lease.final

    def test_a_wide_job_at_the_front_waits_for_room(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", cores={"b": 2}))
        assert crew.take(2, slots=2) == ["a"]
        crew.end("a")
        assert crew.take(2, slots=2) == ["b"]

    def test_some_may_be_taken_ahead(self, place: str) -> None:
        crew = Crew.on(place, flow("abcde"))
        assert crew.take(1, slots=1, ahead=2) == ["a", "b", "c"]

    def test_what_is_taken_ahead_is_counted_over_all_workflows(self, place: str) -> None:
        crew = Crew.on(place, flow("abc"))
        other = crew.store.submissions.add(flow("def"), 1.0)
        got = crew.store.leases.exchange(crew.placeholder, [], Room(2, 2, 2), [crew.workflow, other], 2.0).leases
        assert [lease.name for lease in got] == ["a", "b", "c", "d"]

    def test_only_the_workflows_asked_for_are_served(self, place: str) -> None:
        crew = Crew.on(place, flow("ab"))
        other = crew.store.submissions.add(flow("cd"), 1.0)
        got = crew.store.leases.exchange(crew.placeholder, [], Room(4, 4), [other], 2.0).leases
        assert [lease.name for lease in got] == ["c", "d"] and crew.states() == "a:e b:e"

    # --- progress --------------------------------------------------------------------------------------------------

    def test_a_diamond(self, place: str) -> None:
        crew = Crew.on(place, flow("abcd", "ab", "ac", "bd", "cd"))
        crew.run("a")
        assert crew.take(4) == ["b", "c"]
        crew.end("c")
        assert crew.states() == "a:d b:r c:d d:w"
        crew.end("b")
        crew.run("d")
        assert crew.store.progress.counts(crew.workflow) == {State.DONE: 4}

    def test_two_parents_that_end_in_one_exchange_are_both_counted(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ac", "bc"))
        crew.take(2)
        assert crew.swap([crew.finish("a"), crew.finish("b")], 1) == ["c"]

    def test_milestones_end_at_once_and_pass_on(self, place: str) -> None:
        crew = Crew.on(place, flow("abMNc", "aM", "bM", "MN", "Nc"))
        crew.take(2)
        crew.end("a")
        assert crew.states() == "a:d b:r c:w"
        crew.end("b")
        assert crew.states() == "a:d b:d c:e"

    def test_a_failed_job_blocks_only_what_depends_on_it(self, place: str) -> None:
        crew = Crew.on(place, flow("abcd", "ac", "bd"))
        crew.run("a", exit_code=3)
        crew.run("b", "d")
        assert crew.states() == "a:f b:d c:w d:d"

    def test_retries_are_used_up_and_every_attempt_is_kept(self, place: str) -> None:
        crew = Crew.on(place, flow("a", retries=1))
        crew.run("a", exit_code=-9)
        assert crew.states() == "a:e"
        crew.run("a", exit_code=7)
        assert crew.states() == "a:f"
        assert crew.store.progress.failures(crew.workflow) == [("a", 0, 2, 7, "so", "local", "")]
        history = crew.store.progress.attempts(crew.workflow)
        assert [(name, number, host, code) for name, number, host, _, _, code, *_ in history] == [
            ("a", 1, "here", -9),
            ("a", 2, "here", 7),
        ]

    def test_an_attempt_keeps_what_was_measured(self, place: str) -> None:
        crew = Crew.on(place, flow("a"))
        crew.take()
        crew.swap([Finish(crew.leases["a"].id, 0, 1.25, 2.5, 3 << 32, 0.125)], 0)
        assert crew.store.progress.attempts(crew.workflow) == [("a", 1, "here", 1.25, 2.5, 0, 3 << 32, 0.125, None)]

    def test_a_job_that_is_tried_again_stands_behind_its_equals(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", retries=1))
        crew.run("a", exit_code=1)
        assert crew.take(2) == ["b", "a"]

    def test_what_is_given_back_is_next_again_and_counts_as_no_try(self, place: str) -> None:
        crew = Crew.on(place, flow("ab"))
        crew.take()
        crew.end("a", exit_code=None)
        assert crew.take(2) == ["a", "b"] and crew.leases["a"].attempt == 2
        crew.end("a")
        assert crew.states() == "a:d b:r"

    def test_failed_jobs_are_retried_when_their_user_wants_it(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ac", "bc", retries=1))
        crew.run("a", exit_code=1)
        crew.run("b")
        crew.run("a", exit_code=1)
        assert crew.store.submissions.retry_failed(crew.workflow) == 1 and crew.states() == "a:e b:d c:w"
        crew.run("a", exit_code=1)
        crew.run("a", "c")
        assert crew.store.submissions.retry_failed(crew.workflow) == 0 and crew.states() == "a:d b:d c:d"

    def test_a_weak_arc_needs_the_end_only_and_counts_once(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ac~", "bc"))
        crew.run("a", exit_code=1)
        assert crew.states() == "a:f b:e c:w"
        crew.store.submissions.retry_failed(crew.workflow)
        assert crew.take(2) == ["b", "a"]  # what is tried again comes after what has waited for longer
        crew.end("a")
        assert crew.states() == "a:d b:r c:w"
        crew.end("b")
        crew.run("c")

    # --- fencing ---------------------------------------------------------------------------------------------------

    def test_a_result_told_twice_counts_once_and_is_no_event(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ac", "bc"))
        crew.take(2)
        told = crew.finish("a")
        crew.swap([told, told], 0)
        crew.swap([told], 0)
        assert crew.states() == "a:d b:r c:w" and crew.store.history.events() == []

    def test_the_result_of_a_stale_lease_is_refused_and_noted(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", "ab"))
        crew.take()
        stale = crew.finish("a", 0)
        crew.end("a", exit_code=None)
        crew.take()
        crew.swap([stale], 0)
        assert crew.states() == "a:r b:w"
        (event,) = crew.store.history.events()
        assert (event.kind, event.workflow, event.job) == ("refused", crew.workflow, 0)
        crew.end("a")
        assert crew.states() == "a:d b:e"

    def test_a_lease_that_was_never_given_is_refused_and_noted(self, place: str) -> None:
        crew = Crew.on(place, flow("a"))
        crew.swap([Finish(LeaseId(77), 0)], 0)
        (event,) = crew.store.history.events()
        assert event.job is None and "77" in event.text

    def test_refused_results_do_not_harm_those_beside_them(self, place: str) -> None:
        crew = Crew.on(place, flow("ab"))
        crew.take(2)
        assert crew.swap([crew.finish("a"), Finish(LeaseId(77), 1), crew.finish("b")], 1) == []
        assert crew.states() == "a:d b:d"

    def test_leases_are_never_used_again(self, place: str) -> None:
        crew = Crew.on(place, flow("a", retries=50))
        seen = set()
        for _ in range(20):
            crew.take()
            seen.add(crew.leases["a"].id)
            crew.end("a", exit_code=1)
        assert len(seen) == 20

    # --- placeholders ----------------------------------------------------------------------------------------------

    def test_placeholders_share_the_work(self, place: str) -> None:
        one = Crew.on(place, flow("abc", "ac", "bc"))
        two = Crew(one.store, one.workflow, "there")
        assert one.take() == ["a"] and two.take() == ["b"]
        one.end("a")
        two.end("b")
        two.run("c")
        assert [attempt[:3] for attempt in one.store.progress.attempts(one.workflow)] == [
            ("a", 1, "here"),
            ("b", 1, "there"),
            ("c", 1, "there"),
        ]

    def test_open_leases_are_those_of_a_host_that_have_not_ended(self, place: str) -> None:
        one = Crew.on(place, flow("abc"))
        two = Crew(one.store, one.workflow, "there")
        one.take(2)
        two.take()
        one.end("a")
        assert one.store.leases.open_leases("here") == [one.leases["b"].id]
        assert one.store.leases.open_leases("there") == [two.leases["c"].id]
        assert one.store.leases.open_leases("nowhere") == []

    def test_who_leaves_gives_back_what_it_holds(self, place: str) -> None:
        one = Crew.on(place, flow("ab"))
        two = Crew(one.store, one.workflow)
        one.take()
        one.store.placeholders.leave(one.placeholder, 5000.0)
        assert one.store.leases.open_leases("here") == [] and two.take(2) == ["a", "b"]
        assert one.store.history.events() == []

    def test_attempts_that_go_on_are_given_to_another_placeholder(self, place: str) -> None:
        one = Crew.on(place, flow("abc", cores={"a": 2}))
        two = Crew(one.store, one.workflow)
        one.take(4)
        one.end("b")
        store, kept = one.store, one.leases["a"]
        assert store.leases.adopt(two.placeholder, [one.leases["b"].id, kept.id, LeaseId(999)]) == [kept]
        assert store.leases.held(two.placeholder) == [kept.id] and store.leases.held(one.placeholder) == [
            one.leases["c"].id
        ]
        three = Crew(store, one.workflow)
        store.placeholders.beat(two.placeholder, 1e9)
        assert three.lost(1e9) == [(one.workflow, 2)]
        one.end("a")
        assert one.states() == "a:d b:d c:e"

    def test_jobs_of_a_silent_placeholder_are_reclaimed(self, place: str) -> None:
        silent = Crew.on(place, flow("abc", "ac"))
        alive = Crew(silent.store, silent.workflow)
        silent.take()
        alive.take()
        store = silent.store
        store.placeholders.beat(silent.placeholder, 1_000_000.0)
        for at in range(0, 120, 10):
            store.placeholders.beat(alive.placeholder, 1_000_000.0 + at)
        assert store.placeholders.reclaim(alive.placeholder, 1_000_119.0) == []
        assert store.placeholders.reclaim(alive.placeholder, 1_000_121.0) == [(silent.workflow, 0)]
        assert silent.states() == "a:e b:r c:w"
        (event,) = store.history.events()
        assert (event.kind, event.job, event.time) == ("reclaimed", 0, 1_000_121.0)
        assert alive.take() == ["a"] and alive.leases["a"].attempt == 2
        silent.end("a")
        assert alive.states() == "a:r b:r c:w"
        assert [later.kind for later in store.history.events(event.id)] == ["refused"]
        alive.end("a")
        assert alive.states() == "a:d b:r c:e"
        assert store.progress.attempts(alive.workflow)[0][8] == "lost: its placeholder on here was silent"

    def test_a_placeholder_thought_lost_may_come_back(self, place: str) -> None:
        crew = Crew.on(place, flow("ab"))
        crew.take()
        other = Crew(crew.store, crew.workflow)
        assert other.lost(1e9) == [(crew.workflow, 0)] and other.lost(1e9) == []
        crew.store.placeholders.beat(crew.placeholder, 2e9)
        assert crew.take() == ["a"] and other.lost(2e9 + 100) == []
        assert other.lost(3e9) == [(crew.workflow, 0)]

    def test_after_an_outage_nobody_is_lost_who_had_no_time_to_speak(self, place: str) -> None:
        one = Crew.on(place, flow("ab"))
        two = Crew(one.store, one.workflow)
        one.take()
        for crew in (one, two):
            one.store.placeholders.beat(crew.placeholder, 1e6)
        one.store.placeholders.beat(
            two.placeholder, 1e6 + 140
        )  # the server was away for 140 seconds, and two is the first back
        assert one.store.placeholders.reclaim(two.placeholder, 1e6 + 140) == []
        one.store.placeholders.beat(two.placeholder, 1e6 + 160)
        assert one.store.placeholders.reclaim(two.placeholder, 1e6 + 160) == []
        one.store.placeholders.beat(two.placeholder, 1e6 + 175)
        assert one.store.placeholders.reclaim(two.placeholder, 1e6 + 175) == [
            (one.workflow, 0)
        ]  # by now one would have spoken

    def test_who_promises_to_speak_more_often_is_lost_sooner(self, place: str) -> None:
        store = opened(place)
        workflow = store.submissions.add(flow("a"), 1.0)
        quick, other = (
            store.placeholders.enter("there", 1, 1000.0, patience=2.0),
            store.placeholders.enter("here", 2, 1000.0),
        )
        store.leases.exchange(quick, [], Room(1, 1), [workflow], 1000.0)
        assert store.placeholders.reclaim(other, 1001.9) == [] and store.placeholders.reclaim(other, 1002.1) == [
            (workflow, 0)
        ]

    # --- ends that come late ---------------------------------------------------------------------------------------

    def test_a_late_end_counts_while_nobody_else_has_the_job(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", "ab"))
        crew.take()
        Crew(crew.store, crew.workflow).lost(1e9)
        assert crew.states() == "a:e b:w"
        crew.end("a")
        assert crew.states() == "a:d b:e"
        (attempt,) = crew.store.progress.attempts(crew.workflow)
        assert attempt[5] == 0 and attempt[8] is None

    def test_a_late_failure_uses_up_a_retry_like_any_other(self, place: str) -> None:
        crew = Crew.on(place, flow("a", retries=1))
        crew.take()
        Crew(crew.store, crew.workflow).lost(1e9)
        late = crew.finish("a", 1)
        crew.swap([late, late], 0)
        assert crew.states() == "a:e"
        crew.swap([late], 0)
        assert crew.states() == "a:e" and crew.take() == ["a"]
        crew.end("a", exit_code=1)
        assert crew.states() == "a:f"

    @pytest.mark.parametrize("verbs", [("redo",), ("disable", "enable"), ("stop", "enable"), ("done", "redo")])
    def test_a_late_end_is_refused_if_its_user_wanted_something_else_since(
        self, place: str, verbs: tuple[str, ...]
    ) -> None:
        crew = Crew.on(place, flow("ab", "ab"))
        crew.take()
        Crew(crew.store, crew.workflow).lost(1e9)
        for verb in verbs:
            crew.steer(verb, "a")
        crew.end("a")
        assert crew.states() == "a:e b:w"
        assert [event.kind for event in crew.store.history.events()] == ["reclaimed", "refused"]

    def test_a_late_end_is_refused_if_its_file_was_edited_since(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", "ab"))
        crew.take()
        Crew(crew.store, crew.workflow).lost(1e9)
        crew.store.submissions.add(flow("abc", "ab"), 1e9, crew.workflow)
        crew.end("a")
        assert crew.states() == "a:e b:w"

    def test_who_comes_back_late_keeps_what_nobody_took_and_hears_what_is_lost(self, place: str) -> None:
        one = Crew.on(place, flow("abc"))
        two = Crew(one.store, one.workflow)
        one.take(2)
        two.lost(1e9)
        assert two.take() == ["a"]
        a, b = one.leases["a"].id, one.leases["b"].id
        answer = one.store.leases.exchange(one.placeholder, [], Room(1, 9), [one.workflow], 1e9 + 1, holds=[a, b])
        assert answer.lost == (a,) and [lease.name for lease in answer.leases] == ["c"]
        assert one.states() == "a:r b:r c:r" and one.store.leases.held(one.placeholder)[0] == b
        one.end("b")
        assert one.states() == "a:r b:d c:r"

    def test_who_takes_over_from_a_dead_one_hears_what_is_to_end_and_is_not_lost_with_it(self, place: str) -> None:
        dead = Crew.on(place, flow("ab"))
        dead.take(2)
        heir, other = Crew(dead.store, dead.workflow), Crew(dead.store, dead.workflow)
        leases = [dead.leases[name].id for name in "ab"]
        dead.store.leases.adopt(heir.placeholder, leases)
        assert dead.store.leases.exchange(heir.placeholder, [], Room(0, 2), [], 5000.0, holds=leases).stops == ()
        dead.steer("stop", "a")
        answer = dead.store.leases.exchange(heir.placeholder, [], Room(0, 2), [], 1e9, holds=leases)
        assert answer.stops == (leases[0],) and answer.lost == () and other.lost(1e9) == []

    def test_leases_that_their_placeholder_does_not_know_of_are_given_back(self, place: str) -> None:
        crew = Crew.on(place, flow("ab"))
        crew.take(2)
        answer = crew.store.leases.exchange(
            crew.placeholder, [], Room(0, 2), [crew.workflow], 5000.0, holds=[crew.leases["b"].id]
        )
        assert crew.states() == "a:e b:r" and answer.lost == ()

    # --- what the answer says of the rest --------------------------------------------------------------------------

    def test_a_workflow_is_over_when_nothing_runs_anywhere_and_nothing_will(self, place: str) -> None:
        one = Crew.on(place, flow("ab", "ab"))
        two = Crew(one.store, one.workflow)
        one.take()
        assert two.over() == ((), ())  # b will come
        one.end("a", exit_code=1)
        assert two.over() == ((one.workflow,), ())

    def test_what_others_run_is_not_over(self, place: str) -> None:
        one = Crew.on(place, flow("a"))
        two = Crew(one.store, one.workflow)
        one.take()
        assert two.over() == ((), ())
        one.end("a")
        assert two.over() == ((one.workflow,), ()) == one.over()

    def test_jobs_that_nobody_takes_are_said_to_be_there(self, place: str) -> None:
        wanting = Job("true", resources=Resources(named=(("gpu", 1),)))
        flat = Flat(Dag(["a"], [], []), [wanting], frozenset())
        crew = Crew.on(place, Submission("flow", "/flow.dag", "/somewhere", flat, [0]))
        assert crew.over() == ((), (crew.workflow,))


class LastingStoreContract(StoreContract):
    """For stores that outlive the process."""

    def test_all_is_there_when_it_is_opened_again(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ac", "bc", ranks=[1, 0, 2]))
        crew.take()
        crew.end("b")
        crew.take()
        mark = crew.store.id
        crew.store.close()
        store = opened(place)
        assert store.id == mark and states(store, crew.workflow) == "a:r b:d c:w"
        assert store.leases.open_leases("here") == [crew.leases["a"].id]
        crew.store = store
        crew.end("a")
        crew.run("c")

    def test_several_connections_see_each_other(self, place: str) -> None:
        one = Crew.on(place, flow("abc", "ac", "bc"))
        two = Crew(opened(place), one.workflow)
        one.take()
        two.take()
        one.end("a")
        two.end("b")
        assert one.take() == ["c"] and two.take() == []

    def test_workers_of_their_own_processes_do_every_job_once_and_in_order(self, place: str, tmp_path: Path) -> None:
        from tests.contracts.workers import crowd

        crowd(place, tmp_path)

    def test_a_client_killed_between_two_statements_leaves_no_trace(self, place: str) -> None:
        from tests.contracts.workers import killed_in_exchange

        killed_in_exchange(place)

    def test_a_client_killed_while_it_submits_leaves_no_trace(self, place: str) -> None:
        from tests.contracts.workers import killed_in_add

        killed_in_add(place)

    def test_a_client_killed_while_it_forgets_leaves_all_as_it_was(self, place: str) -> None:
        from tests.contracts.workers import killed_in_forget

        killed_in_forget(place)

    def test_who_steers_and_who_works_at_the_same_time_do_not_disturb_each_other(self, place: str) -> None:
        from tests.contracts.workers import steered_crowd

        steered_crowd(place)

    def test_a_client_killed_while_it_steers_leaves_no_trace(self, place: str) -> None:
        from tests.contracts.workers import killed_in_steer

        killed_in_steer(place)
