"""A command, and a job for each line of a list."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.model.array import Line, command_of, lines_of, names_of
from headway.model.errors import ModelError
from headway.model.flatten import flatten
from headway.model.workflow import Workflow

_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
_NASTY = st.one_of(_TEXT, st.text("'\"$`\\ ;&|(){}*?#~!", min_size=1, max_size=8))


def filled(command: str, line: Line) -> str:
    return command_of(command)(line)


def filled_words(words: list[str], line: Line) -> str:
    return command_of(words)(line)


def said(command: str) -> str:
    return subprocess.run(["sh", "-c", command], capture_output=True, check=True, text=True).stdout


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo {}", "echo 'dir/a b.tar.gz'"),
        ("echo {1} {2}", "echo dir/a b.tar.gz"),
        ("echo {#} {/} {.} {/.}", "echo 7 'a b.tar.gz' 'dir/a b.tar' 'a b.tar'"),
        ("echo", "echo 'dir/a b.tar.gz'"),
        ("echo {x} {} {1,2}", "echo {x} 'dir/a b.tar.gz' {1,2}"),
        ("echo ${1} {}", "headway_1='dir/a b.tar.gz'; echo ${1} \"${headway_1}\""),
    ],
)
def test_places_stand_for_the_line_or_a_part_of_it(command: str, expected: str) -> None:
    assert filled(command, Line("dir/a b.tar.gz", 7)) == expected


def test_tabs_part_columns_where_there_are_any() -> None:
    assert filled_words(["p", "{2}", "{1}"], Line("a b\tc", 1)) == "p c 'a b'"
    with pytest.raises(ModelError, match='line 3 has no column "2": "one"'):
        filled("echo {2}", Line("one", 3))
    with pytest.raises(ModelError, match="no column"):
        filled("echo {0}", Line("one", 3))


@given(_NASTY)
def test_whatever_is_in_a_line_arrives_as_it_is_however_its_place_is_quoted(text: str) -> None:
    template = """printf '%s\\n' {} "{}" '{}' "x{}y" "$(printf %s {})" \\"{}\\" "$(printf %s "{}")" """
    whole = f'{text}\n{text}\n{text}\nx{text}y\n{text}\n"{text}"\n{text}\n'
    assert said(filled(template, Line(text, 1))) == whole
    assert said(filled_words(["printf", "%s\n", "{}", "a{}"], Line(text, 1))) == f"{text}\na{text}\n"


def test_names_are_the_lines_and_stay_when_others_come() -> None:
    lines = lines_of(["b\n", "\n", "a b\r\n", "b", "x" * 200])
    assert [line.number for line in lines] == [1, 3, 4, 5]
    names = names_of(lines)
    assert names[:3] == ["b", "a b", "b (2)"] and len(names[3]) == 80
    assert names_of(lines_of(["new", *"b", "a b", "b", "x" * 200]))[1:] == names
    assert names_of(lines_of(["y", "y (2)", "y"])) == ["y", "y (2)", "y (3)"]


def test_a_workflow_has_a_group_with_a_job_for_each_line() -> None:
    workflow = Workflow()
    first = workflow.job("first", "true")
    group = workflow.array(
        "zip", ["gzip", "-k", "{}"], ["a b.txt\n", "c.txt\n"], after=first, outputs=["{}.gz"], stdout="{.}.log", cores=2
    )
    workflow.job("last", "true", after=group)
    flat = flatten(workflow)
    jobs = {name: job for name, job in zip(flat.dag.names, flat.jobs, strict=True) if job is not None}
    assert list(jobs) == ["first", "zip/a b.txt", "zip/c.txt", "last"]
    one = jobs["zip/a b.txt"]
    assert (one.command, one.outputs, one.setting.stdout) == ("gzip -k 'a b.txt'", ("a b.txt.gz",), "a b.log")
    assert one.resources.cores == 2


@pytest.mark.parametrize("lines", ["list.txt", 3, [1]])
def test_lines_that_are_none_are_an_error(lines: object) -> None:
    with pytest.raises(ModelError, match=r"job array"):
        Workflow().array("a", "true", lines)  # type: ignore[arg-type]
