"""Kernels before Linux 5.3 have no pidfds, nor has a Python that was built on one: the runner does without."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.live.ledger import Site
from tests.shell import headway

WAYS = {
    "no such function": """
import os, signal
if hasattr(os, "pidfd_open"):
    del os.pidfd_open, signal.pidfd_send_signal
""",
    "no such system call": """
import errno, os
def refuse(*_):
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
os.pidfd_open = refuse
""",
}


@pytest.fixture(params=WAYS)
def without(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python that the test starts is without."""
    folder = tmp_path / "without"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WAYS[request.param])
    monkeypatch.setenv("PYTHONPATH", str(folder))


@pytest.mark.parametrize("victims", ["runner", "both", "all"])
@pytest.mark.usefixtures("without")
def test_kills_at_random_moments_lose_nothing(tmp_path: Path, victims: str) -> None:
    rng = random.Random(len(victims))
    site = Site(tmp_path, layers=4)
    for _ in range(4):
        site.crash(rng, victims, absent=0.2)
    found = site.finish()
    assert found["failed"] == 0 and not site.violations()


@pytest.mark.usefixtures("without")
def test_ends_limits_and_failures_are_told(tmp_path: Path) -> None:
    lines = ["-l ends -c true", "-l fails -c 'exit 3'", "-l late -c 'sleep 60' -attr time=0.5"]
    (tmp_path / "w.sh").write_text("".join(f"mqsub {line}\n" for line in lines))
    done = headway("run", "w.sh", "--slots", "3", cwd=tmp_path)
    assert done.returncode == 3
    assert "1 of 3 jobs done" in done.stderr + done.stdout
    assert "time limit" in headway("explain", "late", cwd=tmp_path).stdout
