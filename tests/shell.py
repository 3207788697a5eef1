"""Headway as people call it: a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# Root may read and write everything; without these capabilities, permissions hold for it too.
ORDINARY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []


def headway(
    *words: str,
    cwd: Path | None = None,
    program: str = "headway",
    ordinary: bool = False,
    env: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a command of this checkout, if need be as if by an ordinary user; what it prints, and its exit code."""
    module = "headway" if program == "headway" else f"headway.cli.commands.{program}"
    return subprocess.run(
        [*(ORDINARY if ordinary else ()), sys.executable, "-m", module, *words],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        stdin=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )


def answer(*words: str, cwd: Path | None = None) -> dict[str, Any]:
    """The JSON answer of a command that must succeed."""
    done = headway(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
