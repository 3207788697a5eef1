"""What a format cannot say of a workflow: told to the user, never left out in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set

from headway.model.errors import ModelError, shown
from headway.model.job import PLAIN, Job
from headway.model.record import fields
from headway.model.workflow import Settings, Workflow

# What can be missing: `can` names those a format has. Order and commands are never lost: that is an error instead.
_RULES = [name for name in fields(PLAIN) if name not in ("retries", "back_off", "more_memory")]


def lost(workflow: Workflow, can: Set[str]) -> list[str]:
    """One sentence for each kind of thing that a format with these abilities leaves out.

    Abilities: groups, attributes, retries, rules, special, throttles, weak, sizes, settings, environment, resources,
    seconds, files. `groups` implies those that travel as attributes.
    """
    able = set(can)
    if "groups" in able:
        able |= {"attributes", "environment", "resources", "seconds", "files"}
    if "attributes" in able and "rules" not in able:  # DAGMan's rules know nothing of it
        able.add("backoff")
    found: Counter[str] = Counter()
    weak = len(workflow.groups.weak)
    for _, group in workflow.walk():
        if group.members is not None:
            weak += len(group.members.weak)
        if "groups" not in able and (group.members or group.prologue or group.epilogue):
            found["groups"] += 1
        for job in group.all_jobs():
            for kind, there in (
                ("attributes", bool(job.attributes)),
                ("environment", bool(job.setting.environment)),
                (
                    "resources",
                    job.resources.named or job.resources.memory is not None or job.resources.time is not None,
                ),
                ("seconds", job.seconds is not None),
                ("files", bool(job.inputs or job.outputs)),
                ("retries", bool(job.rules.retries)),
                ("backoff", bool(job.rules.back_off or job.rules.more_memory != 1.0)),
            ):
                if there and kind not in able:
                    found[kind] += 1
            if job.rules is not PLAIN:
                for name in _RULES if "rules" not in able else ("success",):  # which no DAGMan node has
                    if name not in able and getattr(job.rules, name) != getattr(PLAIN, name):
                        found[f"rule {name}"] += 1
    found["special"] = 0 if "special" in able else sum(1 for _ in workflow.special())
    found["throttles"] = 0 if "throttles" in able else len(workflow.throttles)
    found["weak"] = 0 if "weak" in able else weak
    found["sizes"] = 0 if "sizes" in able else len(workflow.files)
    found["settings"] = 0 if "settings" in able else workflow.settings != Settings()
    return [_sentence(kind, count) for kind, count in found.items() if count]


def known_command(job: Job, name: str) -> str:
    """A job's command for a format that is nothing without commands; ModelError where it is not known."""
    if job.command is None:
        why = f": submit file {shown(job.description)} is not there" if job.description else ""
        raise ModelError(f"the command of {shown(name)} is not known{why}.", "This format cannot do without it.")
    return job.command


_WORDS = {
    "groups": ("the grouping of {} group", "the grouping of {} groups"),
    "attributes": ("the attributes of {} job", "the attributes of {} jobs"),
    "environment": ("the environment of {} job", "the environment of {} jobs"),
    "resources": ("the resources of {} job", "the resources of {} jobs"),
    "seconds": ("the expected run time of {} job", "the expected run times of {} jobs"),
    "files": ("the files of {} job", "the files of {} jobs"),
    "retries": ("the retries of {} job", "the retries of {} jobs"),
    "backoff": ("how the retries of {} job wait and grow", "how the retries of {} jobs wait and grow"),
    "special": ("{} final, provisioner or service node", "{} final, provisioner or service nodes"),
    "throttles": ("{} throttle", "{} throttles"),
    "weak": ("that {} arc is weak", "that {} arcs are weak"),
    "sizes": ("the size of {} file", "the sizes of {} files"),
    "settings": ("settings of the whole DAG", "settings of the whole DAG"),
}


_RULE_WORDS = {
    "unless_exit": "the exit status that forbids a retry",
    "priority": "the priority",
    "category": "the category",
    "pre": "the pre script",
    "post": "the post script",
    "hold": "the hold script",
    "pre_skip": "PRE_SKIP",
    "abort_on": "ABORT-DAG-ON",
    "tolerance": "how many processes may fail",
    "save_point": "the save point file",
    "noop": "the NOOP mark",
    "done": "the DONE mark",
    "subdag": "the DAG inside",
    "success": "the exit code that counts as a success",
}


def _sentence(kind: str, count: int) -> str:
    if kind.startswith("rule "):
        name = kind.removeprefix("rule ")
        return f"{_RULE_WORDS.get(name, name)} of {count} {'job' if count == 1 else 'jobs'}"
    return _WORDS[kind][count != 1].format(count)
