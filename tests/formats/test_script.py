"""Python scripts that build a workflow, as the child tells it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.formats import script
from headway.model.errors import InputError
from headway.model.job import Job
from headway.model.workflow import Group
from tests.texts import Texts

EMPTY: dict[str, object] = {
    "name": "n",
    "flat": "mqsub -l A -c a\n",
    "files": {},
    "throttles": {},
    "final": None,
    "provisioner": None,
    "services": [],
    "warnings": [],
    "lost": [],
}


class Built(Texts):
    """A world in which the script has run already."""

    def __init__(self, answer: str) -> None:
        super().__init__({})
        self.answer = answer

    def build(self, path: str, arguments: object) -> str:
        return self.answer


def test_what_a_flat_script_cannot_say_comes_beside_it() -> None:
    final = "mqsub -l F -c f\n"
    answer = {**EMPTY, "files": {"x": 5}, "throttles": {"c": 2}, "final": final, "warnings": ["w"], "lost": ["rules"]}
    workflow = script.parse("p.py", Built(json.dumps(answer)))
    assert workflow.name == "n"
    assert workflow.files == {"x": 5}
    assert workflow.throttles == {"c": 2}
    assert workflow.final == Group("F", [Job("f")])
    assert workflow.warnings == ["w", "not kept of what the script builds: rules."]


@pytest.mark.parametrize("flat", ["", "mqsub -l A -c 'a\0'", "mqsub -l A -c '\ud800'", "rm $x", "mqsub -l 'A", "x"])
def test_a_workflow_that_cannot_be_is_an_error(flat: str) -> None:
    with pytest.raises(InputError):
        script.parse("p.py", Built(json.dumps({**EMPTY, "flat": flat})))


@given(st.text() | st.dictionaries(st.sampled_from([*EMPTY]), st.none() | st.integers() | st.text()).map(json.dumps))
def test_answers_that_make_no_sense_are_an_error(answer: str) -> None:
    with pytest.raises(InputError):
        script.parse("p.py", Built(answer))
