"""Drawings are read back: a tracer follows the lines from each name downwards and must find the dag's arcs."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.cli.display.drawing import drawing
from headway.model.dag import Dag
from tests.shell import headway

Place = tuple[int, int]

# Which ways lead on from a glyph: up, down, left, right.
ARMS = {
    "│": "ud", "─": "lr", "┌": "dr", "┐": "dl", "└": "ur", "┘": "ul",
    "├": "udr", "┤": "udl", "┬": "dlr", "┴": "ulr", "┼": "udlr",
}  # fmt: skip
STEPS = {"d": (1, 0), "l": (0, -1), "r": (0, 1)}
OPPOSITE = {"d": "u", "l": "r", "r": "l"}


def dag_of(arcs: list[tuple[str, str]], names: list[str] | None = None) -> Dag:
    known = names or list(dict.fromkeys(name for arc in arcs for name in arc))
    place = {name: at for at, name in enumerate(known)}
    return Dag(known, [place[parent] for parent, _ in arcs], [place[child] for _, child in arcs])


def chain(text: str) -> list[tuple[str, str]]:
    """`A>B,C B>D` as arcs."""
    parts = [part.split(">") for part in text.split()]
    return [(parent, child) for parent, children in parts for child in children.split(",")]


def read_back(text: str) -> tuple[set[str], set[tuple[str, str]]]:
    """The names and the arcs that a drawing shows."""
    lines = [line for line in text.split("\n") if not line.startswith("(")]
    cells = {(row, column): glyph for row, line in enumerate(lines) for column, glyph in enumerate(line)}
    names: dict[Place, str] = {}
    for row, line in enumerate(lines):
        for match in re.finditer(r"\[ *(\w+) *\]|\w+", line):
            for column in range(*match.span()):
                names[row, column] = match[1] or match[0]
    arcs = set()
    for (row, column), name in names.items():
        if "u" in ARMS.get(cells.get((row + 1, column), " "), ""):
            arcs |= {(name, child) for child in reached(cells, names, (row + 1, column))}
    return set(names.values()), arcs


def reached(cells: dict[Place, str], names: dict[Place, str], start: Place) -> set[str]:
    """The names that lines lead to, never upwards. A line that meets the side of a │ passes under it."""
    found: set[str] = set()
    seen: set[tuple[Place, str]] = set()
    stack = [(start, "d")]  # a cell, and the way we came into it
    while stack:
        place, way = stack.pop()
        if (place, way) in seen:
            continue
        seen.add((place, way))
        if way == "d" and place in names:
            found.add(names[place])
            continue
        glyph = cells.get(place, " ")
        assert glyph in ARMS, f"a line ends in nothing at {place}"
        under = glyph == "│" and way != "d"
        assert under or OPPOSITE[way] in ARMS[glyph], f"a line meets {glyph} from the wrong side at {place}"
        for on in [way] if under else [arm for arm in ARMS[glyph] if arm not in ("u", OPPOSITE[way])]:
            stack.append(((place[0] + STEPS[on][0], place[1] + STEPS[on][1]), on))
    return found


def needed_arcs(dag: Dag) -> set[tuple[str, str]]:
    """The arcs between jobs that no longer way replaces."""
    after: dict[int, set[int]] = {}  # all jobs that come after one
    needed = set()
    for node in reversed(dag.order):
        children = [] if dag.milestones[node] else dag.job_children(node)
        longer = {job for child in children for job in after[child]}
        after[node] = longer | set(children)
        needed |= {(dag.names[node], dag.names[child]) for child in children if child not in longer}
    return needed


@st.composite
def small_dags(draw: st.DrawFn) -> Dag:
    size = draw(st.integers(1, 12))
    pairs = [(parent, child) for child in range(size) for parent in range(child)]
    arcs = draw(st.lists(st.sampled_from(pairs), max_size=3 * size, unique=True)) if pairs else []
    stem = draw(st.sampled_from(["", "x", "job_"]))
    names = [f"{stem}{chr(97 + at)}" if stem != "job_" else f"{stem}{at}" for at in range(size)]
    milestones = bytes(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)) if draw(st.booleans()) else size)
    return Dag(names, [parent for parent, _ in arcs], [child for _, child in arcs], milestones=milestones)


@settings(max_examples=400, deadline=None)
@given(small_dags())
def test_what_a_drawing_shows_is_the_dag(dag: Dag) -> None:
    text = drawing(dag, 400)
    if text is None:
        return
    names, arcs = read_back(text)
    assert names == {dag.names[node] for node in dag.jobs()}
    assert arcs == needed_arcs(dag)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 30), st.integers(0, 70), st.randoms(use_true_random=False))
def test_larger_drawings_can_be_read_back_too(size: int, count: int, random: Random) -> None:
    ends = [sorted(random.sample(range(size), 2)) for _ in range(count)]
    dag = Dag([f"job{at}" for at in range(size)], [parent for parent, _ in ends], [child for _, child in ends])
    text = drawing(dag, 1000)
    assert text is None or read_back(text)[1] == needed_arcs(dag)


FORK_JOIN = [("split", f"work{at}") for at in range(1, 6)] + [(f"work{at}", "join") for at in range(1, 6)]
MONTAGE = chain(
    "project1>diff12 project2>diff12,diff23 project3>diff23"
    + " diff12>fit diff23>fit fit>model model>back1,back2,back3 back1>add back2>add back3>add"
    + " project1>back1 project2>back2 project3>back3"
)


@pytest.mark.parametrize(
    ("arcs", "picture"),
    [
        (
            chain("A>B,C B>D C>D"),
            """
  A
┌─┴─┐
B   C
└─┬─┘
  D
""",
        ),
        (
            FORK_JOIN,
            """
                split
  ┌───────┬───────┼───────┬───────┐
work1   work2   work3   work4   work5
  └───────┴───────┼───────┴───────┘
                join
""",
        ),
        (
            MONTAGE,
            """
project1    project2    project3
    └──────┬───┘ └───┬──────┘
        diff12    diff23
           └────┬────┘
               fit
                │
              model
        ┌───────┼───────┐
      back1   back2   back3
        └───────┼───────┘
               add
(3 arcs that others imply are not drawn)
""",
        ),
        (
            chain("A>D,F C>D,F B>E"),
            """
A   B   C
├───│───┤
D   E   F
""",
        ),
    ],
)
def test_a_drawing_looks_like_this(arcs: list[tuple[str, str]], picture: str) -> None:
    names = sorted({name for arc in arcs for name in arc})
    assert drawing(dag_of(arcs, names)) == picture.strip("\n")


def test_jobs_stand_on_their_levels() -> None:
    text = drawing(dag_of(chain("a>b b>c c>z x>z")))
    assert text is not None
    rows = {name: row for row, line in enumerate(text.split("\n")) for name in re.findall(r"\w", line)}
    assert rows["a"] == rows["x"]
    assert all(rows[upper] < rows[lower] for upper, lower in pairwise("abcz"))


def test_long_names_lose_what_they_share_and_then_their_middle() -> None:
    arcs = [("simulation_start", f"simulation_step_{at:08}") for at in range(9)]
    text = drawing(dag_of(arcs), 100)
    assert text is not None
    assert max(map(len, text.split("\n"))) <= 100
    assert "…0000008" in text.replace("step_", "…")


def test_names_that_look_like_lines_do_not() -> None:
    text = drawing(Dag(["a│b", "c\nd", "漢字"], [0], [1]))
    assert text is not None
    assert text.split("\n") == ["a?b   漢字", " │", "c?d"]


@pytest.mark.parametrize(
    "dag",
    [
        Dag([], [], []),
        Dag([f"job{at}" for at in range(31)], [], []),
        Dag([f"job{at}" for at in range(30)], [], []),  # too wide
    ],
)
def test_what_does_not_fit_is_not_drawn(dag: Dag) -> None:
    assert drawing(dag, 80) is None


def test_a_chain_as_long_as_the_paper_is_drawn() -> None:
    text = drawing(dag_of([(f"x{at}", f"x{at + 1}") for at in range(29)]))
    assert text is not None
    assert text.count("\n") == 58


def test_show_draws_small_workflows_unless_told_not_to(tmp_path: Path) -> None:
    (tmp_path / "w.mq").write_text('mqsub -deps "" -l A -c a\nmqsub -deps "A" -l B -c b\n')
    assert headway("show", "w.mq", cwd=tmp_path).stdout.endswith("\n\nA\n│\nB\n")
    assert "│" not in headway("show", "w.mq", "--no-draw", cwd=tmp_path).stdout
    assert "│" not in headway("show", "w.mq", "--json", cwd=tmp_path).stdout


def test_show_says_why_there_is_no_drawing_if_one_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "w.mq").write_text("".join(f"mqsub -l job{at} -c true\n" for at in range(40)))
    done = headway("show", "w.mq", "--draw", cwd=tmp_path)
    assert done.returncode == 0
    assert "no drawing" in done.stderr
    assert headway("show", "w.mq", cwd=tmp_path).stderr == ""
