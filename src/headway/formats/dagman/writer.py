"""Writes a workflow as one DAGMan file, with the submit descriptions of its jobs inside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headway.formats.dagman.words import RESERVED, WordError, tokens
from headway.formats.losses import lost
from headway.formats.world import Rendering
from headway.model.errors import ModelError, shown
from headway.model.flatten import Flat, flatten
from headway.model.job import Job, Pairs, Script
from headway.model.workflow import Settings, Workflow

_CAN = frozenset(
    (
        *("attributes", "environment", "files", "resources", "retries", "rules", "seconds"),
        *("settings", "special", "throttles", "weak"),
    )
)


def render(workflow: Workflow) -> Rendering:
    """The DAGMan file of a workflow. Milestones need no nodes: a line with several parents and children is one."""
    flat = flatten(workflow)
    names = _Names(workflow, flat)
    unknown: list[str] = []
    lines = list(_settings(workflow.settings))
    for key, text in workflow.descriptions.items():
        if not key.startswith("{"):
            lines += [f"SUBMIT-DESCRIPTION {names.description(key)} {{", *_indented(text), "}"]
    rules: list[str] = []
    for name, keyword, job in _nodes(workflow, flat, names):
        lines += _node(name, keyword, job, workflow, names, unknown)
        rules += _rules(name, job)
    lines += _arcs(flat, names)
    lines += rules
    lines += [f"MAXJOBS {category} {most}" for category, most in workflow.throttles.items()]
    told = lost(workflow, _CAN)
    if names.changed:
        told.append(f"the names of {names.changed} jobs as they are; $(JOB) in a submit file means the new name")
    if unknown:
        told.append(f"the commands of {len(unknown)} jobs, which are not known: write their submit files")
    return Rendering("\n".join([*(lines or ["# This DAG has no nodes."]), ""]), told)


class _Names:
    """Names that DAGMan accepts for the nodes of a graph: their own, where it does."""

    def __init__(self, workflow: Workflow, flat: Flat) -> None:
        self.changed = 0
        self.own: dict[str, str] = {}  # the names behind those that were changed
        self._taken: set[str] = set()
        self.of_node: list[str] = [""] * len(flat.dag)
        own = [(node, flat.dag.names[node]) for node in flat.dag.jobs()]
        self._taken = {name for _, name in own} | {group.name for group in workflow.special()}
        for node, name in own:
            self.of_node[node] = self._safe(name)
        self.special = {group.name: self._safe(group.name) for group in workflow.special()}
        self._descriptions: dict[str, str] = {}

    def _safe(self, name: str) -> str:
        if _is_name(name):
            return name
        stem = _BAD_CHARACTER.sub("_", name.replace("+", "."))
        found, number = stem, 2
        while found in self._taken or found.upper() in RESERVED:
            found = f"{stem}_{number}"
            number += 1
        self._taken.add(found)
        self.own[found] = name
        self.changed += 1
        return found

    def description(self, key: str) -> str:
        """The name of a submit description as it is written."""
        if key not in self._descriptions:
            self._descriptions[key] = _BAD_CHARACTER.sub("_", key)
        return self._descriptions[key]


_JOB = re.compile(r"\$\(JOB\)", re.IGNORECASE)
_BAD_CHARACTER = re.compile(r"""[\s"'\\{}@]""")


def _is_name(name: str) -> bool:
    """Whether DAGMan reads a name back as it is, also at the end of a line."""
    try:
        return tokens(name) == [name] and "+" not in name and name.upper() not in RESERVED and name[-1] != "\\"
    except WordError:
        return False


def _nodes(workflow: Workflow, flat: Flat, names: _Names) -> Iterator[tuple[str, str, Job]]:
    if workflow.provisioner is not None:
        yield names.special[workflow.provisioner.name], "PROVISIONER", workflow.provisioner.jobs[0]
    for service in workflow.services:
        yield names.special[service.name], "SERVICE", service.jobs[0]
    for node, job in enumerate(flat.jobs):
        if job is not None:
            yield names.of_node[node], "JOB", job
    if workflow.final is not None:
        yield names.special[workflow.final.name], "FINAL", workflow.final.jobs[0]


def _node(name: str, keyword: str, job: Job, workflow: Workflow, names: _Names, unknown: list[str]) -> Iterator[str]:
    options = f" DIR {_said(job.setting.directory)}" if job.setting.directory and job.description else ""
    options += " NOOP" * job.rules.noop + " DONE" * job.rules.done
    if job.rules.subdag is not None:
        directory = f" DIR {_said(job.setting.directory)}" if job.setting.directory and not job.description else ""
        yield f"SUBDAG EXTERNAL {name} {_said(job.rules.subdag)}{directory}{options}"
    elif job.description in workflow.descriptions:
        if job.description.startswith("{"):
            yield f"{keyword} {name} {{"
            text = workflow.descriptions[job.description]
            if name != (own := names.own.get(name, name)):  # what it runs must not change with its name
                text = _JOB.sub(lambda _: own.replace("$", "$(DOLLAR)"), text)
            yield from _indented(text)
            yield f"}}{options}"
        else:
            yield f"{keyword} {name} {names.description(job.description)}{options}"
    elif job.description:
        yield f"{keyword} {name} {_said(job.description)}{options}"
    elif job.command is None:
        if not job.rules.noop:
            unknown.append(name)
        yield f"{keyword} {name} {_said(name + '.sub')}{options}"
    else:
        from headway.formats.submit import description_text

        yield f"{keyword} {name} {{"
        yield from _indented(description_text(job, name))
        yield f"}}{options}"


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.rstrip("\n").split("\n")]


def _arcs(flat: Flat, names: _Names) -> Iterator[str]:
    dag = flat.dag
    for node in range(len(dag)):
        children = [child for child in dag.children_of(node) if not dag.milestones[child]]
        if not children:
            continue
        if not dag.milestones[node]:
            yield from _lines([node], children, flat, names)
            continue
        # All jobs that lead to this milestone, also through others, and the jobs that wait for it.
        parents: dict[int, int] = {}  # job: the milestone it enters
        stack, seen = [node], {node}
        while stack:
            barrier = stack.pop()
            for parent in dag.parents_of(barrier):
                if not dag.milestones[parent]:
                    parents.setdefault(parent, barrier)
                elif parent not in seen:
                    seen.add(parent)
                    stack.append(parent)
        for weak in (False, True):
            some = sorted(parent for parent, barrier in parents.items() if ((parent, barrier) in flat.weak) is weak)
            if some:
                yield _line(some, children, weak, names)


def _lines(parents: list[int], children: list[int], flat: Flat, names: _Names) -> Iterator[str]:
    for weak in (False, True):
        some = [child for child in children if ((parents[0], child) in flat.weak) is weak]
        if some:
            yield _line(parents, some, weak, names)


def _line(parents: list[int], children: list[int], weak: bool, names: _Names) -> str:
    before = " ".join(names.of_node[node] for node in parents)
    after = " ".join(names.of_node[node] for node in children)
    return f"{'WEAK ' if weak else ''}PARENT {before} CHILD {after}"


def _rules(name: str, job: Job) -> Iterator[str]:
    rules = job.rules
    yield from _variables(name, "", job.variables)
    yield from _variables(name, "APPEND ", job.overrides)
    if rules.retries or rules.unless_exit is not None:
        unless = "" if rules.unless_exit is None else f" UNLESS-EXIT {rules.unless_exit}"
        yield f"RETRY {name} {rules.retries}{unless}"
    for part in ("pre", "post", "hold"):
        script: Script | None = getattr(rules, part)
        if script is not None:
            defer = "" if script.defer is None else f"DEFER {script.defer[0]} {script.defer[1]} "
            debug = "" if script.debug is None else f"DEBUG {_said(script.debug[0])} {script.debug[1]} "
            yield f"SCRIPT {defer}{debug}{part.upper()} {name} {_one_line(script.command, name)}"
    if rules.pre_skip is not None:
        yield f"PRE_SKIP {name} {rules.pre_skip}"
    if rules.priority:
        yield f"PRIORITY {name} {rules.priority}"
    if rules.category is not None:
        yield f"CATEGORY {name} {rules.category}"
    if rules.abort_on is not None:
        status, returns = rules.abort_on
        yield f"ABORT-DAG-ON {name} {status}{'' if returns is None else f' RETURN {returns}'}"
    if rules.tolerance is not None:
        sign = "%" if rules.tolerance.percent else ""
        fast = " FAIL-FAST" if rules.tolerance.fail_fast else ""
        yield f"TOLERANCE {name} {rules.tolerance.failures}{sign}{fast}"
    if rules.save_point is not None:
        yield f"SAVE_POINT_FILE {name} {_said(rules.save_point)}"


def _variables(name: str, side: str, pairs: Pairs) -> Iterator[str]:
    if pairs:
        said = " ".join(f'{_key(key)}="{_escaped(_one_line(value, name))}"' for key, value in pairs)
        yield f"VARS {name} {side}{said}"


def _key(key: str) -> str:
    return f"+{key[3:]}" if key.startswith("My.") else key


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _said(path: str) -> str:
    """A file's name as a token, quoted where it must be."""
    if path and not re.search(r"""[\s"'\\]""", path) and not path.startswith(("{", "@=")):
        return path
    return f'"{_escaped(_one_line(path, path))}"'


def _one_line(text: str, name: str) -> str:
    if "\n" in text or "\r" in text:
        raise ModelError(f"{shown(name)} has a line break in its text, which DAGMan cannot say.", "Use a script file.")
    return text


def _settings(settings: Settings) -> Iterator[str]:
    if settings.config is not None:
        yield f"CONFIG {_said(settings.config)}"
    if settings.dot:
        file, *options = settings.dot
        yield " ".join(["DOT", _said(file), *(_said(option) for option in options)])
    if settings.status_file is not None:
        file, seconds, always = settings.status_file
        yield f"NODE_STATUS_FILE {_said(file)} {seconds}{' ALWAYS-UPDATE' if always else ''}"
    if settings.jobstate_log is not None:
        yield f"JOBSTATE_LOG {_said(settings.jobstate_log)}"
    yield from (f"SET_JOB_ATTR {key} = {value}" for key, value in settings.job_attributes)
    if settings.environment_get:
        yield f"ENV GET {' '.join(settings.environment_get)}"
    if settings.environment_set:
        yield f"ENV SET {';'.join(settings.environment_set)}"
