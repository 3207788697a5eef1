"""The tests as a program: how they are started, and what they leave."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell import ROOT

CONFTEST = "from tests.conftest import *\n"
FORGETS = """
import subprocess
def test_forgets():
    print("pid", subprocess.Popen(["sleep", "1000"], start_new_session=True).pid)
"""


def session(*words: str, cwd: Path = ROOT, before: str = "") -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        ["sh", "-c", f'{before} exec "$@"', "sh", sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words],
        cwd=cwd,
        env={**environment, "PYTHONPATH": str(ROOT), "HEADWAY_TESTS_PATIENCE": "1"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def test_with_sigint_ignored_nothing_waits_for_a_signal_that_nobody_gets() -> None:
    done = session("tests/cli/test_run.py", "-k", "ctrl_c", before="trap '' INT;")
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


@pytest.mark.parametrize("several", [[], ["--numprocesses", "2"]], ids=["alone", "several"])
def test_a_process_that_a_test_leaves_behind_fails_the_session_and_is_ended(tmp_path: Path, several: list[str]) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(FORGETS)
    (tmp_path / "test_other.py").write_text("def test_well():\n    pass\n")
    done = session(*several, "--rootdir", str(tmp_path), str(tmp_path), cwd=tmp_path)
    assert done.returncode == 1 and "2 passed" in done.stdout, done.stdout
    [line] = [line for line in done.stdout.splitlines() if "left behind" in line]
    assert line.endswith("sleep 1000")
    pid = int(line.split(": ")[1])
    assert (
        not Path(f"/proc/{pid}").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes()
    )  # nobody may have reaped it
