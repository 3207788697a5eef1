"""Why is this job not running? Sentences, from what is known of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from headway.engine.ready import PLAIN, Lane
from headway.model.errors import unquoted
from headway.model.messages import NODES, Seconds
from headway.model.quantities import duration
from headway.model.record import record
from headway.model.states import Kind, State, Step

SOME = 5  # names that a sentence has room for


@record
class Awaited:
    """A job that another one waits for, directly or through others."""

    name: str
    state: State
    off: bool = False
    direct: bool = True  # nothing between the two but milestones


@record
class LastAttempt:
    """How a job's last attempt went, or goes."""

    number: int
    host: str
    leased: Seconds
    ended: Seconds | None
    exit_code: int | None
    reason: str
    status: str
    step: Step
    stop: str  # why it is to end, if it is


@record
class Facts:
    """What is known of a job that somebody asks about."""

    name: str
    state: State
    off: bool = False
    kind: Kind = Kind.JOB
    awaited: Sequence[Awaited] = ()
    not_before: Seconds | None = None
    tries: int = 0
    retries: int = 0
    cores: int = 1
    lane: Lane = PLAIN
    lane_running: Sequence[str] = ()  # jobs of its category, or that hold what it wants
    ahead: int = 0  # eligible jobs that come before it
    running: int = 0  # jobs of its workflow
    is_served: bool = True  # somebody is there who could run it
    is_halted: bool = False  # its workflow was ended by one of its jobs
    attempt: LastAttempt | None = None
    premature_starts: Sequence[str] = ()  # jobs that failed after it had begun on what they belong to
    bound: tuple[str, str, bool] | None = (
        None  # the host that it must run on, the job that ran there, whether we are there
    )
    parts: tuple[int, int] = (0, 0)  # its own processes, and those that have not ended


def because(facts: Facts, now: Seconds) -> list[str]:
    """Sentences, what matters most first."""
    found = list(_by_state(facts, now))
    if facts.off and facts.state not in (State.DISABLED, State.RUNNING):
        found.append("It is disabled: it is not started until somebody enables it (headway enable).")
    if facts.is_halted and facts.state not in (State.DONE, State.FAILED):
        found.append("One of its jobs has ended the workflow (ABORT-DAG-ON); it goes on with the next headway run.")
    if facts.premature_starts:
        found.append(
            f"It began on what {named(facts.premature_starts)} then failed to complete: its result is in doubt"
            " (headway redo covers it)."
        )
    return found


def _by_state(facts: Facts, now: Seconds) -> Iterator[str]:
    if facts.state is State.RUNNING:
        yield from _running(facts, now)
    elif facts.state is State.DONE:
        yield _done(facts)
    elif facts.state is State.FAILED:
        yield from _failed(facts)
    elif facts.state is State.WAITING:
        yield from _waiting(facts)
    elif facts.state is State.DISABLED and not facts.off:
        yield "The last headway run was not about it (--until, --from); one without these takes it up."
    elif facts.state is State.DISABLED:
        yield "It is disabled: it is not started until somebody enables it (headway enable)."
    elif facts.state is State.LATER:
        yield from _later(facts, now)
    else:
        yield from _eligible(facts)


def _running(facts: Facts, now: Seconds) -> Iterator[str]:
    attempt, (parts, left) = facts.attempt, facts.parts
    if parts and left:
        yield f"It runs: {left} of its {parts} processes have not ended."
    elif attempt is not None:
        what = {Step.PRE: "Its PRE script", Step.POST: "Its POST script"}.get(attempt.step, "It")
        said = f' It says: "{unquoted(attempt.status)}".' if attempt.status else ""
        yield f"{what} has been running on {unquoted(attempt.host)} for {duration(int(now - attempt.leased))}.{said}"
        if attempt.stop:
            yield f"It was told to end: {unquoted(attempt.stop)}."


def _done(facts: Facts) -> str:
    if facts.attempt is None or facts.attempt.exit_code != 0:
        by_rule = facts.kind >= Kind.NODE  # its own processes, or rules, may have brought it there
        return "It is done." if by_rule else "It is done: it was called so without being run."
    return f"It is done, at attempt {facts.attempt.number} on {unquoted(facts.attempt.host)}."


def _failed(facts: Facts) -> Iterator[str]:
    tried = f"after {facts.tries} tries" if facts.tries > 1 else "at its only try"
    if facts.attempt is not None and facts.attempt.exit_code is not None:
        why = _how(facts.attempt)
        yield f"It failed {tried}: {why}."
    else:
        yield f"It failed {tried}."
    yield "Retry it: headway run --retry, or headway redo."


def _how(attempt: LastAttempt) -> str:
    code = attempt.exit_code or 0
    how = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
    return f"{how} ({unquoted(attempt.reason)})" if attempt.reason else how


def _waiting(facts: Facts) -> Iterator[str]:
    if facts.kind == Kind.FINAL:
        yield "It is the final job: it runs when nothing else of the workflow can."
        return
    if facts.kind == Kind.PART:
        yield "It is one of a node's processes: it begins with its node."
        return
    direct = [one for one in facts.awaited if one.direct]
    if direct:
        listed = [f"{unquoted(one.name)} ({_word(one)})" for one in direct[:SOME]]
        more = f" and {len(direct) - SOME} more" if len(direct) > SOME else ""
        yield f"It waits for {', '.join(listed)}{more}."
    failed = [one.name for one in facts.awaited if one.state is State.FAILED]
    if failed:
        first = unquoted(failed[0])
        succeed, it = ("succeeds", "it") if len(failed) == 1 else ("succeed", "them")
        yield (
            f"It cannot start until {named(failed)} {succeed}."
            f" Retry {it}: headway run --retry, or headway redo {first}."
        )
    off = [one.name for one in facts.awaited if one.off and one.state in (State.WAITING, State.DISABLED)]
    if off:
        yield f"It cannot start: {named(off)} {'is' if len(off) == 1 else 'are'} disabled. Enable: headway enable."


def _later(facts: Facts, now: Seconds) -> Iterator[str]:
    if facts.not_before is not None:
        wait = max(0.0, facts.not_before - now)
        yield f"It will be tried again in {duration(math.ceil(wait))}."
    if facts.tries:
        yield f"It has failed {facts.tries} of {facts.retries + 1} times."
    yield from _unserved(facts)


def _eligible(facts: Facts) -> Iterator[str]:
    yield from _unserved(facts)
    if facts.bound is not None:
        host, before, is_there = facts.bound
        yield f"It must run on {unquoted(host)}, as {unquoted(before)} did (affinity)."
        if not is_there:
            yield f"No placeholder is there now. To run both elsewhere: headway redo {unquoted(before)}."
    if not facts.is_served:
        return
    lane = facts.lane
    if lane.category is not None and lane.most is not None and len(facts.lane_running) >= lane.most:
        yield (
            f"Its category {unquoted(lane.category)} is full: {named(facts.lane_running)}"
            f" {'runs' if len(facts.lane_running) == 1 else 'run'}, and no more than {lane.most} may at once."
        )
    elif lane.named:
        wants = ", ".join(
            f"{count} nodes of one allocation" if name == NODES else f"{count} {unquoted(name)}"
            for name, count in lane.named
        )
        held = f", which {named(facts.lane_running)} may hold" if facts.lane_running else ""
        yield f"It wants {wants}{held}."
    if facts.ahead:
        yield f"It may run, and waits for a slot: {_jobs(facts.ahead)} before it, {facts.running} running."
    elif facts.running:
        cores = f" of {facts.cores} cores" if facts.cores > 1 else ""
        yield f"It is next, and waits for a slot{cores}: {_jobs(facts.running)} running."
    else:
        yield "It may run, and is next."


def _unserved(facts: Facts) -> Iterator[str]:
    if not facts.is_served:
        yield "Nobody runs this workflow now: headway run goes on with it."


def _word(one: Awaited) -> str:
    if one.off and one.state is State.WAITING:
        return "waiting, and disabled"
    return "put off" if one.state is State.LATER else one.state.name.lower()


def _jobs(count: int) -> str:
    return "1 job is" if count == 1 else f"{count:,} jobs are"


def named(names: Sequence[str]) -> str:
    """Some names, and how many more."""
    some = [unquoted(name) for name in names[:SOME]]
    if len(names) > SOME:
        return f"{', '.join(some)} and {len(names) - SOME:,} more"
    return " and ".join([", ".join(some[:-1]), some[-1]]) if len(some) > 1 else "".join(some)
