"""Another user of the same computer. Only root can be two users, so without root these tests are not run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.ledger import runner_of, until

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="not run, no root")


def as_nobody(*words: str, cwd: Path) -> subprocess.Popen[str]:
    """A program of another user."""
    return subprocess.Popen(
        words,
        cwd=cwd,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
        env={},
    )


def done_by_nobody(script: str, cwd: Path) -> None:
    """A shell script of another user, run to its end."""
    process = as_nobody("/bin/sh", "-ec", script, cwd=cwd)
    process.communicate(timeout=60)
    assert process.returncode == 0


def python_of_nobody(script: str, cwd: Path) -> subprocess.Popen[str]:
    """A Python program of another user; the interpreter of the tests may be out of that user's reach."""
    system = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    return as_nobody(system, "-c", script, cwd=cwd)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder like /tmp, where everybody may make files."""
    folder = Path(tempfile.mkdtemp(prefix="shared-"))
    folder.chmod(0o1777)
    yield folder
    for home in folder.glob("**/.headway"):
        until(lambda home=home: runner_of(home) == 0)  # type: ignore[misc]
    shutil.rmtree(folder)
