"""The mqsub command."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from headway import read
from headway.formats.mqsub import Call
from headway.live.client import adding
from headway.live.store import opened
from headway.model.messages import WorkflowId
from tests.contracts.crew import states
from tests.shell import headway


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


# --- into a store ------------------------------------------------------------------------


def into(store: Path | str, *words: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HEADWAY_")}
    environment |= {"XDG_CONFIG_HOME": str(cwd), "HEADWAY_STORE": str(store), **more}
    return headway(*words, program="mqsub", cwd=cwd, env=environment)


def jobs(store: Path, workflow: int = 1) -> str:
    found = opened(store / "store.db")
    said = states(found, WorkflowId(workflow))
    found.close()
    return said


def submit(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HEADWAY_")}
    words = ("submit", name, "--store", str(folder / "store"))
    assert headway(*words, cwd=folder, env=environment).returncode == 0


def test_a_store_without_a_workflow_gets_one_that_placeholders_run(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert into(store, "-deps", "", "-l", "2100", "-c", "./2100.sh", cwd=tmp_path).stdout == "2100\n"
    assert into(store, "-deps", "2100", "-l", "1110", "-c", "./1110.sh", cwd=tmp_path).stdout == "1110\n"
    assert into(store, "-l", "1110", "-c", "./ver.sh", cwd=tmp_path).stdout == "1110\n"
    assert jobs(store) == "2100:e 1110:w 1110#2:w"
    found = opened(store / "store.db")
    assert found.placeholders.wanted("local") == [1] and found.leases.directory(WorkflowId(1)) == str(tmp_path)


def test_a_workflow_that_another_call_begins_at_this_moment_gets_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    assert into(store, "-l", "first", "-c", "true", cwd=tmp_path).returncode == 0
    meant, looks = adding._meant, list[None]()

    def too_early(*words: Any) -> Any:
        looks.append(None)
        return None if len(looks) == 1 else meant(*words)

    monkeypatch.setattr(adding, "_meant", too_early)
    monkeypatch.chdir(tmp_path)
    added = adding.added(str(store), Call(("second",), command="true"), None, {})
    assert added == ("second", 1) and len(looks) == 2
    assert jobs(store) == "first:e second:e"


def test_what_it_depends_on_is_refused_by_name_if_it_is_not_there(tmp_path: Path) -> None:
    store = tmp_path / "store"
    done = into(store, "-deps", "2100", "-l", "1110", "-c", "x", cwd=tmp_path)
    assert done.returncode == 4 and '"1110" depends on "2100"' in done.stderr
    assert into(store, "-l", "2100", "-c", "x", cwd=tmp_path).returncode == 0
    done = into(store, "-deps", "210", "-l", "1110", "-c", "x", cwd=tmp_path)
    assert done.returncode == 4
    assert '"1110" depends on "210", which workflow 1 does not have. Did you mean "2100"?' in done.stderr
    assert jobs(store) == "2100:e"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-l", "A/B", "-c", "x"), "groups inside groups"),
        (("-l", "A"), "-c is missing"),
        (("-l", "A", "-c", "x", "-prologue"), "-prologue"),
        (("-l", "A", "-c", "x", "-w"), "-w needs a value"),
        (("-l", "A", "-c", "x", "-w", "9"), 'no workflow "9"'),
    ],
)
def test_what_a_store_cannot_take_is_refused(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    submit(tmp_path, "one.sh", "mqsub -l Z -c z\n")
    done = into(tmp_path / "store", *words, cwd=tmp_path)
    assert done.returncode in (2, 4) and said in done.stderr and done.stderr.startswith("mqsub: ")
    assert jobs(tmp_path / "store") == "Z:e"


def test_of_several_workflows_the_one_that_is_under_way_is_meant_or_they_are_listed(tmp_path: Path) -> None:
    store = tmp_path / "store"
    submit(tmp_path, "one.sh", "mqsub -l A -c a\n")
    submit(tmp_path, "two.sh", "mqsub -l A -c a\n")
    done = into(store, "-l", "B", "-c", "b", cwd=tmp_path)
    assert done.returncode == 2
    assert "2 (two), 1 (one) are under way. Say which one: mqsub -w NUMBER" in done.stderr
    assert into(store, "-w", "one", "-l", "B", "-c", "b", cwd=tmp_path).returncode == 0
    assert into(store, "-l", "B", "-w", "2", "-deps", "A", "-c", "b", cwd=tmp_path).returncode == 0
    assert (jobs(store, 1), jobs(store, 2)) == ("A:e B:e", "A:e B:w")
    found = opened(store / "store.db")
    found.steering.steer("done", WorkflowId(1), [(0, 9)])
    found.close()
    assert into(store, "-l", "C", "-c", "c", cwd=tmp_path).returncode == 0
    assert jobs(store, 2) == "A:e B:w C:e"


def test_headway_toml_names_the_store_too_and_a_script_counts_before_it(tmp_path: Path) -> None:
    submit(tmp_path, "one.sh", "mqsub -l A -c a\n")
    (tmp_path / "headway.toml").write_text('store = "store"\n')
    assert into("", "-l", "B", "-c", "b", cwd=tmp_path).returncode == 0
    assert jobs(tmp_path / "store") == "A:e B:e"
    file = tmp_path / "w.mq"
    assert into("", "-l", "C", "-c", "c", cwd=tmp_path, HEADWAY_SUBMISSIONS=str(file)).returncode == 0
    assert file.read_text() == '#!/bin/sh\nmqsub -deps "" -l "C" -c "c"\n' and jobs(tmp_path / "store") == "A:e B:e"
    done = into("", "-w", "1", "-l", "C", "-c", "c", cwd=tmp_path, HEADWAY_SUBMISSIONS=str(file))
    assert done.returncode == 2 and "-w is for a store" in done.stderr


def test_a_job_that_runs_adds_to_its_own_workflow_which_goes_on_with_it(tmp_path: Path) -> None:
    add = f"{sys.executable} -m headway.cli.commands.mqsub"
    (tmp_path / "w.sh").write_text(
        f'mqsub -l A -c \'{add} -deps A -l C -c "touch c" && {add} -deps "B C" -l D -c "test -e c && touch d"\'\n'
        "mqsub -deps A -l B -c 'touch b'\n"
    )
    done = headway("run", "w.sh", cwd=tmp_path)
    assert done.returncode == 0 and "4 of 4 jobs done" in done.stderr, done.stderr
    assert (tmp_path / "b").exists() and (tmp_path / "c").exists() and (tmp_path / "d").exists()
    assert jobs(tmp_path / ".headway") == "A:d B:d C:d D:d"
    again = headway("run", "w.sh", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert headway("redo", "A", cwd=tmp_path).returncode == 0
    part = headway("run", "w.sh", "--until", "A", cwd=tmp_path)
    assert part.returncode == 2 and "mqsub" in part.stderr
