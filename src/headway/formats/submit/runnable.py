"""A workflow as it is run: like a resolved one, but a node stays one node, whatever number of processes it queues."""

from __future__ import annotations

from collections.abc import Iterator

from headway.formats.submit.late import CLUSTER, EDGE, WORKFLOW
from headway.formats.submit.resolution import NOTHING, Resolution
from headway.formats.world import World
from headway.model.job import PLAIN, Job, Pairs, Rules, Script
from headway.model.record import replace
from headway.model.workflow import Group, Members, Workflow

# What stands for what is known only when a node is submitted; the store puts the value there.
LATE = {name: f"{EDGE}{name}{EDGE}" for name in ("DAG_STATUS", "FAILED_COUNT")}
LATE |= {"CLUSTER": CLUSTER, "CLUSTERID": CLUSTER, "DAGMANJOBID": WORKFLOW}
_ASKED = {"CLUSTER": ("cluster", "jobid")}  # by these names, if not by its own


def runnable(workflow: Workflow, world: World) -> Workflow:
    """The same workflow with everything read from submit descriptions that the engine needs to run it."""
    return _Runnable(workflow, world).workflow()


class _Runnable(Resolution):
    """Processes become parts of their node; scripts learn where they run; retries that differ are read one by one."""

    runs = True

    def group(self, group: Group, place: tuple[Members, int] | None) -> Group:
        alone = len(group.jobs) == 1 and not (group.members or group.prologue or group.epilogue)
        if not alone or group.jobs[0].command is not None:
            return super().group(group, place)
        node = group.jobs[0]
        jobs = self.jobs(node, group.name, place)
        rules = _placed(node.rules, node.setting.directory)
        if not (rules.noop or rules.subdag or rules.priority) and jobs[0] is not node:
            rules = replace(rules, priority=jobs[0].rules.priority)
        own = [_own(job.rules) if job.rules is not node.rules else PLAIN for job in jobs]
        if place is None and len(jobs) == 1 and _is_simple(rules, own[0]):  # outside the order no node has processes
            rules, own = replace(rules, retries=own[0].retries), [PLAIN]
        if rules.retries and node.command is None and not (rules.noop or rules.subdag):
            for job, again in zip(jobs, self.variants(node, group.name, place, rules.retries), strict=False):
                job.again = again
        copy = Group(group.name)
        if len(jobs) == 1 and own[0] is PLAIN:
            copy.jobs = [replace(jobs[0], rules=self.same(rules) if rules != PLAIN else PLAIN)]
        else:  # what a job asks for itself is below what its node says: it is a process of its own then too
            parts = tuple(replace(job, rules=self.same(mine)) for job, mine in zip(jobs, own, strict=True))
            copy.jobs = [Job(NOTHING, setting=node.setting, rules=rules, attributes=node.attributes, parts=parts)]
        return copy

    def rules(self, process: Job, node: Rules) -> Rules:
        """Those of its submit description alone: DAGMan has what a node says beside them, not in their place."""
        return process.rules

    def variants(
        self, node: Job, name: str, place: tuple[Members, int] | None, retries: int
    ) -> Iterator[tuple[Job, ...]]:
        """What each process of the node is on each retry, where its description asks which one it is."""
        description = self.description(node) if node.description else None
        if description is None or not (self.mentions(description, "retry") or _asks(node, "retry")):
            return
        found = []
        for number in range(1, min(retries, 100) + 1):
            variables = (("RETRY", str(number)), *self.variables(node, description, place))
            found.append(self.concrete(node, name, description, variables))
        yield from zip(*found, strict=False)

    def variables(self, job: Job, description: object, place: tuple[Members, int] | None) -> Pairs:
        found = super().variables(job, description, place)  # type: ignore[arg-type]
        late = tuple(
            (name, mark)
            for name, mark in LATE.items()
            if any(
                self.mentions(description, asked) or _asks(job, asked)  # type: ignore[arg-type]
                for asked in _ASKED.get(name, (name.lower(),))
            )
        )
        return (*late, *found)


def _asks(job: Job, name: str) -> bool:
    """Whether a node's own variables mention a macro."""
    return any(f"$({name})" in value.lower() for _, value in (*job.variables, *job.overrides))


def _placed(rules: Rules, directory: str | None) -> Rules:
    """A node's scripts run in its DIR."""
    if directory is None:
        return rules
    return replace(rules, pre=_in(rules.pre, directory), post=_in(rules.post, directory))


def _in(script: Script | None, directory: str) -> Script | None:
    return None if script is None else replace(script, directory=directory)


def _is_simple(node: Rules, own: Rules) -> bool:
    """Whether retries of a job mean the same as retries of its node."""
    return not (node.retries or node.pre or node.post) and own.retries > 0 and own == Rules(retries=own.retries)


def _own(rules: Rules) -> Rules:
    """What a process keeps for itself: the retries that its submit description asks for."""
    if not rules.retries:
        return PLAIN
    return Rules(retries=rules.retries, unless_exit=rules.unless_exit, success=rules.success)
