"""Commands and files at the host of a queue, and what happens when a connection to it hangs or breaks."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
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


def _ssh(folder: Path, does: str, monkeypatch: pytest.MonkeyPatch) -> remote.Remote:
    """A host whose ssh does this with the command that it is given."""
    program = folder / "ssh"
    program.write_text(f"#!/bin/sh\nfor command; do :; done\n{does}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return remote.Remote(Site("q", "host", queue="slurm"))


def test_a_file_whose_connection_breaks_half_way_is_not_taken_for_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = _ssh(tmp_path, 'head -c 100 | sh -c "$command"', monkeypatch)
    with pytest.raises(HeadwayError, match="cannot be written at site q: not all of it has arrived"):
        asyncio.run(host.write(f"{tmp_path}/there/file", bytes(1000)))
    assert not (tmp_path / "there/file").exists()
    asyncio.run(host.write(f"{tmp_path}/there/small", b"all of it"))
    assert (tmp_path / "there/small").read_bytes() == b"all of it"


def test_a_login_shell_that_is_not_sh_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell of another language understands words in single quotes and nothing else."""
    python = "import os, shlex, sys; words = shlex.split(sys.argv[1]); os.execvp(words[1], words[1:])"
    host = _ssh(tmp_path, f'exec {shlex.quote(sys.executable)} -c {shlex.quote(python)} "$command"', monkeypatch)
    done = asyncio.run(host.shell('printf %s "${NOWHERE:-$(echo there)}" && test 1 -eq 1'))
    assert (done.code, done.out) == (0, "there")
    asyncio.run(host.write(f"{tmp_path}/it's/file", b"text"))
    assert asyncio.run(host.whole(f"{tmp_path}/it's/file")) == b"text"
