from __future__ import annotations

import re

import pytest

from headway import Group, Job, Workflow
from headway.formats.mermaid import quoted, render


def test_a_chart_has_safe_ids_and_quoted_labels() -> None:
    workflow = Workflow("x")
    workflow.job("A", "a")
    workflow.job('end "x"', "b", after="A")
    assert render(workflow).text.split("\n") == [
        "flowchart TD",
        '  n0["A"]',
        '  n1["end #34;x#34;"]',
        "  n0 --> n1",
        "",
    ]


def test_groups_are_subgraphs_milestones_circles_and_weak_arcs_dotted() -> None:
    workflow = Workflow("x")
    workflow.group("pair").run("one").run("two")
    workflow.group("wall", after="pair")
    workflow.job("last", "true")
    workflow.groups.arc(1, 2, weak=True)
    workflow.final = Group("f", [Job("z")])
    text = render(workflow).text
    assert '  subgraph g0["pair"]\n    n0["pair"]\n    n1["pair#35;2"]\n  end\n' in text
    assert '  n2((" "))' in text
    assert "  n1 --> n2\n  n2 -.-> n3\n" in text
    assert '  n4[["final#58; f"]]' in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("1. first", '"1#46; first"'),
        ("- item", '"#45; item"'),
        ("`x`", '"#96;x#96;"'),
        ("a<b>&c", '"a#60;b#62;#38;c"'),
        ("two\nlines", '"two<br/>lines"'),
        ("größe_漢-1", '"größe_漢-1"'),
        ("\x07", '"\ufffd"'),
    ],
)
def test_nothing_in_a_name_is_taken_for_markup(name: str, text: str) -> None:
    assert quoted(name) == text


def test_a_label_never_ends_its_quotes() -> None:
    workflow = Workflow("x")
    for number in range(32, 300):
        workflow.job(f"a{chr(number)}b{number}", "true")
    for line in render(workflow).text.split("\n")[1:-1]:
        assert re.fullmatch(r'  n\d+\["[^"]*"\]', line)


def test_what_a_chart_leaves_out_is_said() -> None:
    workflow = Workflow("x")
    workflow.job("A", "a")
    assert render(workflow).lost == ["anything but names, groups and order"]
