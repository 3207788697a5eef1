"""Flat submission scripts, read and written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.formats import flat
from headway.formats.shellwords import NotPlainError, UnclosedQuoteError, plain_commands, quoted
from headway.model.errors import InputError, ModelError
from headway.model.flatten import flatten
from headway.model.job import Job
from headway.model.workflow import Group, Members, Workflow
from tests.texts import Texts


def parsed(text: str) -> Workflow:
    return flat.parse("w.sh", Texts({"w.sh": text}))


# --- words ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b\tc", ["a", "b", "c"]),
        ("a \"b c\" 'd e'", ["a", "b c", "d e"]),
        ("a'b'\"c\"d", ["abcd"]),
        (r"a\ b \"c", ["a b", '"c']),
        (r'"a\"b\\c\d\$e"', [r'a"b\c\d$e']),
        (r"'a\b'", [r"a\b"]),
        ("a \\\n b\\\nc", ["a", "bc"]),
        ('"a\\\nb" "c\nd"', ["ab", "c\nd"]),
        ("a#b # c 'd", ["a#b"]),
        ("a '' \"\"", ["a", "", ""]),
        ("a \r", ["a", "\r"]),
        ("a !b {c} d=~e", ["a", "!b", "{c}", "d=~e"]),
        ("a\\", ["a\\"]),
    ],
)
def test_words_are_what_sh_makes_of_them(text: str, words: list[str]) -> None:
    assert [found for _, found in plain_commands(text)] == [words]
    said = subprocess.run(
        ["sh", "-c", f"show() {{ printf '%s\\0' \"$@\"; }}\nshow {text}"], capture_output=True, check=True
    )
    if not text.endswith("\\"):
        assert said.stdout.decode().split("\0")[:-1] == words


@pytest.mark.parametrize("text", ["a $b", 'a "$b"', "a `b`", "a; b", "a && b", "a > b", "a *", "(a)", "a ~/b", "! a"])
def test_what_only_sh_can_say_is_not_plain(text: str) -> None:
    with pytest.raises(NotPlainError):
        list(plain_commands(text))


@pytest.mark.parametrize(("text", "line"), [("a 'b", 1), ('a\nb "c\nd', 2), ("a 'b\nc' \\\n \"", 3)])
def test_an_unclosed_quote_is_placed_where_it_opens(text: str, line: int) -> None:
    with pytest.raises(UnclosedQuoteError) as caught:
        list(plain_commands(text))
    assert caught.value.line == line


def test_lines_are_counted_through_quotes_and_continued_lines() -> None:
    text = "# one\na \\\n b\n\nc 'd\ne'\nf\n"
    assert [number for number, _ in plain_commands(text)] == [2, 5, 7]


@given(st.text(st.characters(exclude_characters="\0")))
def test_a_quoted_word_is_one_plain_word(word: str) -> None:
    assert list(plain_commands(f"x {quoted(word)}\n")) == [(1, ["x", word])]


# --- reading -------------------------------------------------------------------------------------------------------


def test_each_line_submits_a_job_to_a_group() -> None:
    workflow = parsed('#!/bin/sh\n# two\nmqsub -deps "" -l "A" -c "a.sh"\n./mqsub -deps A -l B -c \'b "c"\'\n')
    assert workflow.name == "w"
    assert [group.jobs for group in workflow.groups] == [[Job("a.sh")], [Job('b "c"')]]
    assert workflow.groups.parents_of() == {"B": ["A"]}


def test_the_line_of_a_dependency_is_remembered_so_that_a_cycle_has_a_place() -> None:
    workflow = parsed("mqsub -l A -c a\nmqsub -deps A -l B -c b\nmqsub -deps B -l A\n")
    workflow.source = "w.sh"
    with pytest.raises(InputError, match=r"w.sh:3: cycle: A -> B -> A\."):
        flatten(workflow)


@pytest.mark.parametrize("text", ["\ufeffmqsub -l A -c a\n", "mqsub -l A \\\r\n  -c a\r\n# done\r\n"])
def test_a_script_written_on_windows_is_read(text: str) -> None:
    assert [group.jobs for group in parsed(text).groups] == [[Job("a")]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# nothing\n", "w.sh:1: the script submits nothing."),
        ("\nmqsub -l A -q\n", 'w.sh:2: mqsub has no option "-q".'),
        ("mqsub -l A -c a\nmqsub -l 'B -c b\n", "w.sh:2: a quote is opened here and not closed. Close it."),
        ("mqsub -l A -c a -attr cores=x\n", 'w.sh:1: attribute cores="x" does not fit.'),
        ("mqsub -l A -c a -attr time=" + "9" * 5000, "w.sh:1: attribute time="),
        ("mqsub -deps B -l A -c a", 'w.sh:1: "A" depends on "B", which no earlier line submits'),
    ],
)
def test_an_error_has_a_place(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    "text", ["x=mqsub -l A -c a\n", "X=/bin/mqsub -l A\n", "for i in 1; do\nmqsub -l $i -c a\ndone\n"]
)
def test_a_script_that_is_more_than_calls_is_left_to_sh(text: str) -> None:
    with pytest.raises(InputError, match="nothing runs here"):
        parsed(text)


class Collected(Texts):
    """A world in which sh has run already."""

    def __init__(self, text: str, calls: str) -> None:
        super().__init__({"w.sh": text})
        self.calls = calls

    def collect(self, path: str, arguments: object) -> str:
        return self.calls


def test_calls_of_a_script_that_ran_are_placed_at_the_only_line_that_makes_them() -> None:
    world = Collected("for i in 1 2\ndo mqsub -l $i -c\ndone\n", 'mqsub "-l" "1" "-c"\n')
    with pytest.raises(InputError, match=r"^w\.sh:2: -c needs a value"):
        flat.parse("w.sh", world)


def test_notes_that_are_no_calls_are_an_error() -> None:
    with pytest.raises(InputError, match="could not be noted"):
        flat.parse("w.sh", Collected("$x", "rm -rf $x"))


def test_a_line_of_megabytes_is_read() -> None:
    long = "x" * 5_000_000
    assert parsed(f"mqsub -l A -c {long}\nmqsub -l B -c '{long}'\nmqsub -l C -c \"{long}\"").groups.groups[2].jobs == [
        Job(long)
    ]


# --- writing -------------------------------------------------------------------------------------------------------


def test_groups_are_written_in_an_order_in_which_they_could_run() -> None:
    members = Members()
    for name in "AB":
        members.add(Group(name, [Job(name)]))
    members.arc(1, 0)
    text = flat.render(Workflow(groups=members)).text
    assert text == '#!/bin/sh\nmqsub -deps "" -l "B" -c "B"\nmqsub -deps "B" -l "A" -c "A"\n'


def test_a_job_without_a_known_command_cannot_be_written() -> None:
    members = Members()
    members.add(Group("A", [Job(description="a.sub")]))
    with pytest.raises(ModelError, match='the command of "A" is not known'):
        flat.render(Workflow(groups=members))


def test_a_command_that_does_nothing_is_written_as_one() -> None:
    members = Members()
    members.add(Group("A", [Job("")]))
    assert parsed(flat.render(Workflow(groups=members)).text).groups.groups[0].jobs == [Job(":")]


def test_writing_changes_nothing() -> None:
    workflow = Workflow()
    workflow.group("A")
    flat.render(workflow)
    assert workflow.groups.groups[0].members is None


characters = st.characters(exclude_characters="\0", exclude_categories=["Cs"]) | st.sampled_from(
    "'\"\\ \n\t/$`!#é\udce9"
)
words = st.text(characters, min_size=1, max_size=12)
commands = words.filter(str.strip)
keys = st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=6).map("x-".__add__)
options = st.fixed_dictionaries(
    {},
    optional={
        "seconds": st.floats(0, 1e9),
        "cores": st.integers(1, 9),
        "memory": st.integers(0, 2**50),
        "retries": st.integers(0, 9),
        "release": st.booleans(),
        "affinity": st.booleans(),
        "inputs": st.lists(words, max_size=2),
        "directory": words,
        "environment": st.dictionaries(keys, words, max_size=2),
    },
)


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    workflow = Workflow("w")
    fill(draw, workflow, 0)
    return workflow


def fill(draw: st.DrawFn, level: Workflow | Group, depth: int) -> None:
    """Groups that wait for earlier ones, each with jobs of every kind, and groups in it."""
    for name in draw(st.lists(words, min_size=not depth, max_size=3, unique=True)):
        before = [group for group in level.groups if draw(st.booleans())]
        group = level.group(name, after=before)
        for add in draw(st.lists(st.sampled_from([group.run, group.before, group.afterwards]), max_size=3)):
            add(
                draw(commands),
                **draw(options),
                attributes=draw(st.dictionaries(keys.map("own.".__add__) | st.just("own.retry"), words, max_size=2)),
            )
        if depth < 2 and draw(st.booleans()):
            fill(draw, group, depth + 1)


@given(workflows())
def test_a_workflow_is_read_as_it_was_written(workflow: Workflow) -> None:
    rendering = flat.render(workflow)
    assert rendering.lost == []
    assert parsed(rendering.text) == workflow


def test_what_is_written_means_the_same_to_sh(tmp_path: Path) -> None:
    nasty = 'it\'s "so" $HOME `x` \\n \\\\ * ~ # ! é\n\ttwo'
    workflow = Workflow("w")
    workflow.group(nasty).run(nasty, attributes={"note": nasty})
    script = tmp_path / "w.sh"
    script.write_text("show() { printf '%s\\0' \"$@\"; }\n" + flat.render(workflow).text.replace("mqsub", "show"))
    said = subprocess.run(["sh", script], capture_output=True, check=True, text=True).stdout.split("\0")
    assert said[-2] == f"note={nasty}"
    assert nasty in said


# --- anything ------------------------------------------------------------------------------------------------------

VALID = flat.render(
    parsed("mqsub -l A/B -c \"a b\" -attr cores=2\nmqsub -l A/C -deps B -c 'c' -prologue\nmqsub -l D -deps A")
).text
PIECES = [
    "mqsub",
    "-deps",
    "-l",
    "-c",
    "-attr",
    '"',
    "'",
    "\\",
    "\n",
    " ",
    "/",
    "A/B",
    "$",
    "=",
    "\r",
    "9" * 20,
    "\udcff",
    "release=",
]


@given(st.data())
def test_a_script_changed_at_random_is_a_workflow_or_an_error_with_a_place(data: st.DataObject) -> None:
    text = VALID
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 5))
        text = text[:at] + data.draw(st.sampled_from(PIECES) | st.just("")) + text[at + cut :]
    try:
        workflow = parsed(text)
    except InputError as error:
        assert 1 <= error.line <= text.count("\n") + 1
        return
    assert len(workflow.groups)
