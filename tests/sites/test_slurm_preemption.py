"""Slurm takes allocations away, for a job of a better partition or at their limit. Every job is done, and once."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.queues import Cluster, slurm
from tests.live.ledger import until
from tests.sites.queue_bench import QueueBench

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("slurm-preemption")]
GATED = "echo begin >> ledger; until test -e go; do sleep 0.1; done; echo end >> ledger"
# What is in the first two may be taken away for what is in the third.
SETTINGS = (
    "PreemptType=preempt/partition_prio",
    "PreemptMode=REQUEUE",
    "KillWait=10",
    "PartitionName=requeued Nodes=ALL PriorityTier=1 PreemptMode=REQUEUE MaxTime=UNLIMITED State=UP",
    "PartitionName=cancelled Nodes=ALL PriorityTier=1 PreemptMode=CANCEL MaxTime=UNLIMITED State=UP",
    "PartitionName=urgent Nodes=ALL PriorityTier=10 PreemptMode=OFF MaxTime=UNLIMITED State=UP",
)
# How an allocation is asked for, and what Slurm does with it.
WAYS = {
    "cancelled": ["--partition=cancelled"],
    "requeued, which it does not want": ["--partition=requeued"],
    "requeued": ["--partition=requeued", "--requeue"],
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with slurm(1, 2, *SETTINGS) as found:
        yield found


@pytest.fixture
def bench(cluster: Cluster, tmp_path: Path) -> Iterator[QueueBench]:
    found = QueueBench(cluster, tmp_path, "slurm", allocations=1)
    yield found
    found.close()
    until(lambda: not cluster("squeue", "-h").strip())


class Urgent:
    """A job of somebody else that takes the whole node until it is told to end."""

    def __init__(self, bench: QueueBench, name: str) -> None:
        self._bench, self._name = bench, name
        self._end = bench.folder / f"{name}.end"
        does = f"touch {bench.folder}/{name}.begun; until test -e {self._end}; do sleep 0.1; done"
        words = ["-p", "urgent", "-c", "2", "-t", "10", "-J", name, "-o", "/dev/null"]
        bench.cluster("sbatch", *words, "--wrap", does)
        until(lambda: (bench.folder / f"{name}.begun").exists())

    def end(self) -> None:
        self._end.touch()
        until(lambda: self._name not in self._bench.cluster("squeue", "-h", "-o", "%j").split())


def states(bench: QueueBench) -> dict[int, str]:
    """What Slurm says of all that we have asked for, by our numbers."""
    mark = f"headway-{bench.store().id}-"
    lines = [line.split() for line in bench.cluster("squeue", "-h", "-t", "all", "-o", "%j %T").splitlines()]
    return {int(name.removeprefix(mark)): state for name, state in lines if name.startswith(mark)}


@pytest.mark.parametrize("way", WAYS)
def test_an_allocation_that_is_taken_away_gives_its_job_back_which_runs_in_the_next_one(
    bench: QueueBench, way: str
) -> None:
    bench.set(options=json.dumps(WAYS[way]))
    bench.script(f"workflow.job('j', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    urgent = Urgent(bench, "urgent")
    until(lambda: [one["outcome"] for one in bench.json("history")["attempts"]] == ["given back"])
    # One that waits for nothing does not stand in the place of the next.
    until(lambda: states(bench).get(2) == "PENDING")
    assert states(bench)[1] == ("CANCELLED" if way == "requeued" else "PREEMPTED")
    urgent.end()
    bench.wait_for("begin", 2)
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    first, last = bench.json("history")["attempts"]
    assert (first["outcome"], last["outcome"]) == ("given back", "done") and "told to end" in json.dumps(first), first
    assert bench.ledger == {"begin": 2, "end": 1}
    if way == "requeued":
        (past, *_) = bench.store().allocations.all()
        assert past.reason == "put back into its queue"


@pytest.mark.parametrize("way", WAYS)
def test_a_workflow_whose_allocations_are_taken_away_again_and_again_comes_to_its_end_with_every_job_done_once(
    bench: QueueBench, way: str
) -> None:
    bench.set(options=json.dumps(WAYS[way]))
    bench.jobs(12, 0.5)
    run = bench.begin("run", "w.py", "--site", "cluster")
    for number, ended in enumerate((2, 5, 8)):
        bench.wait_for("end", ended)
        Urgent(bench, f"urgent{number}").end()
    assert run.wait(180) == 0, bench.logs()
    attempts = bench.json("history")["attempts"]
    assert Counter(one["job"] for one in attempts if one["outcome"] == "done") == {f"j{n}": 1 for n in range(12)}
    assert {one["outcome"] for one in attempts} <= {"done", "given back"}
    assert bench.json("status")["workflows"][0]["done"] == 12


def test_an_allocation_that_slurm_ends_at_its_limit_gives_its_job_back_which_runs_in_the_next_one(
    bench: QueueBench, tmp_path: Path
) -> None:
    """The limit among the options is shorter than the site's `time`, and the placeholder cannot learn of it."""
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nunset SLURM_JOB_END_TIME SLURM_JOB_ID\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    bench.set(python=str(python), options='["--partition=urgent", "--time=1", "--signal=B:CONT@1"]')
    bench.script(f"workflow.job('j', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    until(lambda: bench.ledger["begin"] == 2, 180)
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    first, last = bench.json("history")["attempts"]
    assert (first["outcome"], last["outcome"]) == ("given back", "done") and "told to end" in json.dumps(first), first
    assert states(bench)[1] == "TIMEOUT" and bench.ledger == {"begin": 2, "end": 1}


def test_an_allocation_is_left_before_slurm_ends_it_though_its_limit_is_not_that_of_the_site(bench: QueueBench) -> None:
    """The limit among the options is shorter than the site's `time`; Slurm tells the placeholder, or is asked."""
    bench.set(options='["--partition=urgent", "--time=1", "--signal=B:CONT@1"]')
    bench.script(f"workflow.job('j', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    until(lambda: bench.ledger["begin"] == 2, 120)
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    first, last = bench.json("history")["attempts"]
    assert (first["outcome"], last["outcome"]) == ("given back", "done") and "told to end" not in json.dumps(first), (
        first
    )
    assert states(bench)[1] == "COMPLETED"
