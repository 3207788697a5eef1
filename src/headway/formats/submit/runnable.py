"""A workflow as it is run: like a resolved one, but a node stays one node, whatever number of processes it queues."""

from __future__ import annotations

from headway.formats.submit.late import CLUSTER, EDGE, WORKFLOW
from headway.formats.submit.process import mentions
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
        copy = Group(group.name)
        if len(jobs) == 1:
            job = jobs[0]
            rules = replace(rules, retries=job.rules.retries, priority=job.rules.priority)
            copy.jobs = [replace(job, rules=self.same(rules) if rules != PLAIN else PLAIN)]
            if rules.retries and node.command is None and not (rules.noop or rules.subdag):
                copy.jobs[0].again = self.variants(node, group.name, place, rules.retries)
        else:
            parts = tuple(replace(job, rules=_of_process(job.rules, node.rules)) for job in jobs)
            copy.jobs = [Job(NOTHING, setting=node.setting, rules=rules, attributes=node.attributes, parts=parts)]
        return copy

    def variants(self, node: Job, name: str, place: tuple[Members, int] | None, retries: int) -> tuple[Job, ...]:
        """What the node is on each retry, where its description asks which one it is."""
        description = self.description(node) if node.description else None
        if description is None or not (mentions(description, "retry") or _asks(node, "retry")):
            return ()
        found = []
        for number in range(1, min(retries, 100) + 1):
            variables = (("RETRY", str(number)), *self.variables(node, description, place))
            found.append(self.concrete(node, name, description, variables)[0])
        return tuple(found)

    def variables(self, job: Job, description: object, place: tuple[Members, int] | None) -> Pairs:
        found = super().variables(job, description, place)  # type: ignore[arg-type]
        late = tuple(
            (name, mark)
            for name, mark in LATE.items()
            if any(
                mentions(description, asked) or _asks(job, asked)  # type: ignore[arg-type]
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


def _of_process(own: Rules, node: Rules) -> Rules:
    """What a process keeps for itself: retries that its own submit description asks for."""
    retries = own.retries if not node.retries else 0
    return Rules(retries=retries) if retries else PLAIN
