"""How workflows are steered, defined: every store passes this."""

from __future__ import annotations

import pytest

from headway.engine.explain import because
from headway.live.store import opened
from headway.model.errors import HeadwayError
from headway.model.job import Job, Rules, Script
from headway.model.messages import LeaseId, WorkflowId
from headway.model.states import Kind, State
from headway.model.workflow import Workflow
from tests.contracts.crew import Crew, flow, groups, submission

EARLY = """\
mqsub -l A -c true -attr release=yes
mqsub -l A -c true
mqsub -deps A -l B -c true
mqsub -deps B -l C -c true
"""
# The same through two levels of supergroups.
DEEP = """\
mqsub -l X/Y/A -c true -attr release=yes
mqsub -l X/Y/A -c true
mqsub -deps X -l B -c true
mqsub -deps B -l C -c true
"""


def processes(*names: str) -> Workflow:
    """One node of three processes, and jobs after it."""
    workflow = Workflow()
    before = ""
    for name in ("n", *names):
        before = workflow.job(name, "true", before or ()).name
    node = workflow.groups.get("n")
    assert node is not None
    node.jobs = [Job("true", parts=(Job("true"), Job("true"), Job("true")))]
    return workflow


class SteeringContract:
    """`place` is what `opened` takes, for an empty store."""

    # --- enable and disable ----------------------------------------------------------------------------------------

    def test_what_is_disabled_is_not_started_until_it_is_enabled(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ac"))
        assert crew.steer("disable", "a", "c") == "a c"
        assert crew.states() == "a:x b:e c:w" and crew.take(3) == ["b"]
        assert crew.steer("disable", "a") == ""
        assert crew.steer("enable", "a", "c") == "a c"
        crew.run("a", "c")

    def test_what_becomes_eligible_while_disabled_is_not_started(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", "ab"))
        crew.steer("disable", "b")
        crew.run("a")
        assert crew.states() == "a:d b:x" and crew.take() == []
        crew.steer("enable", "b")
        crew.run("b")

    def test_what_runs_when_it_is_disabled_goes_on_and_is_not_tried_again(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", retries=1))
        crew.take(2)
        crew.steer("disable", "a", "b")
        crew.end("a")
        crew.end("b", exit_code=1)
        assert crew.states() == "a:d b:x"

    def test_a_workflow_with_only_disabled_jobs_left_is_over(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ab"))
        crew.steer("disable", "b", "c")
        assert crew.store.progress.is_under_way(crew.workflow)
        crew.run("a")
        assert not crew.store.progress.is_under_way(crew.workflow)

    def test_failed_jobs_that_are_disabled_are_not_retried(self, place: str) -> None:
        crew = Crew.on(place, flow("a"))
        crew.run("a", exit_code=1)
        crew.steer("disable", "a")
        crew.store.submissions.retry_failed(crew.workflow)
        assert crew.states() == "a:x"

    # --- stop ------------------------------------------------------------------------------------------------------

    def test_what_is_stopped_is_told_to_end_and_is_disabled_then(self, place: str) -> None:
        crew = Crew.on(place, flow("ab"))
        crew.take()
        assert crew.steer("stop", "a", "b") == "a b"
        assert crew.store.leases.stop_requests(crew.placeholder) == [(crew.leases["a"].id, "its user has stopped it")]
        crew.end("a", exit_code=None)
        assert crew.states() == "a:x b:x" and crew.store.leases.stop_requests(crew.placeholder) == []
        crew.steer("enable", "a")
        crew.run("a")
        assert crew.store.leases.stop_requests(crew.placeholder) == []

    def test_what_has_ended_well_before_it_could_be_stopped_is_done(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", "ab"))
        crew.take()
        crew.steer("stop", "a")
        crew.end("a")
        assert crew.states() == "a:d b:e"

    def test_a_node_that_is_stopped_ends_with_the_last_of_its_processes(self, place: str) -> None:
        crew = Crew.on(place, submission(processes("b")))
        assert crew.take(2) == ["n/0", "n/1"] and crew.states() == "n:r b:w"
        crew.end("n/0")
        assert crew.steer("stop", "n") == "n"
        assert [lease for lease, _ in crew.store.leases.stop_requests(crew.placeholder)] == [crew.leases["n/1"].id]
        assert crew.take(3) == [] and crew.states() == "n:r b:w"
        crew.end("n/1", exit_code=None)
        assert crew.states() == "n:x b:w" and not crew.store.progress.is_under_way(crew.workflow)
        crew.steer("enable", "n")
        assert crew.take(3) == ["n/0", "n/1", "n/2"]
        crew.end("n/0", "n/1", "n/2")
        crew.run("b")

    def test_a_node_that_is_stopped_while_none_of_its_processes_runs_begins_all_of_them_anew(self, place: str) -> None:
        crew = Crew.on(place, submission(processes()))
        crew.take(1)
        crew.end("n/0")
        assert crew.steer("stop", "n") == "n" and crew.states() == "n:x"
        assert crew.steer("enable", "n") == "n" and crew.take(3) == ["n/0", "n/1", "n/2"]

    def test_a_node_that_is_enabled_before_it_has_stopped_goes_on(self, place: str) -> None:
        crew = Crew.on(place, submission(processes("b")))
        assert crew.take(1) == ["n/0"]
        crew.steer("stop", "n")
        crew.steer("enable", "n")
        crew.end("n/0", exit_code=None)
        assert sorted(crew.take(3)) == ["n/0", "n/1", "n/2"]
        crew.end("n/0", "n/1", "n/2")
        assert crew.states() == "n:d b:e"

    def test_a_node_that_is_disabled_starts_no_further_process_and_goes_on_with_them_when_it_is_enabled(
        self, place: str
    ) -> None:
        crew = Crew.on(place, submission(processes("b")))
        crew.take(1)
        assert crew.steer("disable", "n", "b") == "n b"
        assert crew.take(3) == [] and crew.states() == "n:r b:w" and crew.store.progress.is_under_way(crew.workflow)
        crew.end("n/0")
        assert crew.states() == "n:x b:w" and not crew.store.progress.is_under_way(crew.workflow)
        assert crew.steer("enable", "n") == "n" and crew.take(3) == ["n/1", "n/2"]
        crew.end("n/1", "n/2")
        assert crew.states() == "n:d b:x"

    def test_a_node_that_is_disabled_before_a_process_runs_or_is_enabled_while_one_does_goes_on(
        self, place: str
    ) -> None:
        crew = Crew.on(place, submission(processes()))
        assert crew.take(1) == ["n/0"]
        crew.end("n/0", exit_code=None)
        crew.steer("disable", "n")
        assert crew.states() == "n:x"
        crew.steer("enable", "n")
        assert crew.take(1) == ["n/0"]
        crew.steer("disable", "n")
        crew.steer("enable", "n")
        assert crew.states() == "n:r" and crew.take(3) == ["n/1", "n/2"]
        crew.end("n/0", "n/1", "n/2")
        assert crew.states() == "n:d"

    def test_a_process_of_a_disabled_node_that_fails_fails_the_node(self, place: str) -> None:
        crew = Crew.on(place, submission(processes()))
        crew.take(1)
        crew.steer("disable", "n")
        crew.end("n/0", exit_code=3)
        assert crew.states() == "n:f"

    def test_a_disabled_node_that_is_stopped_or_done_anew_begins_with_its_first_process(self, place: str) -> None:
        for verb in ("stop", "redo"):
            crew = Crew.on(place, submission(processes(), source=f"/{verb}"))
            crew.take(2)
            crew.end("n/0")
            crew.steer("disable", "n")
            if verb == "redo":
                crew.end("n/1")
            crew.steer(verb, "n")
            if verb == "stop":
                crew.end("n/1", exit_code=None)
            assert crew.states() == "n:x"
            crew.steer("enable", "n")
            assert crew.take(3) == ["n/0", "n/1", "n/2"]

    # --- done ------------------------------------------------------------------------------------------------------

    def test_what_is_called_done_is_not_run_and_lets_others_go_on(self, place: str) -> None:
        crew = Crew.on(place, flow("abMcd", "aM", "bM", "Mc", "cd"))
        crew.run("a", exit_code=1)
        assert crew.steer("done", "a", "b") == "a b" and crew.states() == "a:d b:d c:e d:w"
        assert crew.steer("done", "d") == "d" and crew.take(4) == ["c"]
        crew.end("c")
        assert crew.states() == "a:d b:d c:d d:d" and crew.steer("done", "d") == ""

    def test_what_runs_cannot_be_called_done(self, place: str) -> None:
        crew = Crew.on(place, flow("abc"))
        crew.take(2)
        with pytest.raises(HeadwayError, match=r"^a, b run now and cannot be called done\. Stop them first"):
            crew.steer("done", "a", "b", "c")
        assert crew.states() == "a:r b:r c:e"

    def test_a_weak_arc_counts_once_though_its_failed_parent_is_called_done(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ac~", "bc"))
        crew.run("a", exit_code=1)
        crew.steer("done", "a")
        assert crew.states() == "a:d b:e c:w"

    # --- redo ------------------------------------------------------------------------------------------------------

    def test_redo_begins_anew_with_all_that_depends_on_it(self, place: str) -> None:
        crew = Crew.on(place, flow("abcd", "ab", "ac", "bd", "cd", retries=1))
        crew.run("a")
        crew.run("b", "c", "d")
        assert crew.steer("redo", "b") == "b d" and crew.states() == "a:d b:e c:d d:w"
        crew.run("b", exit_code=1)
        assert crew.states() == "a:d b:e c:d d:w"
        crew.run("b", "d")
        assert crew.steer("redo", "a") == "a b c d" and crew.states() == "a:e b:w c:w d:w"
        crew.run("a", "b", "c", "d")

    def test_redo_takes_back_what_milestones_passed_on(self, place: str) -> None:
        crew = Crew.on(place, flow("aMNbOc", "aM", "MN", "Nb", "Ob"))
        crew.run("a", "c", "b")
        assert crew.steer("redo", "a") == "a b" and crew.states() == "a:e b:w c:d"
        crew.run("a", "b")

    def test_redo_of_failed_jobs_gives_all_their_tries_back(self, place: str) -> None:
        crew = Crew.on(place, flow("a", retries=1))
        crew.run("a", "a", exit_code=1)
        assert crew.steer("redo", "a") == "a"
        crew.run("a", exit_code=1)
        crew.run("a")

    def test_redo_of_what_has_not_begun_changes_nothing(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", "ab"))
        assert crew.steer("redo", "a") == "" and crew.states() == "a:e b:w"

    def test_redo_is_refused_while_some_of_it_runs(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ab", "bc"))
        crew.run("a")
        crew.take()
        with pytest.raises(HeadwayError, match=r"^b runs now and cannot be run again\. Stop it first"):
            crew.steer("redo", "a")
        assert crew.states() == "a:d b:r c:w"
        assert crew.steer("redo", "c") == ""

    def test_a_weak_arc_that_was_spent_counts_anew(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", "ab~"))
        crew.run("a", exit_code=1)
        crew.run("b")
        assert crew.steer("redo", "a") == "a b" and crew.states() == "a:e b:w"
        crew.run("a", exit_code=1)
        crew.run("b")

    def test_redo_only_leaves_the_rest_but_what_has_not_begun_waits(self, place: str) -> None:
        crew = Crew.on(place, flow("aMbcde", "ab", "aM", "Mc", "ad", "ce"))
        crew.run("a", "b")
        crew.take()
        crew.steer("disable", "e")
        assert crew.states() == "a:d b:d c:e d:r e:w"
        assert crew.steer("redo", "a", only=True) == "a"
        assert crew.states() == "a:e b:d c:w d:r e:w"
        crew.end("d", exit_code=None)
        assert crew.states() == "a:e b:d c:w d:w e:w"
        crew.run("a")
        assert crew.states() == "a:d b:d c:e d:e e:w"

    def test_a_failed_job_is_not_retried_before_its_parent_is_done_anew(self, place: str) -> None:
        crew = Crew.on(place, flow("ab", "ab"))
        crew.run("a")
        crew.run("b", exit_code=1)
        crew.steer("redo", "a", only=True)
        crew.store.submissions.retry_failed(crew.workflow)
        assert crew.states() == "a:e b:w"
        crew.run("a", "b")

    def test_what_is_disabled_is_still_disabled_when_it_is_done_anew(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", "ab", "bc"))
        crew.run("a", "b", "c")
        assert crew.steer("disable", "c") == "c" and crew.states() == "a:d b:d c:d"
        assert crew.steer("redo", "b") == "b c"
        crew.run("b")
        assert crew.states() == "a:d b:d c:x"

    def test_redo_of_a_node_begins_all_its_processes_anew(self, place: str) -> None:
        crew = Crew.on(place, submission(processes("b")))
        crew.take(3)
        crew.end("n/0", "n/1", "n/2")
        crew.run("b")
        assert crew.steer("redo", "n") == "n b" and crew.states() == "n:e b:w"
        assert crew.take(9) == ["n/0", "n/1", "n/2"]

    def test_redo_of_a_node_begins_with_its_first_step(self, place: str) -> None:
        workflow = Workflow()
        rules = Rules(pre=Script("pre.sh"), post=Script("post.sh"), retries=1)
        workflow.job("n", "true").jobs = [Job("true", rules=rules)]
        crew = Crew.on(place, submission(workflow))
        crew.run("n", "n", "n")
        assert crew.states() == "n:d"
        crew.steer("redo", "n")
        crew.take()
        assert crew.leases["n"].step == 1

    def test_the_final_job_runs_again_after_what_is_done_anew(self, place: str) -> None:
        workflow = Workflow()
        workflow.job("a", "true")
        crew = Crew.on(place, submission(workflow, (Kind.FINAL, "end")))
        crew.run("a", "end")
        assert crew.states() == "a:d end:d"
        assert crew.steer("redo", "a") == "a" and crew.states() == "a:e end:w"
        crew.run("a")
        assert crew.take() == ["end"]
        with pytest.raises(HeadwayError, match="end runs now"):
            crew.steer("redo", "a")

    def test_a_final_job_that_is_disabled_is_not_run(self, place: str) -> None:
        workflow = Workflow()
        workflow.job("a", "true")
        crew = Crew.on(place, submission(workflow, (Kind.FINAL, "end")))
        crew.steer("disable", "end")
        crew.run("a")
        assert crew.take() == [] and crew.states() == "a:d end:x"
        crew.steer("enable", "end")
        crew.run("end")

    # --- early release ---------------------------------------------------------------------------------------------

    @pytest.mark.parametrize(("text", "name"), [(EARLY, "A"), (DEEP, "X/Y/A")])
    def test_a_failure_after_the_release_flags_dependents_and_redo_covers_them(
        self, place: str, text: str, name: str
    ) -> None:
        crew = Crew.on(place, groups(text))
        crew.run(name)
        assert crew.take(2) == [f"{name}#2", "B"]
        crew.end("B")
        crew.end(f"{name}#2", exit_code=1)
        crew.run("C")
        assert crew.store.watching.premature_starts(crew.workflow) == [("B", f"{name}#2")]
        assert crew.steer("redo", f"{name}#2") == f"{name}#2 B C"
        assert (
            crew.store.watching.premature_starts(crew.workflow) == []
            and crew.states() == f"{name}:d {name}#2:e B:e C:w"
        )

    def test_a_doubt_is_over_when_the_failed_job_is_done_after_all(self, place: str) -> None:
        crew = Crew.on(place, groups(EARLY))
        crew.run("A")
        crew.take(2)
        crew.end("B")
        crew.end("A#2", exit_code=1)
        assert crew.store.watching.premature_starts(crew.workflow) == [("B", "A#2")]
        crew.steer("done", "A#2")
        assert crew.store.watching.premature_starts(crew.workflow) == []

    def test_who_is_called_done_is_not_in_doubt(self, place: str) -> None:
        crew = Crew.on(place, groups(EARLY))
        crew.run("A")
        assert crew.take() == ["A#2"]
        crew.end("A#2", exit_code=1)
        assert crew.store.watching.premature_starts(crew.workflow) == [("B", "A#2")]
        crew.steer("done", "B")
        assert crew.store.watching.premature_starts(crew.workflow) == []

    # --- what jobs say ---------------------------------------------------------------------------------------------

    def test_a_job_says_how_it_is_while_it_has_its_lease(self, place: str) -> None:
        crew = Crew.on(place, flow("a"))
        crew.take()
        lease = crew.leases["a"].id
        assert crew.store.steering.say(lease, "half") and crew.store.steering.say(lease, "h\udcf6lf \0 done")
        assert [job.status for job in crew.store.watching.running()] == ["h\udcf6lf \0 done"]
        crew.end("a")
        assert not crew.store.steering.say(lease, "all") and not crew.store.steering.say(LeaseId(77), "")

    def test_a_provisioner_that_says_it_is_ready_lets_the_rest_go_on_once(self, place: str) -> None:
        workflow = Workflow()
        workflow.job("b", "true", [workflow.job("a", "true").name])
        crew = Crew.on(place, submission(workflow, (Kind.PROVISIONER, "p")))
        assert crew.take(3) == ["p"]
        lease = crew.leases["p"].id
        assert crew.store.steering.ready(lease) and not crew.store.steering.ready(lease)
        assert crew.states() == "a:e b:w p:r" and crew.store.steering.miscounted(crew.workflow) == []
        crew.end("p")
        assert crew.states() == "a:e b:w p:d" and crew.store.steering.miscounted(crew.workflow) == []
        crew.run("a")
        assert not crew.store.steering.ready(lease) and not crew.store.steering.ready(crew.leases["a"].id)
        assert crew.steer("redo", "p") == "a b p" and crew.states() == "a:w b:w p:e"
        crew.run("p", "a", "b")

    def test_a_provisioner_that_runs_again_with_its_workflow_lets_nobody_go_twice(self, place: str) -> None:
        workflow = Workflow()
        workflow.job("b", "true", [workflow.job("a", "true").name])
        crew = Crew.on(place, submission(workflow, (Kind.PROVISIONER, "p")))
        crew.run("p")
        crew.run("a", exit_code=1)
        crew.store.submissions.retry_failed(crew.workflow)
        crew.store.submissions.resume(crew.workflow)
        assert crew.states() == "a:e b:w p:e"
        assert sorted(crew.take(3)) == ["a", "p"]
        crew.end("p")
        assert crew.states() == "a:r b:w p:d" and crew.store.steering.miscounted(crew.workflow) == []

    def test_only_what_is_there_can_be_steered(self, place: str) -> None:
        store = opened(place)
        number = store.submissions.add(flow("a"), 1.0)
        with pytest.raises(HeadwayError, match="no verb"):
            store.steering.steer("paint", number, [(0, 0)])
        assert store.steering.steer("disable", number, [(5, 9)]) == ([], [])

    # --- watching --------------------------------------------------------------------------------------------------

    def test_workflows_are_listed_with_their_counts_the_latest_first(self, place: str) -> None:
        crew = Crew.on(place, flow("abMc", "aM", "Mc"))
        other = crew.store.submissions.add(flow("d", source="/other.dag"), 7.0)
        crew.steer("disable", "c")
        assert [(one.id, one.name, one.source) for one in crew.store.watching.workflows()] == [
            (other, "flow", "/other.dag"),
            (crew.workflow, "flow", "/flow.dag"),
        ]
        counts = {crew.workflow: {State.ELIGIBLE: 2, State.DISABLED: 1}, other: {State.ELIGIBLE: 1}}
        assert {one: seen.counts for one, seen in crew.store.watching.seen_counts().items()} == counts
        assert {one: seen.counts for one, seen in crew.store.watching.seen_counts(other).items()} == {
            other: counts[other]
        }

    def test_groups_are_found_by_path_and_jobs_by_name(self, place: str) -> None:
        crew = Crew.on(place, groups(DEEP))
        store, number = crew.store, crew.workflow
        assert [span.path for span in store.places.groups(number)] == ["X", "X/Y", "X/Y/A"]
        span = store.places.group(number, "X/Y/A")
        assert span is not None and [job.name for job in store.places.seen(number, span.first, span.last)] == [
            "X/Y/A",
            "X/Y/A#2",
        ]
        single = store.places.group(number, "B")
        assert single is not None and single.first == single.last == store.places.place(number, "B")
        assert store.places.group(number, "Z") is None and store.places.place(number, "X") is None

    def test_what_a_group_waits_for_is_told_done_or_not(self, place: str) -> None:
        crew = Crew.on(place, flow("abMNcd", "aM", "bM", "MN", "Nc", "cd", "ad"))
        crew.run("a")
        store, number = crew.store, crew.workflow
        assert store.places.awaited_by(number, 4, 5) == ["a", "b"] and store.places.awaited_by(number, 5, 5) == [
            "a",
            "c",
        ]
        assert store.places.awaited_by(number, 0, 0) == []

    def test_what_runs_is_told_with_its_command_and_host(self, place: str) -> None:
        crew = Crew.on(place, submission(processes("b")))
        crew.take(2)
        found = crew.store.watching.running(crew.workflow)
        assert [(job.name, job.command, job.host, job.attempt, job.status) for job in found] == [
            ("n/0", "true", "here", 1, ""),
            ("n/1", "true", "here", 1, ""),
        ]
        assert crew.store.watching.running(WorkflowId(99)) == [] and crew.store.watching.running() == found

    def test_placeholders_that_gave_a_sign_of_life_are_present(self, place: str) -> None:
        crew = Crew.on(place, flow("a"))
        crew.store.placeholders.beat(crew.placeholder, 5000.0)
        assert crew.store.watching.present(5030.0) == 1 and crew.store.watching.present(5100.0) == 0
        crew.store.placeholders.leave(crew.placeholder, 5030.0)
        assert crew.store.watching.present(5030.0) == 0

    def why(self, crew: Crew, name: str, is_served: bool = True) -> list[str]:
        place = crew.store.places.place(crew.workflow, name)
        assert place is not None
        return because(crew.store.watching.facts(crew.workflow, place, is_served), 1e6)

    def test_it_is_explained_what_a_job_waits_for(self, place: str) -> None:
        crew = Crew.on(place, flow("abcMdef", "ac", "cM", "bM", "Md", "ad", "de"))
        crew.run("a")
        crew.run("b", exit_code=2)
        assert self.why(crew, "d") == [
            "It waits for b (failed), c (eligible).",
            "It cannot start until b succeeds. Retry it: headway run --retry, or headway redo b.",
        ]
        crew.steer("disable", "c")
        assert self.why(crew, "e") == [
            "It waits for d (waiting).",
            "It cannot start until b succeeds. Retry it: headway run --retry, or headway redo b.",
            "It cannot start: c is disabled. Enable: headway enable.",
        ]
        assert self.why(crew, "c") == ["It is disabled: it is not started until somebody enables it (headway enable)."]
        assert self.why(crew, "a") == ["It is done, at attempt 1 on here."]
        assert self.why(crew, "b")[0] == "It failed at its only try: exit code 2 (so)."

    def test_it_is_explained_who_comes_before_a_job_that_may_run(self, place: str) -> None:
        crew = Crew.on(place, flow("abc", ranks=[2, 1, 0]))
        assert self.why(crew, "a") == ["It may run, and waits for a slot: 2 jobs are before it, 0 running."]
        assert self.why(crew, "c") == ["It may run, and is next."]
        crew.take()
        assert self.why(crew, "b") == ["It is next, and waits for a slot: 1 job is running."]
        assert self.why(crew, "b", is_served=False) == ["Nobody runs this workflow now: headway run goes on with it."]

    def test_it_is_explained_that_a_category_is_full(self, place: str) -> None:
        workflow = Workflow(throttles={"disk": 1})
        for name in "ab":
            workflow.job(name, "true").jobs = [Job("true", rules=Rules(category="disk"))]
        crew = Crew.on(place, submission(workflow))
        assert crew.take(2) == ["a"]
        assert self.why(crew, "b")[0] == "Its category disk is full: a runs, and no more than 1 may at once."

    def test_it_is_explained_when_a_job_is_tried_again(self, place: str) -> None:
        workflow = Workflow()
        workflow.job("a", "true").jobs = [Job("true", rules=Rules(retries=3, back_off=1e6))]
        crew = Crew.on(place, submission(workflow))
        crew.run("a", exit_code=1)
        assert self.why(crew, "a")[1:] == ["It has failed 1 of 4 times."]
        assert self.why(crew, "a")[0].startswith("It will be tried again in ")
        crew.steer("disable", "a")
        assert crew.states() == "a:x" and "disabled" in self.why(crew, "a")[-1]

    def test_a_workflow_whose_last_job_is_put_off_and_disabled_is_over(self, place: str) -> None:
        workflow = Workflow()
        workflow.job("a", "true").jobs = [Job("true", rules=Rules(retries=3, back_off=1e6))]
        crew = Crew.on(place, submission(workflow))
        crew.run("a", exit_code=1)
        assert crew.store.progress.is_under_way(crew.workflow)
        crew.steer("disable", "a")
        assert not crew.store.progress.is_under_way(crew.workflow)
        crew.steer("enable", "a")
        assert crew.states() == "a:l" and crew.take() == []  # it still waits for its time

    def test_a_job_that_is_disabled_while_it_runs_and_then_put_off_is_not_waited_for(self, place: str) -> None:
        workflow = Workflow()
        workflow.job("a", "true").jobs = [Job("true", rules=Rules(retries=3, back_off=1e6))]
        crew = Crew.on(place, submission(workflow))
        crew.take()
        crew.steer("disable", "a")
        crew.end("a", exit_code=1)
        assert crew.states() == "a:x" and not crew.store.progress.is_under_way(crew.workflow)

    def test_it_is_explained_that_a_job_is_in_doubt(self, place: str) -> None:
        crew = Crew.on(place, groups(EARLY))
        crew.run("A")
        crew.take(2)
        crew.end("B")
        crew.end("A#2", exit_code=1)
        assert "in doubt" in self.why(crew, "B")[-1] and "A#2" in self.why(crew, "B")[-1]
        assert self.why(crew, "C") == ["It may run, and is next."]
