"""`headway run --array FILE -- COMMAND {}` and mqsub's -array: a job for each line of a file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cli.test_run import run, script
from tests.shell import answer, headway


def each(folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    done = headway("run", "--json", *words, cwd=folder)
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_command_runs_for_each_line_where_it_was_called(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/names").write_text("a b\n$HOME\n\nit's\n")
    found = each(tmp_path, "--array", "lists/names", "--", "touch", "{}.done")
    assert found["done"] == 3 and found["store"] == str(tmp_path / ".headway")
    assert {path.name for path in tmp_path.glob("*.done")} == {"a b.done", "$HOME.done", "it's.done"}


def test_one_word_is_a_line_for_the_shell(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("x\ny z\n")
    each(tmp_path, "--array", "list", "--", 'echo "<{}>" > {1}.txt')
    assert (tmp_path / "x.txt").read_text() == "<x>\n" and (tmp_path / "y.txt").read_text() == "<y z>\n"


def test_run_again_only_new_and_failed_lines_run(tmp_path: Path) -> None:
    words = ("--array", "list", "--", "echo {} >> ledger; test {} != bad -o -e go")
    (tmp_path / "list").write_text("a\nbad\nb\n")
    assert [failure["job"] for failure in each(tmp_path, *words, code=3)["failures"]] == ["bad"]
    (tmp_path / "list").write_text("new\nb\na\nbad\n")
    (tmp_path / "ledger").unlink()
    jobs = {job["job"]: job["why"] for job in each(tmp_path, "--dry-run", *words)["jobs"]}
    assert jobs == {"new": "new", "b": "done", "a": "done", "bad": "new"}
    (tmp_path / "go").touch()
    assert each(tmp_path, *words)["done"] == 4
    assert sorted((tmp_path / "ledger").read_text().split()) == ["bad", "new"]
    assert each(tmp_path, *words)["attempts"] == 2
    assert each(tmp_path, "--fresh", *words)["attempts"] == 4


def test_lines_come_through_a_pipe(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "headway", "run", "--array", "-", "--", "touch"]
    done = subprocess.run(words, cwd=tmp_path, input=b"one\ntwo\n", capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one").exists() and (tmp_path / "two").exists()


def test_what_is_wrong_with_a_list_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "list").write_text("a\n")
    for words, said in (
        (("--array", "gone", "--", "echo"), "gone:1: cannot be read"),
        (("--array", "empty", "--", "echo"), "there are no lines"),
        (("--array", "list", "--", "echo {2}"), "no column"),
        (("--array", "list", "--", " "), "no command"),
    ):
        done = headway("run", *words, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr


def test_mqsub_submits_a_job_for_each_line(tmp_path: Path) -> None:
    (tmp_path / "parts").write_text("p1 5\np2 7\n")
    path = script(
        tmp_path,
        "mqsub -l split -c true\n"
        "mqsub -deps split -l count -array parts -c 'echo {2} > {1}' -attr outputs={1}\n"
        "mqsub -deps count -l sum -c 'cat p1 p2 > sum'\n",
    )
    assert run(path)["done"] == 4
    assert (tmp_path / "sum").read_text() == "5\n7\n"
    assert answer("show", str(path), "--job", "count/p1 5")["command"] == "echo 5 > p1"


def test_a_script_that_is_run_and_one_that_is_written_know_arrays(tmp_path: Path) -> None:
    (tmp_path / "parts").write_text("p1\np2\n")
    path = script(tmp_path, 'for g in a b; do mqsub -l $g -array parts -c "echo $g {}"; done\n')
    assert answer("show", str(path))["jobs"] == 4
    subprocess.run(
        [sys.executable, "-m", "headway.cli.commands.mqsub", "-l", "A", "-array", "parts", "-c", "echo {}"],
        env={"HEADWAY_SUBMISSIONS": str(tmp_path / "w.mq"), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
    )
    assert answer("show", str(tmp_path / "w.mq"))["jobs"] == 2


def test_a_list_that_is_not_there_and_an_array_without_a_command_are_errors(tmp_path: Path) -> None:
    done = headway("show", str(script(tmp_path, "mqsub -l A -array gone -c 'echo {}'\n")))
    assert done.returncode == 2 and "gone:1: cannot be read" in done.stderr
    done = headway("show", str(script(tmp_path, "mqsub -l A -array gone\n")))
    assert done.returncode == 2 and "-array goes with -c" in done.stderr


def test_a_python_script_builds_an_array_from_an_open_file(tmp_path: Path) -> None:
    (tmp_path / "parts").write_text("a/b.csv\nc.csv\n")
    path = script(
        tmp_path,
        "from headway import Workflow\nworkflow = Workflow()\n"
        'workflow.array("count", "echo {/.} >> ledger", lines=open("parts"))\n',
        "w.py",
    )
    assert run(path)["done"] == 2
    assert sorted((tmp_path / "ledger").read_text().split()) == ["b", "c"]


def test_a_shell_never_reads_a_line(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("$(touch pwned)\n'; touch pwned; '\n")
    done = headway("run", "--array", "list", "--", "sh", "-c", "echo {}", cwd=tmp_path)
    assert done.returncode == 2
    assert "a place such as {} cannot stand in the script of sh -c, which a shell reads. Pass it" in done.stderr
    each(tmp_path, "--array", "list", "--", "# it's\necho {} >> out")
    assert sorted((tmp_path / "out").read_text().splitlines()) == ["$(touch pwned)", "'; touch pwned; '"]
    assert not (tmp_path / "pwned").exists()
