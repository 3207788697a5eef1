from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from tests.shell import answer, headway

IV = "Job a x.sub\nJob b x.sub\nJob c x.sub\nJob d x.sub\nJob e x.sub\nParent a Child b\nParent c Child d e\n"
COUNTS = {"type": "array", "items": {"type": "integer", "minimum": 0}}
NAMES = {"type": "array", "items": {"type": "string"}}
ORDER = {
    "type": "object",
    "required": [
        "schema",
        "by",
        "chosen",
        "order",
        "ranks",
        "eligible",
        "seconds",
        "certificate",
        "components",
        "compared",
    ],
    "properties": {
        "schema": {"const": 1},
        "order": NAMES,
        "ranks": {"type": "object", "additionalProperties": {"type": "integer"}},
        "eligible": COUNTS,
        "seconds": {"type": "number", "minimum": 0},
        "certificate": {
            "type": "object",
            "required": ["ic_optimal", "reason", "component"],
            "properties": {
                "ic_optimal": {"type": ["boolean", "null"]},
                "reason": {"type": "string", "minLength": 1},
                "component": {"type": ["integer", "null"]},
            },
        },
        "components": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["kind", "jobs", "nonsinks", "r"],
                "properties": {"r": {"type": "number", "exclusiveMinimum": 0, "maximum": 1}},
            },
        },
        "compared": {
            "type": "array",
            "items": {"type": "object", "required": ["by", "order", "eligible", "seconds", "more", "fewer", "mean"]},
        },
    },
}


@pytest.fixture
def iv(tmp_path: Path) -> Path:
    (tmp_path / "x.sub").write_text("executable = /bin/true\nqueue\n")
    (tmp_path / "IV.dag").write_text(IV)
    return tmp_path / "IV.dag"


def test_one_job_a_line_and_what_is_proved_beside_it(iv: Path) -> None:
    done = headway("order", str(iv), "--by", "prio", "--compare", "fifo")
    assert done.stdout == "c\na\nb\nd\ne\n"
    assert "prio is IC-optimal" in done.stderr
    assert "Against fifo: more eligible jobs at 1 of 6 steps, fewer at 0" in done.stderr


def test_the_json_answer_keeps_its_schema(iv: Path) -> None:
    found = answer("order", str(iv), "--by", "prio", "--compare", "fifo", "--compare", "critical-path")
    jsonschema.validate(found, ORDER)
    assert found["eligible"] == [2, 3, 3, 2, 1, 0]
    assert [part["kind"] for part in found["components"]] == ["V", "V"]
    assert [each["by"] for each in found["compared"]] == ["fifo", "critical-path"]
    assert found["compared"][0]["eligible"] == [2, 2, 3, 2, 1, 0]


@pytest.mark.parametrize(("by", "best"), [("fifo", False), ("critical-path", False), ("prio", True), ("auto", True)])
def test_every_order_is_judged(iv: Path, by: str, best: bool) -> None:
    found = answer("order", str(iv), "--by", by)
    jsonschema.validate(found, ORDER)
    assert found["by"] == by and found["certificate"]["ic_optimal"] is best


def test_auto_weighs_run_times_where_they_are_known(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l a -c true -attr seconds=5\nmqsub -l b -c true -attr seconds=50 -deps a\n")
    (tmp_path / "plain.sh").write_text("mqsub -l a -c true\nmqsub -l b -c true -deps a\nmqsub -l c -c true -deps a\n")
    (tmp_path / "alone.sh").write_text("mqsub -l a -c true\nmqsub -l b -c true\n")
    chosen = {name: answer("order", f"{name}.sh", cwd=tmp_path)["chosen"] for name in ("w", "plain", "alone")}
    assert chosen == {"w": "prio-weighted", "plain": "prio", "alone": "fifo"}


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_a_plot_is_drawn(iv: Path, kind: str) -> None:
    picture = iv.with_suffix(f".{kind}")
    done = headway("order", str(iv), "--by", "prio", "--compare", "fifo", "--plot", str(picture))
    assert done.returncode == 0, done.stderr
    drawn = picture.read_bytes()
    assert drawn.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[kind])
    if kind == "svg":
        words = "".join(ElementTree.fromstring(drawn).itertext())
        assert "prio - fifo" in words and "eligible jobs" in words


def test_a_plot_of_another_kind_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    done = headway("order", "missing.dag", "--plot", str(tmp_path / "curve.gif"))
    assert done.returncode == 2 and "svg" in done.stderr and not list(tmp_path.iterdir())


def test_without_matplotlib_the_way_out_is_told(iv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headway.experiments.eligibility import picture
    from headway.model.errors import HeadwayError

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(HeadwayError, match=r"-m pip install matplotlib"):
        picture("IV", {"prio": [1, 0]}, "svg")


def test_an_unknown_order_is_told_with_those_there_are(iv: Path) -> None:
    for words in (["order", str(iv), "--by", "lifo"], ["run", str(iv), "--order", "lifo"]):
        done = headway(*words)
        assert done.returncode == 2 and 'no order "lifo"' in done.stderr and "prio" in done.stderr
        assert not (iv.parent / ".headway").exists()


def test_a_cycle_and_an_empty_file_are_no_tracebacks(tmp_path: Path) -> None:
    (tmp_path / "cycle.dag").write_text("Job a x.sub\nJob b x.sub\nParent a Child b\nParent b Child a\n")
    done = headway("order", "cycle.dag", "--by", "prio", cwd=tmp_path)
    assert done.returncode == 2 and "cycle.dag:" in done.stderr and "cycle" in done.stderr
    (tmp_path / "one.dag").write_text("Job a x.sub\n")
    assert headway("order", "one.dag", "--by", "prio", cwd=tmp_path).stdout == "a\n"
    (tmp_path / "empty.dag").write_text("")
    done = headway("order", "empty.dag", "--by", "prio", cwd=tmp_path)
    assert done.returncode in (0, 2) and done.stdout == "" and "Traceback" not in done.stderr


def test_a_line_that_joins_thousands_of_jobs_is_ordered_and_judged(tmp_path: Path) -> None:
    above, below = [f"a{at}" for at in range(1200)], [f"b{at}" for at in range(1200)]
    jobs = "".join(f"JOB {name} {{\n}}\n" for name in above + below)
    (tmp_path / "joined.dag").write_text(f"{jobs}PARENT {' '.join(above)} CHILD {' '.join(below)}\n")
    found = answer("order", "joined.dag", "--by", "prio", cwd=tmp_path)
    assert found["order"] == above + below and len(found["eligible"]) == 2401
    assert found["certificate"]["ic_optimal"] is None and "barrier" in found["certificate"]["reason"]


def test_a_place_where_no_picture_can_be_is_told_with_the_option_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "one.dag").write_text("JOB a {\n}\n")
    done = headway("order", "one.dag", "--plot", "nowhere/one.svg", cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.endswith("Choose another place with --plot.\n")
