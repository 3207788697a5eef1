from __future__ import annotations

import re

import pytest

from headway import Group, Job, Workflow, flatten
from headway.formats.dot import quoted, render

NODE = re.compile(r'^ *(n\d+) \[.*?label="((?:[^"\\]|\\.)*)"', re.MULTILINE)
ARC = re.compile(r"^ *(n\d+) -> (n\d+)( \[style=dashed\])?;$", re.MULTILINE)


def shape(text: str) -> tuple[dict[str, str], set[tuple[str, str]]]:
    """The labels by node, and the arcs between labels."""
    labels = dict(NODE.findall(text))
    return labels, {(labels.get(parent, parent), labels.get(child, child)) for parent, child, _ in ARC.findall(text)}


def test_jobs_are_nodes_and_arcs_are_arrows() -> None:
    workflow = Workflow("diamond")
    workflow.job("A", "a")
    workflow.job("B", "b", after="A")
    workflow.job("C", "c", after="A")
    workflow.job("D", "d", after=["B", "C"])
    labels, arcs = shape(render(workflow).text)
    assert list(labels.values()) == ["A", "B", "C", "D"]
    assert arcs == {("A", "B"), ("A", "C"), ("B", "D"), ("C", "D")}


def test_groups_are_clusters_with_the_names_they_have_inside() -> None:
    workflow = Workflow("groups")
    outer = workflow.group("outer").before("p").run("own")
    inner = outer.group("inner")
    inner.run("one").run("two")
    text = render(workflow).text
    assert text.index('label="outer"') < text.index('label="inner"') < text.index('label="inner#2"')
    assert text.count("subgraph cluster_") == 2
    assert text.count("{") == text.count("}")
    assert list(shape(text)[0].values()) == ["outer_prologue", "outer", "inner", "inner#2"]


def test_a_milestone_is_a_point_and_a_weak_arc_is_dashed() -> None:
    workflow = Workflow("barrier")
    workflow.job("a", "true")
    workflow.group("wall", after="a")
    workflow.job("b", "true")
    workflow.groups.arc(1, 2, weak=True)
    text = render(workflow).text
    assert "n1 [shape=point" in text
    assert "n0 -> n1;" in text
    assert "n1 -> n2 [style=dashed];" in text


def test_special_nodes_stand_apart() -> None:
    workflow = Workflow("special")
    workflow.job("a", "true")
    workflow.provisioner = Group("p", [Job("x")])
    workflow.services = [Group("s", [Job("y")])]
    workflow.final = Group("f", [Job("z")])
    rendering = render(workflow)
    labels, arcs = shape(rendering.text)
    assert list(labels.values()) == ["a", "provisioner: p", "service: s", "final: f"]
    assert not arcs
    assert rendering.lost == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ('a "b"', r'"a \"b\""'),
        ("back\\slash\\", r'"back\\slash\\"'),
        ("two\nlines", r'"two\nlines"'),
        ("größe → 漢字", '"größe → 漢字"'),
        ("&lt;", '"&amp;lt;"'),
        ("bell\x07\udc80", '"bell\ufffd\ufffd"'),
    ],
)
def test_a_name_is_shown_as_it_is(name: str, text: str) -> None:
    assert quoted(name) == text


def test_what_is_known_of_a_job_is_its_tooltip() -> None:
    workflow = Workflow("tips")
    workflow.job("a", 'echo "x"', seconds=5)
    assert r'tooltip="echo \"x\"\nseconds=5"' in render(workflow).text


def test_the_same_workflow_gives_the_same_text() -> None:
    workflow = Workflow("same")
    for name in "abc":
        workflow.job(name, name)
    assert render(workflow).text == render(workflow).text
    assert len(shape(render(workflow).text)[0]) == flatten(workflow).dag.job_count
