from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.formats.dagman import parse
from headway.formats.dagman.instrument import Instrumented, instrumented, priorities, restored
from headway.model.dag import Dag
from headway.model.errors import CycleError, InputError
from headway.policies.what_next import order
from tests.texts import Originals

SUB = b"executable = /bin/true\nqueue\n"
BEGIN = b"# >>> headway prio >>> written by Headway, taken out by headway prio --undo"
END = b"# <<< headway prio <<<"
USE = BEGIN + b"\npriority = $(JOBPRIORITY)\n" + END + b"\n"


def by_file(dag: Dag) -> list[int]:
    """An order that is easy to follow: the last job of the file first."""
    return [len(dag) - node for node in range(len(dag))]


def written(files: Mapping[str, bytes], style: str = "priority") -> tuple[dict[str, bytes], Instrumented]:
    """All files as they are afterwards, and the answer."""
    found = instrumented("x.dag", Originals(files), by_file, style)
    return _applied(files, found), found


def undone(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return _applied(files, restored("x.dag", Originals(files)))


def _applied(files: Mapping[str, bytes], found: Instrumented) -> dict[str, bytes]:
    for change in found.changes:
        assert files[change.path] == change.before != change.after
    return {**files, **{change.path: change.after for change in found.changes}}


def block(*lines: bytes, end: bytes = b"\n", begin: bytes = BEGIN) -> bytes:
    return b"".join(line + end for line in (begin, *lines, END))


def seen(files: Mapping[str, bytes]) -> dict[str, int]:
    """The priorities as a reader of the DAG finds them."""
    return {group.name: group.jobs[0].rules.priority for group in parse("x.dag", Originals(files)).groups if group.jobs}


def variables(files: Mapping[str, bytes]) -> dict[str, str]:
    workflow = parse("x.dag", Originals(files))
    return {group.name: dict(group.jobs[0].variables).get("JOBPRIORITY", "") for group in workflow.groups if group.jobs}


DIAMOND = b"JOB A a.sub\nJOB B a.sub\nJOB C b.sub\nJOB D a.sub\nPARENT A CHILD B C\nPARENT B C CHILD D\n"
FILES = {"x.dag": DIAMOND, "a.sub": SUB, "b.sub": SUB}


def test_priority_lines_stand_at_the_end_highest_first() -> None:
    after, found = written(FILES)
    assert after["x.dag"] == DIAMOND + block(b"PRIORITY D 4", b"PRIORITY C 3", b"PRIORITY B 2", b"PRIORITY A 1")
    assert found.priorities == {"A": 1, "B": 2, "C": 3, "D": 4} == seen(after)
    assert [change.path for change in found.changes] == ["x.dag"] and found.warnings == []


def test_the_papers_style_sets_a_variable_and_has_each_submit_file_use_it_once() -> None:
    after, found = written(FILES, "vars")
    lines = [b'Vars D JOBPRIORITY="4"', b'Vars C JOBPRIORITY="3"', b'Vars B JOBPRIORITY="2"', b'Vars A JOBPRIORITY="1"']
    assert after["x.dag"] == DIAMOND + block(*lines)
    assert after["a.sub"] == after["b.sub"] == b"executable = /bin/true\n" + USE + b"queue\n"
    assert [change.path for change in found.changes] == ["x.dag", "a.sub", "b.sub"]  # the DAG first: see docs


@pytest.mark.parametrize("first", ["priority", "vars"])
@pytest.mark.parametrize("then", ["priority", "vars"])
def test_a_second_call_replaces_the_first_ones_lines(first: str, then: str) -> None:
    after, _ = written(written(FILES, first)[0], then)
    assert after == written(FILES, then)[0]
    assert undone(after) == FILES


def test_a_second_call_changes_nothing() -> None:
    for style in ("priority", "vars"):
        once, _ = written(FILES, style)
        again, found = written(once, style)
        assert again == once and found.changes == [] and found.priorities == {"A": 1, "B": 2, "C": 3, "D": 4}


def test_a_file_without_a_last_line_end_gets_none_back() -> None:
    files = {**FILES, "x.dag": DIAMOND.rstrip(b"\n")}
    after, _ = written(files)
    assert after["x.dag"].startswith(DIAMOND + BEGIN + b" (the line above had no end)\n") and undone(after) == files


def test_a_lone_carriage_return_at_the_end_stays() -> None:
    for text in (b"JOB A a.sub\r", b"JOB A a.sub\r\nJOB B a.sub\r"):
        files = {**FILES, "x.dag": text}
        after, _ = written(files)
        assert undone(after) == files and written(after)[0] == after


def test_windows_line_ends_a_byte_order_mark_and_any_byte_survive() -> None:
    text = b"\xef\xbb\xbfJOB \xff\xfe a.sub\r\n# caf\xe9\r\nJOB B a.sub"
    files = {"x.dag": text, "a.sub": b"\xef\xbb\xbfqueue\r\nlog = \xe9"}
    after, _ = written(files)
    unended = BEGIN + b" (the line above had no end)"
    assert after["x.dag"] == text + b"\r\n" + block(b"PRIORITY B 2", b"PRIORITY \xff\xfe 1", end=b"\r\n", begin=unended)
    after, _ = written(files, "vars")
    assert after["a.sub"].startswith(b"\xef\xbb\xbf# >>> headway") and after["a.sub"].endswith(b"queue\r\nlog = \xe9")
    assert undone(after) == files


def test_what_was_written_below_headways_lines_stays() -> None:
    after, _ = written({**FILES, "x.dag": DIAMOND.rstrip(b"\n")})
    after["x.dag"] += b"JOB E a.sub\n"
    assert undone(after)["x.dag"] == DIAMOND + b"JOB E a.sub\n"
    again, found = written(after)
    assert again["x.dag"].startswith(DIAMOND + b"JOB E a.sub\n") and found.priorities["E"] == 5


def test_what_was_written_among_headways_lines_is_not_thrown_away() -> None:
    after, _ = written(FILES)
    after["x.dag"] = after["x.dag"].replace(b"PRIORITY B 2\n", b"PRIORITY B 2\nJOB E a.sub\n")
    with pytest.raises(InputError, match=r'x.dag:11: "JOB E a.sub" stands among Headway.s own lines'):
        undone(after)
    after["x.dag"] = DIAMOND + BEGIN + b"\nPRIORITY A 1\n"
    with pytest.raises(InputError, match=r"x.dag:7: the end of Headway's own lines is missing"):
        written(after)


# --- what a user said before ------------------------------------------------------------------------------------------


def test_the_users_own_priority_lines_stay_and_are_overruled() -> None:
    files = {**FILES, "x.dag": b"PRIORITY ALL_NODES 7\n" + DIAMOND + b"priority \\\n  B 9\n"}
    after, found = written(files)
    assert seen(after) == found.priorities == {"A": 1, "B": 2, "C": 3, "D": 4}
    assert [warning.split(":")[1] for warning in found.warnings] == ["1", "9"]
    assert undone(after) == files and seen(undone(after))["B"] == 9


def test_priority_lines_that_the_papers_style_does_not_overrule_are_told() -> None:
    _, found = written({**FILES, "x.dag": DIAMOND + b'PRIORITY B 9\nVARS C x="1" JobPriority = "3"\n'}, "vars")
    assert "x.dag:8: Headway's lines at the end overrule this one." in found.warnings
    assert any(warning.startswith("x.dag:7: this line, not --style vars, decides") for warning in found.warnings)


@pytest.mark.parametrize("line", [b"priority = 3", b"PRIO=3", b"+JobPrio = 3", b"MY.JobPrio = 3"])
def test_a_submit_files_own_priority_is_told(line: bytes) -> None:
    files = {**FILES, "a.sub": b"executable = x\n" + line + b"\nqueue\n"}
    after, found = written(files)
    assert [w.split(" priority")[0] for w in found.warnings] == ["a.sub:2: this"] and "defeats" in found.warnings[0]
    assert after["a.sub"] == files["a.sub"]
    assert "is overruled by Headway's line" in written(files, "vars")[1].warnings[0]


def test_a_priority_set_after_the_first_queue_overrules_and_is_told() -> None:
    _, found = written({**FILES, "a.sub": b"queue\npriority = 4\nqueue\n"}, "vars")
    assert found.warnings == ["a.sub:2: this priority overrules Headway's line above it. Remove it."]


def test_a_submit_file_that_uses_the_variable_already_is_left_alone() -> None:
    files = {**FILES, "a.sub": b"Priority = $(jobpriority)\nqueue\n"}
    after, found = written(files, "vars")
    assert after["a.sub"] == files["a.sub"] and found.warnings == [] and undone(after) == files
    assert "defeats" in written(files)[1].warnings[0]  # nothing sets the variable then


# --- where the line of a submit file goes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        (b"x = 1\n", b"queue 3\ny = 2\nqueue\n"),  # the first of several
        (b"x = queue\nlong = a \\\n  queue\n", b"QUEUE\n"),
        (b"m @=end\nqueue\n@end\n", b"queue \\\n 3\n"),
        (b"# queue\n", b"queue x in (\n a\n queue\n)\n"),
        (b"x = 1\n", b"if defined y\n  if true\n  queue\n  endif\nelse\n queue 2\nendif\n"),
        (b"if true\nx = 1\nendif\n", b"queue\n"),
        (b"x = 1\n", b"include : c.sub\n"),  # which has the queue statement
        (b"include : d.sub\n", b"queue"),
        (b"x = 1\n", b""),  # DAGMan queues by itself
        (b"", b""),
    ],
)
def test_the_line_stands_before_the_first_queue_whatever_leads_to_it(before: bytes, behind: bytes) -> None:
    files = {"x.dag": b"JOB A a.sub\n", "a.sub": before + behind, "c.sub": b"queue 2\n", "d.sub": b"y = 1\n"}
    after, _ = written(files, "vars")
    assert after["a.sub"] == before + USE + behind and undone(after) == files


def test_descriptions_in_the_dag_file_itself_get_the_line_too() -> None:
    text = (
        b"JOB A {\n  executable = a\n}\n"
        b"SUBMIT-DESCRIPTION d @=end\n  executable = b\n  queue\n@end\n"
        b"JOB B d\nFINAL F {\n  executable = f\n}\n"
    )
    files = {"x.dag": text}
    after, _ = written(files, "vars")
    assert after["x.dag"].startswith(
        b"JOB A {\n  executable = a\n" + USE + b"}\n"
        b"SUBMIT-DESCRIPTION d @=end\n  executable = b\n" + USE + b"  queue\n@end\n"
        b"JOB B d\nFINAL F {\n  executable = f\n}\n" + BEGIN
    )
    assert undone(after) == files and variables(after) == {"A": "1", "B": "2"}
    assert written(files)[0]["x.dag"] == text + block(b"PRIORITY B 2", b"PRIORITY A 1")


def test_a_priority_in_the_dag_files_own_descriptions_is_told_with_its_line() -> None:
    _, found = written({"x.dag": b"# one\nJOB A {\n  executable = a\n  priority = 4\n}\n"})
    assert found.warnings == ["x.dag:4: this priority and the node's own both want to count. Remove it."]


def test_a_last_line_that_goes_on_would_swallow_ours_and_is_an_error() -> None:
    with pytest.raises(InputError, match=r"x.dag:2: the last command ends in a backslash"):
        written({"x.dag": b"JOB A a.sub\nRETRY A \\\n\n", "a.sub": SUB})
    with pytest.raises(InputError, match=r"a.sub:2: the last line ends in a backslash"):
        written({"x.dag": b"JOB A a.sub\n", "a.sub": b"x = 1\ny = 2 \\\n"}, "vars")
    with pytest.raises(InputError, match=r"x.dag:2: the last line ends in a backslash"):
        written({"x.dag": b"JOB A {\nx = 1 \\\n}\n"}, "vars")


# --- several files ----------------------------------------------------------------------------------------------------


def test_nodes_of_a_splice_get_their_lines_in_the_splices_file() -> None:
    files = {
        "x.dag": b"JOB A a.sub\nSPLICE S s.dag\nPARENT A CHILD S\n",
        "s.dag": b"JOB A a.sub\nSPLICE T t.dag\n",
        "t.dag": b"JOB B a.sub",
        "a.sub": SUB,
    }
    after, found = written(files)
    assert found.priorities == {"A": 1, "S+A": 2, "S+T+B": 3} == seen(after) and found.warnings == []
    assert after["s.dag"] == files["s.dag"] + block(b"PRIORITY A 2") and b"PRIORITY B 3" in after["t.dag"]
    assert undone(after) == files
    assert variables(written(files, "vars")[0]) == {"A": "1", "S+A": "2", "S+T+B": "3"}


def test_copies_of_one_splice_share_the_highest_priority() -> None:
    files = {"x.dag": b"SPLICE S s.dag\nJOB A a.sub\nSPLICE T ./s.dag\n", "s.dag": b"JOB B a.sub\n", "a.sub": SUB}
    files["./s.dag"] = files["s.dag"]  # the same file
    found = instrumented("x.dag", Originals(files), by_file)
    assert found.priorities == {"S+B": 3, "A": 2, "T+B": 3}
    assert [change.path for change in found.changes] == ["x.dag", "s.dag"]
    assert instrumented("x.dag", Originals(files), lambda dag: range(len(dag))).priorities == found.priorities
    assert found.warnings == ['"s.dag" is spliced in 2 times: its nodes get the highest priority of their copies.']


def test_included_files_are_not_changed_since_their_names_hold_in_the_whole_dag() -> None:
    files = {
        "x.dag": b"INCLUDE i.dag\nJOB B a.sub\n",
        "i.dag": b"JOB A {\nexecutable = a\n}\nPRIORITY A 5\n",
        "a.sub": SUB,
    }
    after, found = written(files)
    assert seen(after) == found.priorities and [change.path for change in found.changes] == ["x.dag"]
    assert found.warnings == ["i.dag:4: Headway's lines at the end overrule this one."]
    after, _ = written(files, "vars")
    assert after["i.dag"] == b"JOB A {\nexecutable = a\n" + USE + b"}\nPRIORITY A 5\n" and undone(after) == files


def test_a_file_both_spliced_and_included_serves_both() -> None:
    files = {"x.dag": b"SPLICE S i.dag\nINCLUDE i.dag\nJOB B a.sub\n", "i.dag": b"JOB A a.sub\n", "a.sub": SUB}
    after, found = written(files)
    assert seen(after) == found.priorities and len(set(found.priorities.values())) == 3


def test_a_subdags_node_gets_a_native_priority_only() -> None:
    files = {"x.dag": b"JOB A a.sub\nSUBDAG EXTERNAL S in.dag\n", "a.sub": SUB, "in.dag": b"JOB I a.sub\n"}
    after, found = written(files)
    assert found.priorities == {"A": 1, "S": 2} == seen(after) and after["in.dag"] == files["in.dag"]
    assert 'adds the 2 of SUBDAG node "S" to each node of "in.dag"' in found.warnings[0]
    after, found = written(files, "vars")
    assert found.priorities == {"A": 1} and b"Vars S" not in after["x.dag"]
    assert any("SUBDAG" in warning for warning in found.warnings)


def test_nodes_that_take_no_priority_get_none() -> None:
    text = b"JOB A a.sub\nFINAL F a.sub\nSERVICE S a.sub\nPROVISIONER P a.sub\n"
    after, found = written({"x.dag": text, "a.sub": SUB})
    assert after["x.dag"] == text + block(b"PRIORITY A 1") and found.priorities == {"A": 1}


def test_splices_and_nodes_look_for_submit_files_in_their_directories() -> None:
    files = {
        "d/x.dag": b"SPLICE S s.dag DIR e\nJOB A a.sub DIR f\n",
        "d/e/s.dag": b"JOB B a.sub DIR g\n",
        "d/e/g/a.sub": SUB,
        "d/f/a.sub": SUB,
    }
    found = instrumented("d/x.dag", Originals(files), by_file, "vars")
    assert {change.path for change in found.changes} == set(files)


def test_a_missing_submit_file_is_a_warning_natively_and_an_error_in_the_papers_style() -> None:
    files = {"x.dag": b"SPLICE S s.dag\n", "s.dag": b"INCLUDE i.dag\n", "i.dag": b"# one\nJOB A gone.sub\n"}
    _, found = written(files)
    assert found.warnings == ['submit file "gone.sub" of node "S+A" is not there.']
    with pytest.raises(InputError, match=r'^i.dag:2: submit file "gone.sub" of node "A" is not there. --style vars'):
        written(files, "vars")
    assert len(written({"x.dag": b"JOB A gone.sub NOOP\n"}, "vars")[1].changes) == 1


def test_a_submit_file_that_makes_no_sense_matters_only_where_it_is_changed() -> None:
    files = {"x.dag": b"JOB A a.sub\n", "a.sub": b"priority = 3\nif true\nqueue\n"}
    assert written(files)[1].priorities == {"A": 1}
    with pytest.raises(InputError, match=r'a.sub:2: "if" without "endif"'):
        written(files, "vars")


def test_a_submit_file_shared_with_another_dag_is_told_where_it_is_changed() -> None:
    files = {**FILES, "other.dag": b"JOB Z ./a.sub\n", "broken.dag": b'JOB "\n'}
    assert written(files)[1].warnings == []
    after, found = written(files, "vars")
    assert found.warnings == ['"a.sub" is used by "other.dag" too.'] and undone(after) == files


def test_a_splice_shared_with_another_dag_is_told() -> None:
    files = {"x.dag": b"SPLICE S s.dag\n", "s.dag": b"JOB A a.sub\n", "a.sub": SUB, "y.dag": b"SPLICE T s.dag\n"}
    assert written(files)[1].warnings == ['"s.dag" is used by "y.dag" too.']


def test_a_shared_submit_file_keeps_its_line_while_another_dag_relies_on_it() -> None:
    files = {**FILES, "other.dag": b"JOB Z a.sub\n"}
    after, _ = written(files, "vars")
    both = _applied(after, instrumented("other.dag", Originals(after), by_file, "vars"))
    one = undone(both)
    assert one["x.dag"] == DIAMOND and one["b.sub"] == SUB and one["a.sub"] == both["a.sub"] != SUB
    assert 'keeps Headway\'s line: "other.dag" relies on it' in restored("x.dag", Originals(both)).warnings[0]
    assert written(both)[0]["a.sub"] == both["a.sub"]
    assert _applied(one, restored("other.dag", Originals(one))) == files


# --- the numbers ------------------------------------------------------------------------------------------------------


def test_equal_ranks_get_equal_priorities_so_that_the_first_eligible_goes_first() -> None:
    dag = Dag(["A", "m", "B", "C"], [0, 1], [1, 2], milestones=bytes([0, 1, 0, 0]))
    assert priorities(dag, [4, 0, 9, 9]) == {"A": 2, "B": 1, "C": 1}
    assert set(priorities(dag, order("fifo")(dag)).values()) == {1}


def test_join_nodes_count_for_nothing() -> None:
    text = b"".join(b"JOB %d a.sub\n" % job for job in range(6)) + b"PARENT 0 1 2 CHILD 3 4 5\n"
    _, found = written({"x.dag": text, "a.sub": SUB})
    assert found.priorities == {str(job): job + 1 for job in range(6)}


def test_a_cycle_is_an_error_with_its_line() -> None:
    with pytest.raises((InputError, CycleError), match=r"x.dag:4: cycle: A -> B -> A"):
        written({"x.dag": b"JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nPARENT B CHILD A\n", "a.sub": SUB})


def test_a_rescue_file_is_not_the_dag() -> None:
    files = {"x.dag": DIAMOND, "x.dag.rescue001": b"DONE A\n"}
    with pytest.raises(InputError, match=r'rescue file. Name the DAG itself: "x.dag"'):
        instrumented("x.dag.rescue001", Originals(files), by_file)


PIECES = st.sampled_from(
    [
        *(b"# a comment", b"", b"   ", b"// another \\", b"# \xff\xfe", b"RETRY A 3", b"RETRY \\\n\tB \\\n 2"),
        *(b"PRIORITY A 12", b"priority ALL_NODES -3", b'VARS A JOBPRIORITY="2" x="y"', b"MAXJOBS cat 3"),
        *(b"JOB %s {\n  executable = a\n # no\n}", b"JOB %s a.sub DIR d NOOP", b'JOB %s "a.sub"', b"job %s b.sub"),
        *(b"SPLICE %s s.dag", b"SUBDAG EXTERNAL %s in.dag", b"SUBMIT-DESCRIPTION %s @=x\nlog = l\n@x"),
    ]
)
SUBMIT = st.sampled_from(
    [b"executable = a", b"queue", b"# c", b"", b"  priority = 4", b"a = b \\\n c", b"queue 2", b"\t"]
)


@st.composite
def texts(draw: st.DrawFn, pieces: st.SearchStrategy[bytes], first: bytes) -> bytes:
    number = itertools.count()
    lines = [first, *draw(st.lists(pieces, max_size=8))]
    named = [line.replace(b"%s", b"N%d" % next(number)) for line in lines]
    end = draw(st.sampled_from([b"\n", b"\r\n"]))
    text = end.join(named).replace(b"\n", end).replace(b"\r\r", b"\r")
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text + draw(st.sampled_from([b"", end]))


@given(
    texts(PIECES, b"JOB A a.sub\nJOB B a.sub"),
    texts(PIECES, b"JOB A a.sub\nJOB B c.sub"),
    texts(SUBMIT, b"log = l"),
    st.sampled_from(["priority", "vars"]),
    st.sampled_from(["priority", "vars"]),
)
def test_whatever_a_file_looks_like_undo_gives_it_back(
    dag: bytes, splice: bytes, submit: bytes, first: str, then: str
) -> None:
    files = {"x.dag": dag, "s.dag": splice.replace(b"SPLICE", b"# SPLICE"), "in.dag": b"JOB I z.sub\n"}
    files |= {"a.sub": submit, "b.sub": submit, "c.sub": SUB, "d/a.sub": submit}
    once, found = written(files, first)
    twice, _ = written(once, then)
    assert undone(once) == undone(twice) == files
    assert written(once, first)[0] == once and written(twice, then)[0] == twice
    assert twice == written(files, then)[0]
    had = seen(once) if first == "priority" else variables(once)
    assert {name: int(had[name]) for name in found.priorities} == found.priorities


WORDS = st.sampled_from(
    [
        *(
            b"JOB",
            b"PARENT",
            b"CHILD",
            b"A",
            b"B",
            b"a.sub",
            b"{",
            b"}",
            b"@=x",
            b"@x",
            b"SPLICE",
            b"INCLUDE",
            b"s.dag",
        ),
        *(b"PRIORITY", b"3", b"VARS", b'x="1"', b'"', b"\\", b"\n", b"\n", b"\n", b"\r\n", b"#", b"FINAL", b"DIR"),
        *(b"SUBMIT-DESCRIPTION", b"queue", b"if", b"endif", b"priority = 3", b"include : c.sub", b"\xff", b"\0"),
        *(BEGIN, END, b"PRIORITY A 1", b"\n" + BEGIN + b"\n", b"\n" + END + b"\n"),
    ]
)


@given(st.lists(WORDS, max_size=14), st.lists(WORDS, max_size=6), st.lists(WORDS, max_size=8))
def test_nonsense_is_an_error_with_a_line_or_is_given_back_whole(
    dag: list[bytes], splice: list[bytes], submit: list[bytes]
) -> None:
    files = {"x.dag": b"JOB A a.sub\n" + b" ".join(dag), "s.dag": b" ".join(splice)}
    files |= {"a.sub": b" ".join(submit), "c.sub": b"queue\n"}
    for style in ("priority", "vars"):
        try:
            clean = undone(files)
            after, _ = written(files, style)
        except InputError:
            continue
        assert undone(after) == clean and written(after, style)[0] == after
