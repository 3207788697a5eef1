"""The mqsub command."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headway import read


def mqsub(*words: str, file: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HEADWAY_")}
    if file is not None:
        environment["HEADWAY_SUBMISSIONS"] = str(file)
    return subprocess.run(
        [sys.executable, "-m", "headway.cli.commands.mqsub", *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_call_adds_a_line_and_prints_the_group(tmp_path: Path) -> None:
    file = tmp_path / "w.mq"
    assert mqsub("-deps", "", "-l", "2100", "-c", "./2100.sh", file=file).stdout == "2100\n"
    done = mqsub("-deps", "2100", "-l", "1110", "-c", "./1110.sh 'a b'", file=file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1110\n", "")
    workflow = read(file)
    assert [group.jobs[0].command for group in workflow.groups] == ["./2100.sh", "./1110.sh 'a b'"]
    assert workflow.groups.parents_of() == {"1110": ["2100"]}


def test_the_file_may_be_a_script_that_somebody_began_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "w.sh"
    file.write_text("mqsub -l A -c a")
    file.chmod(0o755)
    assert mqsub("-deps", "A", "-l", "B", "-c", "b", file=file).returncode == 0
    assert file.read_text() == 'mqsub -l A -c a\nmqsub -deps "A" -l "B" -c "b"\n'
    assert file.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "mqsub: -l is missing: the group's name."),
        (["-l", "B", "-x"], 'mqsub: mqsub has no option "-x".'),
        (["-l", "B", "-c", "b", "-deps", "A C"], 'mqsub: "B" depends on "C", which no earlier line submits'),
        (["-l", "B", "-c", "b", "-attr", "cores=0"], "mqsub: attribute cores="),
        (["-l", "A", "-deps", "Z"], "mqsub: cycle: A -> Z -> A."),
    ],
)
def test_a_bad_call_exits_2_and_writes_nothing(tmp_path: Path, words: list[str], said: str) -> None:
    file = tmp_path / "w.mq"
    file.write_text("mqsub -l A -c a\nmqsub -deps A -l Z -c z\n")
    done = mqsub(*words, file=file)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert file.read_text() == "mqsub -l A -c a\nmqsub -deps A -l Z -c z\n"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("text", ["for i in 1; do mqsub -l $i; done\n", "mqsub -l 'A\n", "mqsub -l\n"])
def test_a_file_that_is_more_than_calls_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "w.mq"
    file.write_text(text)
    done = mqsub("-l", "B", "-c", "b", file=file)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{file}:1: ")
    assert file.read_text() == text


def test_without_a_file_it_says_what_to_do() -> None:
    done = mqsub("-l", "A", "-c", "a")
    assert (done.returncode, done.stdout) == (2, "")
    assert "export HEADWAY_SUBMISSIONS=" in done.stderr


def test_a_file_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    assert mqsub("-l", "A", "-c", "a", file=tmp_path / "no" / "w.mq").returncode == 2
    assert mqsub("-l", "A", "-c", "a", file=tmp_path).returncode == 2


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_shows_the_options(word: str) -> None:
    done = mqsub(word)
    assert done.returncode == 0
    assert all(
        option in done.stdout for option in ("-deps", "-l NAME", "-c COMMAND", "-attr", "-prologue", "-epilogue")
    )


def test_calls_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    file = tmp_path / "w.mq"
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda number: mqsub("-l", f"g{number}", "-c", "x" * 50_000, file=file), range(16)))
    assert all(call.returncode == 0 for call in done)
    assert {group.name for group in read(file).groups} == {f"g{number}" for number in range(16)}
    assert list(tmp_path.iterdir()) == [file]


def test_it_starts_without_the_command_line_framework() -> None:
    code = (
        "import sys, headway.cli.commands.mqsub; sys.exit(bool({'click', 'numpy', 'subprocess'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "w.mq"
    file.write_text("mqsub -l A -c a\n")
    file.chmod(0o444)
    done = mqsub("-l", "B", "-c", "b", file=file)
    assert done.returncode == 1
    assert "cannot be written: it is read-only. Let HEADWAY_SUBMISSIONS name another file." in done.stderr
    assert file.read_text() == "mqsub -l A -c a\n"
