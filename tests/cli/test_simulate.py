from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.shell import answer, headway

NUMBER = {"type": "number"}
MAYBE = {"type": ["number", "null"]}
METRICS = ("execution_time", "stalling", "utilisation")
RATIO = {
    "type": "object",
    "required": ["median", "low", "high", "mean", "sd"],
    "properties": dict.fromkeys(("median", "low", "high", "mean", "sd"), MAYBE),
}
RATIOS = {"type": "object", "required": [*METRICS], "properties": dict.fromkeys(METRICS, RATIO)}
GRID = {
    "type": "object",
    "required": ["schema", "orders", "ratios", "jobs_per_second", "comparisons", "over", "jobs", "p", "q", "seed"],
    "properties": {
        "schema": {"const": 1},
        "orders": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": [*METRICS],
                "properties": dict.fromkeys(METRICS, NUMBER),
            },
        },
        "ratios": {"anyOf": [RATIOS, {"type": "null"}]},
        "comparisons": {"type": "object", "additionalProperties": RATIOS},
        "jobs_per_second": NUMBER,
    },
}
FEW = ("--p", "20", "--q", "5")
FORK = 'mqsub -l A -c a -attr seconds=4\nmqsub -l B -c b -attr seconds=2\nmqsub -deps "A" -l C -c c\n'


@pytest.fixture
def fork(tmp_path: Path) -> str:
    (tmp_path / "w.sh").write_text(FORK)
    return str(tmp_path / "w.sh")


def test_the_json_answer_keeps_its_schema() -> None:
    found = answer("simulate", "grid", "airsn:20", "--order", "prio,fifo", "--bit", "1", "--bs", "4", *FEW)
    jsonschema.validate(found, GRID)
    assert (found["jobs"], list(found["orders"]), found["over"]) == (83, ["prio", "fifo"], "fifo")
    assert found["ratios"] == found["comparisons"]["prio"]
    assert found["ratios"]["execution_time"]["low"] < 1 and found["orders"]["prio"]["utilisation"] <= 1


def test_a_seed_gives_the_same_numbers_again_and_another_one_others(fork: str) -> None:
    runs = [answer("simulate", "grid", fork, "--seed", seed, *FEW)["orders"] for seed in ("7", "7", "8")]
    assert runs[0] == runs[1] != runs[2]


def test_an_order_measures_the_same_whoever_it_is_compared_with(fork: str) -> None:
    both = answer("simulate", "grid", fork, "--order", "critical-path,fifo", *FEW)["orders"]
    alone = answer("simulate", "grid", fork, "--order", "fifo", *FEW)
    assert alone["orders"]["fifo"] == both["fifo"] and alone["ratios"] is None
    jsonschema.validate(alone, GRID)


def test_people_see_a_table(fork: str) -> None:
    done = headway("simulate", "grid", fork, "--order", "prio,critical-path,fifo", *FEW)
    assert done.returncode == 0 and not done.stderr
    assert "prio / fifo" in done.stdout and "critical-path / fifo" in done.stdout and "95% of all pairs" in done.stdout


def test_a_probability_that_was_zero_has_no_ratio(tmp_path: Path) -> None:
    (tmp_path / "one.sh").write_text("mqsub -l A -c a\n")
    found = answer("simulate", "grid", str(tmp_path / "one.sh"), *FEW)
    assert set(found["ratios"]["stalling"].values()) == {None}
    assert "-" in headway("simulate", "grid", str(tmp_path / "one.sh"), *FEW).stdout.split("prio / fifo")[1]


def test_run_times_of_the_workflow_can_be_used(fork: str) -> None:
    """A and then C, taken for 3 s like the mean of the others, are 7 s; relative to the mean 7/3."""
    frequent = ("--bit", "0.001", "--bs", "100", "--spread", "0", "--order", "fifo", *FEW)
    taken = {
        times: answer("simulate", "grid", fork, "--times", times, *frequent)["orders"]["fifo"]["execution_time"]
        for times in ("equal", "file", "relative")
    }
    assert taken == pytest.approx({"equal": 2, "file": 7, "relative": 7 / 3}, abs=0.02)


def test_run_times_that_are_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "one.sh").write_text("mqsub -l A -c a\n")
    done = headway("simulate", "grid", str(tmp_path / "one.sh"), "--times", "file")
    assert done.returncode == 2 and "tells no run times" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--order", "lifo"), "no order"),
        (("--order", ","), "names no order"),
        (("--bit", "0"), "must be positive"),
        (("--bit", "nan"), "must be positive"),
        (("--bs", "0.5"), "at least 1"),
        (("--p", "0"), "--p"),
        (("--q", "0"), "--q"),
        (("--bit", "1e-12"), "larger --bit"),
    ],
)
def test_what_cannot_be_simulated_is_told(fork: str, words: tuple[str, ...], said: str) -> None:
    done = headway("simulate", "grid", fork, *words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["airsn:0", "airsn:x", "airsn:99999999999", "no-such-file.dag"])
def test_a_dag_that_is_not_there_is_told(name: str) -> None:
    done = headway("simulate", "grid", name)
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_a_file_goes_before_a_dag_of_the_paper(tmp_path: Path) -> None:
    (tmp_path / "airsn").write_text(FORK)
    done = headway("simulate", "grid", "airsn", "--json", *FEW, cwd=tmp_path)
    assert '"jobs": 3,' in done.stdout


def test_an_empty_workflow_takes_no_time(tmp_path: Path) -> None:
    (tmp_path / "x.dag").write_text("# nothing\n")
    found = answer("simulate", "grid", str(tmp_path / "x.dag"), *FEW)
    assert found["orders"]["fifo"] == {"execution_time": 0, "stalling": 0, "utilisation": 1}


def test_a_bar_shows_on_a_terminal_only_when_it_takes_long() -> None:
    """Longer than two seconds on any machine, and interrupted as soon as the bar has been seen."""
    ours, theirs = pty.openpty()
    words = ["simulate", "grid", "airsn", "--p", "3000", "--q", "2000"]
    process = subprocess.Popen([sys.executable, "-m", "headway", *words], stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    seen = b""
    while b"left" not in seen:
        seen += os.read(ours, 1000)
    process.terminate()
    process.wait()
    assert b"%" in seen
    done = headway("simulate", "grid", "airsn:5", *FEW)
    assert not done.stderr


def test_without_numba_the_way_out_is_told(tmp_path: Path, fork: str) -> None:
    code = (
        "import sys, importlib.util as u\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name == 'numba' else real(name, *more)\n"
        f"import headway.cli; headway.cli.main(['simulate', 'grid', {fork!r}])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "-m pip install numpy numba" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--spread", "nan"), "Try --spread 0.1."),
        (("--spread", "inf"), "Try --spread 0.1."),
        (("--spread", "1e300"), "Try --spread 0.1."),
        (("--bit", "1e300"), "Try --bit 1."),
    ],
)
def test_what_no_statistics_can_be_made_of_is_refused(words: tuple[str, str], said: str) -> None:
    done = headway("simulate", "grid", "airsn:5", *words, *FEW)
    assert done.returncode == 2 and done.stderr.endswith(f"{said}\n")
