"""The answer of `headway logs`: what attempts have printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from headway.live.answers.outputs import Output
from headway.model.errors import NotFoundError
from headway.model.states import Kind, Step

if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.store import Store
    from headway.live.store.views import Attempt, Run
    from headway.model.messages import JobId

STEPS = {"main": Step.MAIN, "pre": Step.PRE, "post": Step.POST}


def answer(
    home: Home, store: Store, run: Run, jobs: Iterable[tuple[str, JobId]], number: int | None, step: Step | None
) -> dict[str, Any]:
    """As docs/json.md says. `jobs`: names and places; `number` and `step`: of the attempt that is meant."""
    found = [
        _log(home, store, run, *one, number, step)
        for name, job in jobs
        for one in parts(store, run, name, job, number, step)
    ]
    return {"workflow": run.workflow, "name": run.name, "logs": found}


def _log(
    home: Home, store: Store, run: Run, name: str, job: JobId, number: int | None, step: Step | None
) -> dict[str, Any]:
    attempt = meant(store.history.attempts(run.workflow, job), number, step)
    if attempt is None:
        nothing = dict.fromkeys(("attempt", "step", "exit_code", "site", "path"))
        return {"job": name, **nothing, "files": [], "text": ""}
    pieces = list[bytes]()
    output = Output.of(home, store, run, attempt)
    output.pass_on(attempt.ended is not None, pieces.append, lambda _: None)
    output.close()
    named = [tail.path for tail in output.named]
    return {
        "job": name,
        "attempt": attempt.number,
        "step": attempt.step.name.lower(),
        "exit_code": attempt.exit_code,
        "site": attempt.site,
        "path": named[0] if named else output.log,
        "files": [*named, output.log],
        "text": b"".join(pieces).decode("utf-8", "replace"),  # many parsers refuse lone surrogates
    }


def started(store: Store, run: Run) -> list[tuple[str, JobId]]:
    """The jobs that were ever started, each where it first was."""
    return list(
        {
            one.name: (one.name, one.job) for one in store.history.attempts(run.workflow) if one.step is Step.MAIN
        }.values()
    )


def parts(
    store: Store, run: Run, name: str, job: JobId, number: int | None, step: Step | None
) -> list[tuple[str, JobId]]:
    """The processes of a node, if `queue` made several and no attempt of the node itself is meant; else the job."""
    if step is not None or number is not None or store.history.member(run.workflow, job).kind is not Kind.NODE:
        return [(name, job)]
    found = [(one.name, one.job) for one in store.history.web(run.workflow).members if one.owner == job]
    return found or [(name, job)]


def meant(attempts: Sequence[Attempt], number: int | None, step: Step | None) -> Attempt | None:
    """The attempt asked for; else the last at the job itself, or at a script of it if it did not get further.

    None if there was none at all.
    """
    fits = [one for one in attempts if number in (None, one.number) and step in (None, one.step)]
    if not fits and attempts and (number or step):
        told = ", ".join(f"{one.number} ({one.step.name.lower()})" for one in attempts[-8:])
        raise NotFoundError("there was no such attempt at it.", f"There were {told}.")
    main = [one for one in fits if one.step is Step.MAIN]
    return (main or fits)[-1] if fits else None
