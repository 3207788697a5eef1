"""One call of mqsub."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.formats.mqsub import Call, add_call, label_of, parse_call, path_of, words_of
from headway.model.errors import ModelError
from headway.model.near_misses import meant
from headway.model.workflow import Workflow

names = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=8)
paths = st.lists(names, min_size=1, max_size=3).map(tuple)


def submitted(*calls: list[str]) -> Workflow:
    workflow = Workflow()
    for words in calls:
        add_call(workflow, parse_call(words))
    return workflow


def test_a_call_names_group_command_and_what_it_waits_for() -> None:
    call = parse_call(["-deps", "2100 1110", "-l", "1210", "-c", "./1210.sh"])
    assert call == Call(("1210",), (("2100",), ("1110",)), "./1210.sh")


def test_options_come_in_any_order_and_deps_may_be_repeated() -> None:
    call = parse_call(["-c", "x", "-deps", "A", "-l", "C", "-deps", " B\tD\n"])
    assert call.deps == (("A",), ("B",), ("D",))


def test_attributes_keep_what_follows_the_first_equals_sign() -> None:
    assert parse_call(["-l", "A", "-c", "x", "-attr", "k=a=b"]).attributes == (("k", "a=b"),)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "-l is missing"),
        ([""], 'no option ""'),
        (["-c", "x"], "-l is missing"),
        (["-l"], "-l needs a value"),
        (["-l", ""], "a part of it is empty"),
        (["-l", "A//B"], "a part of it is empty"),
        (["-l", "A", "-deps", "B/"], "a part of it is empty"),
        (["-l", "A", "B"], 'no option "B"'),
        (["-l", "A", "-l", "A"], "-l is given twice"),
        (["-l", "A", "-c", "x", "-c", "y"], "-c is given twice"),
        (["-l", "A", "-c", " "], "-c is empty"),
        (["-l", "A", "-attr", "k=v"], "-c is missing"),
        (["-l", "A", "-prologue"], "-c is missing"),
        (["-l", "A", "-c", "x", "-attr", "k"], "has no value"),
        (["-l", "A", "-c", "x", "-prologue", "-epilogue"], "either prologue or epilogue"),
    ],
)
def test_what_is_no_call_is_told(words: list[str], complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        parse_call(words)


@pytest.mark.parametrize(
    ("label", "path"),
    [("A/B", ("A", "B")), (r"A\/B", ("A/B",)), ("A B", ("A B",)), (r"A\ B", ("A B",)), (r"A\\/B", ("A\\", "B"))],
)
def test_a_backslash_keeps_the_next_character(label: str, path: tuple[str, ...]) -> None:
    assert path_of(label) == path


@given(paths)
def test_every_path_has_a_label(path: tuple[str, ...]) -> None:
    assert path_of(label_of(path)) == path


@given(
    st.builds(
        Call,
        paths,
        st.lists(paths, max_size=3).map(tuple),
        st.text(min_size=1).filter(str.strip),
        st.lists(st.tuples(st.text().filter(lambda key: "=" not in key and not meant(key)), st.text()), max_size=2).map(
            tuple
        ),
        st.sampled_from(["jobs", "prologue", "epilogue"]),
    )
)
def test_every_call_is_read_from_its_own_words(call: Call) -> None:
    assert parse_call(words_of(call)) == call


def test_a_repeated_group_gets_one_more_job() -> None:
    workflow = submitted(["-l", "A", "-c", "x"], ["-l", "A", "-c", "y"])
    assert [job.command for job in workflow.groups.groups[0].jobs] == ["x", "y"]


def test_supergroups_are_made_where_they_are_first_named() -> None:
    workflow = submitted(["-l", "X/K", "-c", "k"], ["-l", "X/L", "-c", "l", "-deps", "K"], ["-l", "X", "-c", "x"])
    group = workflow.groups.groups[0]
    assert [inner.name for inner in group.groups] == ["K", "L"]
    assert group.groups.parents_of() == {"L": ["K"]}
    assert [job.command for job in group.jobs] == ["x"]


def test_a_dependency_may_be_a_whole_path_in_the_same_supergroup() -> None:
    workflow = submitted(["-l", "X/K", "-c", "k"], ["-l", "X/L", "-c", "l", "-deps", "X/K"])
    assert workflow.groups.groups[0].groups.parents_of() == {"L": ["K"]}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-l", "C", "-deps", "B"], "which no earlier line submits"),
        (["-l", "C", "-deps", "Alpha1"], 'did you mean "Alpha"'),
        (["-l", "Alpha", "-deps", "Alpha"], "depends on itself"),
        (["-l", "New", "-deps", "New"], "depends on itself"),
        (["-l", "X/L", "-deps", "Alpha"], "not in one supergroup"),
        (["-l", "C", "-deps", "X/K"], "not in one supergroup"),
        (["-l", "/".join("a" * 101)], "nested over 100 levels"),
    ],
)
def test_a_dependency_joins_groups_submitted_earlier_to_one_supergroup(words: list[str], complaint: str) -> None:
    workflow = submitted(["-l", "Alpha", "-c", "a"], ["-l", "X/K", "-c", "k"])
    with pytest.raises(ModelError, match=complaint):
        add_call(workflow, parse_call(words))


@pytest.mark.parametrize(
    ("key", "right"), [("retry", "retries"), ("core", "cores"), ("timeout", "time"), ("environment.X", "env.X")]
)
def test_a_key_that_is_nearly_one_of_ours_is_refused(key: str, right: str) -> None:
    with pytest.raises(ModelError, match=f'-attr "{key}" is like "{right}"'):
        parse_call(["-l", "A", "-c", "a", "-attr", f"{key}=3"])
    call = parse_call(["-l", "A", "-c", "a", "-attr", f"own.{key}=3"])
    workflow = Workflow()
    add_call(workflow, call)
    (job,) = workflow.groups.groups[0].jobs
    assert job.attributes == {key: "3"}


@pytest.mark.parametrize("key", ["stage", "score", "type", "host", "colour", "priority"])
def test_other_keys_are_the_user_s_own(key: str) -> None:
    assert parse_call(["-l", "A", "-c", "a", "-attr", f"{key}=3"]).attributes == ((key, "3"),)
