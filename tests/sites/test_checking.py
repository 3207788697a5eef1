"""`headway sites --check` of a queue: what is wrong is told as soon as it is clear, and nothing is left of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headway.live.sites import checking
from headway.live.sites.site import Site
from tests.live.ledger import until


def _queue(folder: Path, monkeypatch: pytest.MonkeyPatch, **commands: str) -> Site:
    """A site whose queue is these programs."""
    for name, text in commands.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    (folder / "headway.toml").write_text('[sites.cluster]\nqueue = "slurm"\nlook = "1"\n')
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(checking, "QUEUEING", 1e6)
    monkeypatch.setattr(checking, "INSISTING", 3.0)
    return Site("cluster", queue="slurm")


def _processes(folder: Path) -> list[str]:
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(one.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return [words for words in found if str(folder) in words]


@pytest.mark.slow
def test_what_a_queue_refuses_is_told_long_before_a_queue_would_be_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = _queue(tmp_path, monkeypatch, squeue="true", sbatch="echo no such partition >&2; exit 1")
    found = checking.checked(site)
    assert not found.ok and "Slurm refuses: no such partition." in found.problem
    until(lambda: not _processes(tmp_path))


@pytest.mark.slow
def test_a_check_of_a_queue_that_never_answers_leaves_no_process_that_asks_it_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = _queue(tmp_path, monkeypatch, squeue="echo no controller >&2; exit 1")
    found = checking.checked(site)
    assert not found.ok and "Slurm does not answer: no controller." in found.problem
    until(lambda: not _processes(tmp_path))


@pytest.mark.slow
def test_what_waits_in_the_queue_when_a_check_is_over_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there"
    name = f'for w; do case $w in --job-name=*) echo "7|${{w#*=}}|PENDING|Resources" > {there}; esac; done; echo 7'
    listed = f"test ! -e {there} || cat {there}"
    site = _queue(tmp_path, monkeypatch, squeue=listed, sbatch=name, scancel=f"rm {there}")
    monkeypatch.setattr(checking, "QUEUEING", 5.0)
    found = checking.checked(site)
    assert not found.ok and "let a placeholder wait for 5 s" in found.problem and "squeue --me" in found.problem
    until(lambda: not _processes(tmp_path) and not there.exists())


@pytest.mark.slow
def test_what_keeps_a_sites_process_from_starting_is_told_by_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = _queue(tmp_path, monkeypatch, squeue="true")
    with (tmp_path / "headway.toml").open("a") as out:
        out.write('address = "192.0.2.1:7"\n')  # none of this computer's
    found = checking.checked(site)
    assert not found.ok and found.problem.startswith("site cluster: this computer cannot listen at 192.0.2.1:7")
    until(lambda: not _processes(tmp_path))
