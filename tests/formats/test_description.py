"""A description script's answers as a workflow."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.formats import description
from headway.model.errors import InputError
from headway.model.flatten import flatten
from headway.model.job import Job
from headway.model.workflow import Workflow
from tests.texts import Texts

LINES = {
    "generateGroup": 3,
    "getDependent": 5,
    "getJobsExecutables": 7,
    "getJobsAttributes": 9,
    "getJobsParameters": 11,
}


class Answered(Texts):
    """A world in which the script has answered already."""

    def __init__(self, answers: str) -> None:
        super().__init__({})
        self.answers = answers

    def describe(self, path: str, arguments: object) -> str:
        return self.answers


def row(number: int, **other: Any) -> dict[str, Any]:
    return {
        "parent": -1,
        "level": "G",
        "id": [number],
        "deps": [],
        "jobs": {"jobs": ["run"]},
        "attributes": [],
        "parameters": [],
        **other,
    }


def parsed(*rows: dict[str, Any]) -> Workflow:
    return description.parse("d.py", Answered(json.dumps({"groups": rows, "lines": LINES})))


def test_a_group_is_named_after_its_level_and_integers() -> None:
    workflow = parsed(row(-2), row(1, level="H", id=[1, 0], parent=0))
    assert [path for path, _ in workflow.walk()] == ["G_-2", "G_-2/H_1_0"]
    assert workflow.name == "d"


def test_a_command_is_executable_and_parameters() -> None:
    jobs = {"jobs": ["a", "b.sh", ["c d", "e"], "f"]}
    workflow = parsed(row(1, jobs=jobs, parameters=[" -v  1 ", ["x y", "z"], "", []]))
    commands = [job.command for job in workflow.groups.groups[0].jobs]
    assert commands == ["a -v  1", "b.sh 'x y' z", "'c d' e", "f"]


def test_attributes_and_parameters_may_be_fewer_than_jobs() -> None:
    workflow = parsed(row(1, jobs={"jobs": ["a", "b"]}, attributes=[["release=yes", "seconds = 90", "who=me=you"]]))
    first, second = workflow.groups.groups[0].jobs
    assert first == Job("a", seconds=90.0, attributes={"release": "yes", "who": "me=you"})
    assert second == Job("b")


def test_prologue_and_epilogue_are_kept() -> None:
    group = parsed(row(1, jobs={"prologue": ["p"], "jobs": ["a"], "epilogue": ["e"]})).groups.groups[0]
    assert [job.command for job in group.all_jobs()] == ["p", "a", "e"]


def test_dependencies_on_groups_never_generated_are_dropped_and_counted() -> None:
    workflow = parsed(row(1), row(2, deps=[[1], [1], [0], [7]]))
    assert workflow.dropped == 2
    assert workflow.groups.parents_of() == {"G_2": ["G_1"]}


def test_a_dependency_may_be_on_a_group_generated_later() -> None:
    assert parsed(row(1, deps=[[2]]), row(2)).groups.parents_of() == {"G_1": ["G_2"]}


def test_a_cycle_is_placed_at_get_dependent() -> None:
    workflow = parsed(row(1, deps=[[2]]), row(2, deps=[[1]]))
    workflow.source = "d.py"
    with pytest.raises(InputError, match=r"^d\.py:5: cycle: G_1 -> G_2 -> G_1\."):
        flatten(workflow)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "d.py:3: the script generates no groups."),
        ([row(1), row(1)], 'd.py:3: generateGroup returns "G_1" twice.'),
        ([row(1, deps=[[1]])], 'd.py:5: getDependent says that "G_1" depends on itself.'),
        ([row(1, jobs={"jobs": [" "]})], 'd.py:7: an executable of "G_1" is empty.'),
        ([row(1, jobs={"jobs": [[]]})], 'd.py:7: an executable of "G_1" is empty.'),
        ([row(1, jobs={"jobs": ["a\0"]})], "d.py:7: "),
        ([row(1, jobs={"jobs": ["a\ud800"]})], "d.py:7: "),
        ([row(1, attributes=[["release"]])], 'd.py:9: attribute "release" has no value. Expected "key=value".'),
        ([row(1, attributes=[["release=maybe"]])], 'd.py:9: attribute release="maybe" does not fit.'),
        ([row(1, attributes=[["memroy=1G"]])], 'd.py:9: attribute "memroy" is like "memory", which may be meant.'),
        ([row(1, attributes=[["a b=1"]])], 'd.py:9: "a b" is no attribute name.'),
        ([row(1, attributes=[[], []])], 'd.py:9: getJobsAttributes returns 2 entries for the 1 jobs of "G_1".'),
        ([row(1, parameters=["", ""])], "d.py:11: getJobsParameters returns 2 entries"),
    ],
)
def test_an_error_blames_the_function_that_answered(rows: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(*rows)
    assert str(caught.value).startswith(said)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*row(1), "x"]), inner, max_size=4),
    max_leaves=10,
)


@given(st.text() | st.fixed_dictionaries({"groups": json_values, "lines": json_values}).map(json.dumps))
def test_answers_that_make_no_sense_are_an_error(answers: str) -> None:
    with pytest.raises(InputError):
        description.parse("d.py", Answered(answers))
