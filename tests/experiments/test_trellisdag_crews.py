"""Where the placeholders of TrellisDAG's experiment may be: each crew runs a small workflow to its end and leaves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headway.experiments.trellisdag.crews import Crew, place
from headway.live.store import opened
from headway.model.errors import HeadwayError
from headway.model.messages import WorkflowId
from headway.model.states import State
from tests.contracts.conftest import postgres_server, postgres_url
from tests.live.ledger import until
from tests.shell import headway

__all__ = ["postgres_server", "postgres_url"]
LAYERS = "".join(f"mqsub -deps '{'A0 A1 A2' * at}' -l {'AB'[at]}{n} -c true\n" for at in range(2) for n in range(3))


def run_by(crew: Crew, folder: Path, store: str | None = None) -> None:
    """Has a crew of two run two layers of three jobs."""
    script = folder / "w.sh"
    script.write_text(LAYERS)
    place = store or str(folder / ".headway")
    done = headway("submit", str(script), "--store", place, "--order", "fifo")
    assert done.returncode == 0, done.stderr
    database = opened(store or folder / ".headway/store.db")
    with crew(place, 2, folder, [str(script)]):
        until(lambda: database.progress.counts(WorkflowId(1)) == {State.DONE: 6}, 120)
    database.close()


@pytest.mark.parametrize("name", ["local", "scripts"])
def test_on_this_computer(tmp_path: Path, name: str) -> None:
    run_by(place(name).crew, tmp_path)


def test_scripts_at_a_store_on_a_server(tmp_path: Path, postgres_url: str) -> None:
    run_by(place("scripts").crew, tmp_path, postgres_url)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("trellisdag", "--on", "nowhere"), "there is no site nowhere"),
        (("trellisdag", "--on", "no-*"), "there is no site no-*"),
        (("trellisdag", "--store", "/a/folder"), "--store is for a server here"),
        (("prio", "--on", "scripts"), "--on and --store are for trellisdag"),
    ],
)
def test_a_place_that_is_not_there_is_refused_before_anything_begins(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    done = headway("reproduce", *words, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lab-*", "2 placeholders of one slot, one at each of the sites lab-*"),
        ("big", "One placeholder of 20 slots at the site big"),
        ("queue", "20 placeholders of one slot, one in each allocation of the site queue"),
    ],
)
def test_sites_are_told_by_their_placeholders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    (tmp_path / "headway.toml").write_text(
        "".join(f'[sites.lab-{number}]\nhost = "h{number}"\nshared = true\nslots = 1\n' for number in (1, 2))
        + '[sites.big]\nhost = "h1"\nshared = true\nslots = 20\n'
        + '[sites.queue]\nqueue = "slurm"\nallocations = 20\n'
    )
    monkeypatch.chdir(tmp_path)
    assert place(name).said == said


def test_a_queue_that_refuses_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sbatch = tmp_path / "bin/sbatch"
    sbatch.parent.mkdir()
    sbatch.write_text("#!/bin/sh\necho 'no such partition' >&2\nexit 1\n")
    sbatch.chmod(0o755)
    scancel = sbatch.with_name("scancel")
    scancel.write_text("#!/bin/sh\n")
    scancel.chmod(0o755)
    monkeypatch.setenv("PATH", f"{sbatch.parent}:{os.environ['PATH']}")
    with pytest.raises(HeadwayError, match="slurm refuses a placeholder: no such partition"):
        run_by(place("slurm-scripts").crew, tmp_path)
