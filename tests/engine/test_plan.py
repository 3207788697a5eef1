"""What happens to each job of a run, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.engine.plan import Judged, Known, plan
from headway.model.flatten import Flat, flatten
from headway.model.part import part
from headway.model.states import State
from headway.model.workflow import Workflow


def chain(*names: str) -> Flat:
    """Jobs one after the other."""
    workflow = Workflow()
    before: list[str] = []
    for name in names:
        workflow.job(name, "true", after=before)
        before = [name]
    return flatten(workflow)


def reasons(
    flat: Flat,
    known: Mapping[str, Known] | None = None,
    until: Sequence[str] = (),
    since: Sequence[str] = (),
    judged: tuple[Sequence[str], Mapping[str, str]] = ((), {}),
    retry: bool = False,
) -> dict[str, str]:
    place = {name: node for node, name in enumerate(flat.dag.names)}
    made = plan(
        flat,
        {place[name]: one for name, one in (known or {}).items()},
        part(flat, until, since),
        Judged(frozenset(place[name] for name in judged[0]), {place[name]: why for name, why in judged[1].items()}),
        retry,
    )
    return {
        flat.dag.names[node]: f"{'runs' if verdict.runs else 'no'}: {verdict.reason}"
        for node, verdict in enumerate(made.verdicts)
        if verdict is not None
    }


DONE, FAILED = Known(State.DONE, True), Known(State.FAILED, True)


def test_a_new_workflow_runs_as_a_whole() -> None:
    assert reasons(chain("a", "b")) == {"a": "runs: never run", "b": "runs: never run"}


def test_done_jobs_stay_done_and_begun_ones_run_again() -> None:
    assert reasons(chain("a", "b", "c"), {"a": DONE, "b": Known(State.ELIGIBLE, True)}) == {
        "a": "no: done by an earlier run",
        "b": "runs: begun before, and not done",
        "c": "runs: never run",
    }


def test_what_hangs_on_a_failed_or_disabled_job_is_told_which() -> None:
    flat = chain("a", "b", "c")
    assert reasons(flat, {"a": FAILED}) == {
        "a": "no: failed before; --retry tries it again",
        "b": "no: after a, which failed before",
        "c": "no: after a, which failed before",
    }
    assert reasons(flat, {"a": FAILED}, retry=True)["a"] == "runs: failed before, and --retry"
    assert reasons(flat, {"b": Known(State.DISABLED, off=True)}) == {
        "a": "runs: never run",
        "b": "no: disabled",
        "c": "no: after b, which is disabled",
    }


def test_a_job_that_only_wants_its_parent_to_have_ended_runs_after_a_failed_one() -> None:
    workflow = Workflow()
    workflow.job("a", "true")
    workflow.job("b", "true")
    workflow.groups.arc(0, 1, weak=True)
    assert reasons(flatten(workflow), {"a": FAILED})["b"] == "runs: never run"
    disabled = Known(State.FAILED, begun=True, off=True)
    assert reasons(flatten(workflow), {"a": disabled}, retry=True)["b"] == "runs: never run"
    assert reasons(flatten(workflow), {"a": Known(off=True)}, retry=True)["b"].startswith("no: ")


def test_until_leaves_the_rest_out() -> None:
    assert reasons(chain("a", "b", "c"), {"a": DONE}, until=["b"]) == {
        "a": "no: done by an earlier run",
        "b": "runs: never run",
        "c": "no: not asked for",
    }


def test_from_runs_what_is_done_and_takes_what_comes_before_as_done() -> None:
    flat = chain("a", "b", "c", "d")
    assert reasons(flat, {"b": DONE, "c": FAILED, "d": DONE}, since=["b"]) == {
        "a": "no: taken as done: before --from",
        "b": "runs: asked for by --from",
        "c": "runs: after b, which runs",
        "d": "runs: after c, which runs",
    }
    assert reasons(flat, since=["c"])["d"] == "runs: never run"


def test_what_make_calls_up_to_date_is_skipped_unless_it_was_begun_and_not_ended() -> None:
    flat = chain("a", "b", "c")
    assert reasons(flat, judged=(["a", "b"], {})) == {
        "a": "no: up to date",
        "b": "no: up to date",
        "c": "runs: never run",
    }
    assert reasons(flat, {"b": Known(State.ELIGIBLE, True)}, judged=(["a", "b"], {}))["b"].startswith("runs: begun")
    assert reasons(flat, {"b": FAILED}, judged=(["a", "b"], {}))["b"].startswith("no: failed before")
    assert reasons(flat, judged=(["a", "b", "c"], {}), since=["b"]) == {
        "a": "no: taken as done: before --from",
        "b": "runs: asked for by --from",
        "c": "runs: after b, which runs",
    }


def test_a_done_job_that_make_calls_out_of_date_runs_again_and_so_does_one_that_failed_after_it() -> None:
    found = reasons(chain("a", "b"), {"a": DONE, "b": FAILED}, judged=([], {"a": "in.txt is newer"}))
    assert found == {"a": "runs: in.txt is newer", "b": "runs: after a, which runs"}


def test_a_job_that_runs_is_left_alone() -> None:
    assert reasons(chain("a", "b"), {"a": Known(State.RUNNING, True)}, since=["a"])["a"] == "no: runs already"
