"""Placeholders in a real Grid Engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.queues import Cluster, gridengine
from tests.live.ledger import until
from tests.sites.queue_bench import QueueBench
from tests.sites.script_bench import ScriptBench, in_queue, known

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("gridengine")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with gridengine() as found:
        yield found


@pytest.fixture
def bench(cluster: Cluster, tmp_path: Path) -> Iterator[QueueBench]:
    found = QueueBench(cluster, tmp_path, "gridengine")
    yield found
    found.close()


def test_sixty_jobs_run_in_allocations_that_end_when_there_is_no_more_work(bench: QueueBench) -> None:
    bench.jobs(60, 0.1)
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(60)
    assert {one["site"] for one in bench.json("history")["attempts"]} == {"cluster"}
    until(lambda: not bench.cluster("qstat").strip())


def test_qdel_gives_jobs_back_and_they_run_in_the_next_allocation(bench: QueueBench) -> None:
    bench.script("workflow.job('j', 'echo begin >> ledger; until test -e go; do sleep 0.1; done; echo end >> ledger')")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    bench.cluster("qdel", "-u", "*")
    bench.wait_for("begin", 2)
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    assert [one["outcome"] for one in bench.json("history")["attempts"]] == ["given back", "done"]


def test_no_option_takes_its_name_from_an_allocation_which_would_be_asked_for_without_end(bench: QueueBench) -> None:
    file = bench.folder / "headway.toml"
    file.write_text(f'{file.read_text()}options = ["-N", "mine"]\n')
    bench.jobs(2, 1)
    bench("run", "w.py", "--site", "cluster")
    assert len(bench.store().allocations.all()) == 1
    bench.each_once(2)


def test_what_grid_engine_refuses_is_told(bench: QueueBench) -> None:
    text = (bench.folder / "headway.toml").read_text()
    (bench.folder / "headway.toml").write_text(f'{text}options = ["-q", "nowhere.q"]\n')
    bench.jobs(1, 0)
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.hears(run, "Grid Engine refuses: ")


def test_placeholders_that_take_one_job_each_and_submit_themselves_again_run_a_workflow(
    cluster: Cluster, tmp_path: Path
) -> None:
    scripts = ScriptBench(tmp_path, environment=cluster.environment)
    try:
        scripts.layers(3, 4, 0.2)
        words = in_queue(scripts, ["qsub", "-terse", "-V"], "#$ -S /bin/sh", "#$ -j y", "#$ -o /dev/null", "#$ -r n")
        for _ in range(3):
            cluster(*words)
        until(lambda: scripts.counts() == {"done": 12}, 180)
        until(lambda: not cluster("qstat").strip(), 120)
        assert scripts.wrong() == [] and set(scripts.ledger.values()) == {1}
        callers = known(scripts)
        assert {sched for sched, _ in callers} == {"gridengine"}
        assert len({number for _, number in callers}) == len(callers) == 12
    finally:
        scripts.close()
