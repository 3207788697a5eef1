"""What a node runs at its present step and try, put together when it is given to a placeholder."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from headway.engine.nodes import script_of
from headway.engine.progress import Node
from headway.engine.scripts import Facts, command_line
from headway.live.store.progress import Progress
from headway.live.store.spec import Spec, is_open
from headway.live.store.text import decode
from headway.model.messages import JobId, WorkflowId
from headway.model.states import Halt, Kind, State, Step

if TYPE_CHECKING:
    from headway.live.store.database import Database
    from headway.live.store.giving import TakenJob


def prepared(database: Database, workflow: WorkflowId, taken: TakenJob, own: Node) -> None:
    """Fills in what a taken node runs now."""
    ((_, _, _, _, tries, retries, *_),) = database.run("job", workflow=workflow, job=taken.job)
    taken.step = int(own.step)
    taken.final = tries >= retries
    script = script_of(own)
    if taken.kind == Kind.PART or _is_undecided(own):
        taken.final = None
    ends = (own.rules.unless_exit, own.rules.abort_on and own.rules.abort_on[0])
    taken.settling = tuple(code for code in ends if code is not None)
    status = _Status(database, workflow)
    if script is None:
        spec = Spec.read(taken.spec)
        if spec.again and own.owner is not None:
            tries = database.run("job", workflow=workflow, job=own.owner)[0][4]
        spec = spec.at_try(tries)
        if is_open(taken.spec):
            from headway.live.store.late import closed

            known = {"DAG_STATUS": status.dag_status, "FAILED_COUNT": lambda: status.count(State.FAILED)}
            spec = closed(database, workflow, taken.job, taken.attempts + 1, spec, known)
        taken.spec = spec.text()
    else:
        taken.cores, taken.time, taken.named = min(1, taken.cores), None, ()
        line = command_line(script, _facts(status, taken, own, tries, retries))
        taken.spec = Spec(line, script.directory).text()


def _is_undecided(own: Node) -> bool:
    """Whether a failure of what runs now need not be one of the node: a rule or its POST script says how it went."""
    rules, script = own.rules, script_of(own)
    if script is not None and script.defer is not None:
        return True
    if own.step is Step.PRE:
        return rules.pre_skip is not None
    return own.step is Step.MAIN and (rules.post is not None or rules.tolerance is not None or rules.success != 0)


class _Status:
    """How far a workflow is, counted when a script asks for it."""

    def __init__(self, database: Database, workflow: WorkflowId) -> None:
        self._database = database
        self.workflow = workflow

    def count(self, *states: State) -> int:
        counts = Progress(self._database).counts(self.workflow)
        return sum(counts.get(state, 0) for state in states)

    def dag_status(self) -> int:
        """DAGMan's: 0 well so far, 2 some node has failed, 3 a node has ended it, 4 it was removed."""
        ((halted, _),) = self._database.run("halted", workflow=self.workflow)
        told = {Halt.ABORTED: 3, Halt.REMOVED: 4, Halt.ENDED: 0}
        return told[Halt(halted)] if halted else 2 if self.count(State.FAILED) else 0

    def codes(self, node: JobId) -> list[int]:
        """How the processes of a node ended, in their order; without those that were cancelled."""
        return [code for (code,) in self._database.run("part_codes", workflow=self.workflow, owner=node)]

    def cluster(self, job: JobId) -> int:
        """The number that $(Cluster) is in the node's submit file."""
        from headway.live.store.late import cluster

        return cluster(self._database, self.workflow, job)

    def futile(self) -> int:
        """Jobs that can never run: they wait for one that has failed."""
        return len(self._database.run("futile", workflow=self.workflow))


class Codes:
    """The exit codes of a node's processes, looked up when a script asks for them; DAGMan says -1 for any signal."""

    def __init__(self, codes: Callable[[], list[int]]) -> None:
        self._codes = codes

    @cached_property
    def all(self) -> list[int]:
        return [max(-1, code) for code in self._codes()]

    @cached_property
    def counts(self) -> dict[int, int]:
        return {code: self.all.count(code) for code in sorted(set(self.all))}


def _facts(status: _Status, taken: TakenJob, own: Node, tries: int, retries: int) -> Facts:
    name = decode(taken.name)
    facts: Facts = {
        "JOB": lambda: name,
        "NODE": lambda: name,
        "RETRY": lambda: tries,
        "MAX_RETRIES": lambda: retries,
        "DAGID": lambda: status.workflow,
        "DAG_STATUS": status.dag_status,
        "NODE_COUNT": lambda: status.count(*State),
        "QUEUED_COUNT": lambda: status.count(State.RUNNING),
        "DONE_COUNT": lambda: status.count(State.DONE),
        "FAILED_COUNT": lambda: status.count(State.FAILED),
        "FUTILE_COUNT": status.futile,
    }
    if own.step is not Step.POST:
        return facts
    result = -1004 if own.result is None else own.result
    ended = Codes(lambda: status.codes(taken.job) if own.parts else [result])
    facts |= {
        "JOBID": lambda: f"{status.cluster(taken.job)}.0",
        "CLUSTERID": lambda: status.cluster(taken.job),
        "JOB_COUNT": lambda: 0 if own.rules.noop else max(1, own.parts),
        "JOB_ABORT_COUNT": lambda: max(1, own.parts) - len(ended.all),
        "SUCCESS": lambda: result == 0,
        "RETURN": lambda: result,
        "EXIT_CODES": lambda: ",".join(map(str, ended.counts)),
        "EXIT_CODE_LIST": lambda: ",".join(map(str, ended.all)),
        "EXIT_CODE_COUNTS": lambda: ",".join(f"{code}:{count}" for code, count in ended.counts.items()),
        "PRE_SCRIPT_RETURN": lambda: -1 if own.pre_result is None else own.pre_result,
    }
    return facts
