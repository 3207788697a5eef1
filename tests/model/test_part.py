"""A part of a workflow: until some jobs, from some groups on."""

from __future__ import annotations

import pytest

from headway.model.errors import NotFoundError
from headway.model.flatten import Flat, flatten
from headway.model.part import WHOLE, Part, part
from headway.model.workflow import Workflow


def diamond() -> Flat:
    """a, then b and c, then d; s stands alone before d; g is a group of two jobs and a subgroup, after d."""
    workflow = Workflow()
    a = workflow.job("a", "true")
    b = workflow.job("b", "true", after=a)
    c = workflow.job("c", "true", after=a)
    s = workflow.job("s", "true")
    d = workflow.job("d", "true", after=[b, c, s])
    g = workflow.group("g", after=d)
    g.job("in", "true")
    g.run("true").run("true")
    return flatten(workflow)


def names(flat: Flat, nodes: frozenset[int] | None) -> list[str]:
    assert nodes is not None
    return sorted(flat.dag.names[node] for node in nodes if not flat.dag.milestones[node])


def test_without_a_wish_it_is_the_whole() -> None:
    assert part(diamond()) is WHOLE and WHOLE.wants(17)


def test_until_a_job_is_that_job_and_all_it_needs() -> None:
    flat = diamond()
    found = part(flat, until=["b"])
    assert names(flat, found.wanted) == ["a", "b"]
    assert found == Part(found.wanted)


def test_until_a_group_means_all_of_its_jobs() -> None:
    flat = diamond()
    assert names(flat, part(flat, until=["g"]).wanted) == ["a", "b", "c", "d", "g", "g#2", "g/in", "s"]
    assert names(flat, part(flat, until=["g/in"]).wanted) == ["a", "b", "c", "d", "g/in", "s"]


def test_from_a_group_on_what_comes_before_it_counts_as_done_and_what_else_is_needed_runs() -> None:
    flat = diamond()
    found = part(flat, since=["b"])
    assert names(flat, found.begun) == ["b"]
    assert names(flat, found.anew) == ["b", "d", "g", "g#2", "g/in"]
    assert names(flat, found.assumed) == ["a"]
    assert names(flat, found.wanted) == ["b", "c", "d", "g", "g#2", "g/in", "s"]


def test_from_and_until_together_are_what_lies_between() -> None:
    flat = diamond()
    found = part(flat, until=["d"], since=["b", "c"])
    assert names(flat, found.wanted) == ["b", "c", "d", "s"]
    assert names(flat, found.anew) == ["b", "c", "d", "g", "g#2", "g/in"]  # those after d another time
    assert part(flat, until=["s"], since=["b"]).anew == frozenset()


def test_of_two_stages_asked_for_the_later_one_does_not_make_the_earlier_count_as_done() -> None:
    flat = diamond()
    found = part(flat, since=["d", "a"])
    assert names(flat, found.assumed) == ["s"]
    assert names(flat, found.anew) == ["a", "b", "c", "d", "g", "g#2", "g/in"]


def test_a_name_that_is_not_there_is_told_with_one_that_is() -> None:
    with pytest.raises(NotFoundError, match=r'no job or group "g/on"\. Did you mean "g/in"'):
        part(diamond(), until=["g/on"])
