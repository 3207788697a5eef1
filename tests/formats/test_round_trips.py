"""A workflow written in one format, read, written in another and read again is the same workflow.

Workflows are built in code, without any source text, from what both formats can say.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.formats.registry import FORMATS
from headway.formats.submit import resolved
from headway.live.reading.files import Files
from headway.live.reading.read import render
from headway.model.flatten import flatten
from headway.model.workflow import Group, Workflow

WRITABLE = ["dagman", "flat", "makefile", "wfformat"]
FILE = {"dagman": "x.dag", "flat": "x.sh", "makefile": "x.mk", "wfformat": "x.json"}

NAMES = st.text("abcXYZ0189_-./é", min_size=1, max_size=6).filter(
    lambda name: name.strip("./-") and name[0] not in "-."
)
WORDS = st.text("abc XYZ019'\"$\\#%&|;<>*?[]{}()~!=:,@^`é\t", min_size=1, max_size=12).filter(lambda word: word.strip())
SECONDS = st.one_of(st.none(), st.integers(0, 10**6).map(float), st.floats(0, 1e6))
FILES = st.lists(st.text("abc.-_ /é'$", min_size=1, max_size=5), max_size=2, unique=True).map(tuple)


@st.composite
def graphs(draw: st.DrawFn) -> Workflow:
    """Jobs in any order that arcs allow, each a group of its own: what every format can say."""
    workflow = Workflow("w")
    names = draw(st.lists(NAMES, min_size=1, max_size=7, unique_by=str.lower))
    for at, name in enumerate(names):
        after = [names[parent] for parent in range(at) if draw(st.booleans())]
        group = workflow.job(name, draw(WORDS), after, seconds=draw(SECONDS), cores=draw(st.integers(1, 4)))
        group.jobs[0].inputs, group.jobs[0].outputs = draw(FILES), draw(FILES)
    return workflow


@st.composite
def levels(draw: st.DrawFn, depth: int = 2) -> list[Group]:
    """Groups that hold jobs, subgroups, prologues and epilogues: what TrellisDAG's own formats can say."""
    groups = []
    for name in draw(st.lists(NAMES.map(lambda name: name.replace("/", "")).filter(bool), max_size=3, unique=True)):
        group = Group(name)
        for _ in range(draw(st.integers(0, 2))):
            group.run(
                draw(WORDS), release=draw(st.booleans()), affinity=draw(st.booleans()), attributes={"note": draw(WORDS)}
            )
        if draw(st.booleans()):
            group.before(draw(WORDS), memory="2G", environment={"A": draw(WORDS)}, retries=2)
        if draw(st.booleans()):
            group.afterwards(draw(WORDS), directory="some where", time="1h")
        if depth and draw(st.booleans()):
            for inner in draw(levels(depth - 1)):
                group.groups.add(inner)
        groups.append(group)
    return groups


@st.composite
def grouped(draw: st.DrawFn) -> Workflow:
    workflow = Workflow("w")
    for group in draw(levels()):
        workflow.groups.add(group)
    for members in [workflow.groups, *(group.members for _, group in workflow.walk() if group.members)]:
        for child in range(len(members)):
            for parent in range(child):
                if draw(st.booleans()):
                    members.arc(parent, child)
    return workflow


def through(workflow: Workflow, format: str, folder: Path) -> Workflow:
    """Written to a file and read from it."""
    path = folder / FILE[format]
    path.write_bytes(render(workflow, format).text.encode("utf-8", "surrogateescape"))
    return FORMATS[format].parse(str(path), Files())


def jobs(workflow: Workflow) -> Iterator[tuple[object, ...]]:
    flat = flatten(resolved(workflow, Files()))
    for node in flat.dag.jobs():
        job = flat.jobs[node]
        assert job is not None
        yield flat.dag.names[node], job.command, job.seconds, job.resources.cores, job.inputs, job.outputs


def order(workflow: Workflow) -> set[tuple[str, str]]:
    """Which job waits for which, shortcuts and milestones left out."""
    dag = flatten(workflow).dag
    direct = {node: set(dag.job_children(node)) for node in dag.jobs()}
    after: dict[int, set[int]] = {}
    for node in reversed(dag.order):
        if node in direct:
            after[node] = direct[node].union(*(after[child] for child in direct[node]))
    return {
        (dag.names[node], dag.names[child])
        for node, children in direct.items()
        for child in children
        if not any(child in after[other] for other in children)
    }


@pytest.mark.parametrize("first", WRITABLE)
@pytest.mark.parametrize("second", WRITABLE)
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(workflow=graphs())
def test_a_graph_of_jobs_survives_any_two_formats(first: str, second: str, workflow: Workflow, tmp_path: Path) -> None:
    found = through(through(workflow, first, tmp_path), second, tmp_path)
    assert sorted(jobs(found), key=str) == sorted(jobs(workflow), key=str)
    assert order(found) == order(workflow)


@pytest.mark.parametrize("first", ["flat", "makefile"])
@pytest.mark.parametrize("second", ["flat", "makefile"])
@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(workflow=grouped())
def test_groups_in_groups_survive(first: str, second: str, workflow: Workflow, tmp_path: Path) -> None:
    if not len(workflow.groups):
        return
    found = through(through(workflow, first, tmp_path), second, tmp_path)
    assert found.groups == workflow.groups


@pytest.mark.parametrize("format", ["dagman", "wfformat"])
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(workflow=grouped())
def test_the_order_of_groups_survives_where_groups_do_not(format: str, workflow: Workflow, tmp_path: Path) -> None:
    if not flatten(workflow).dag.job_count:
        return
    found = through(workflow, format, tmp_path)
    assert order(found) == order(workflow)
    assert {(name, command) for name, command, *_ in jobs(found)} == {
        (name, command) for name, command, *_ in jobs(workflow)
    }


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(workflow=grouped())
def test_dagman_keeps_attributes_environment_and_limits(workflow: Workflow, tmp_path: Path) -> None:
    if not flatten(workflow).dag.job_count:
        return
    found = resolved(through(workflow, "dagman", tmp_path), Files())
    before, after = flatten(workflow), flatten(found)
    kept = {after.dag.names[node]: after.jobs[node] for node in after.dag.jobs()}
    for node in before.dag.jobs():
        mine, theirs = before.jobs[node], kept[before.dag.names[node]]
        assert mine is not None and theirs is not None
        assert (theirs.attributes, theirs.setting, theirs.resources) == (mine.attributes, mine.setting, mine.resources)
        assert theirs.rules.retries == mine.rules.retries
