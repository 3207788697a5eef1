"""Commands at the host of a queue: one that hangs is named, and nothing of it is left."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from headway.live.sites import remote
from headway.live.sites.site import Site
from headway.model.errors import HeadwayError
from tests.live.ledger import is_alive, until


def test_a_submit_command_that_hangs_is_named_and_ends_with_all_that_it_has_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "PATIENCE", 1.0)
    program = tmp_path / "sbatch"
    program.write_text(f"#!/bin/sh\nsleep 1000 &\necho $! > {tmp_path}/pid\nwait\n")
    program.chmod(0o755)
    with pytest.raises(HeadwayError, match="sbatch has not answered for 1 s"):
        asyncio.run(remote.Remote(Site("q", queue="slurm")).run([str(program), "script"]))
    pid = int((tmp_path / "pid").read_text())
    until(lambda: not is_alive(pid))
