"""Placeholders in a real Grid Engine."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.experiments.trellisdag.crews import place
from tests.experiments.test_trellisdag_crews import run_by
from tests.infra.queues import Cluster, gridengine
from tests.live.ledger import until
from tests.sites.queue_bench import QueueBench
from tests.sites.script_bench import JOB, ScriptBench, in_queue, kill_all, known

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


# --- placeholders that are scripts -------------------------------------------------------------

SUBMIT = ["qsub", "-terse", "-V"]
HEAD = ("#$ -S /bin/sh", "#$ -j y", "#$ -o /dev/null", "#$ -r n")


@pytest.fixture
def scripts(cluster: Cluster, tmp_path: Path) -> Iterator[ScriptBench]:
    found = ScriptBench(tmp_path, environment=cluster.environment)
    yield found
    subprocess.run(cluster.cancel_all, env=cluster.environment, check=False)  # it fails if there is nothing to delete
    found.close()
    until(lambda: not cluster("qstat").strip())


def test_placeholders_that_take_one_job_each_and_submit_themselves_again_run_a_workflow(
    cluster: Cluster, scripts: ScriptBench
) -> None:
    scripts.layers(3, 4, 0.2)
    words = in_queue(scripts, SUBMIT, *HEAD)
    for _ in range(3):
        cluster(*words)
    until(lambda: scripts.counts() == {"done": 12}, 180)
    until(lambda: not cluster("qstat").strip(), 120)
    assert scripts.wrong() == [] and set(scripts.ledger.values()) == {1}
    callers = known(scripts)
    assert {sched for sched, _ in callers} == {"gridengine"}
    assert len({number for _, number in callers}) == len(callers) == 12


def test_a_placeholder_that_is_gone_from_qstat_loses_its_job_and_one_that_is_there_keeps_it(
    cluster: Cluster, scripts: ScriptBench
) -> None:
    scripts.submit(f"mqsub -l A -c 'test -e {scripts.folder}/go || {{ {JOB.format(scripts.folder, 600)}; }}'")
    subprocess.run(in_queue(scripts, SUBMIT, *HEAD), env=scripts.environment, check=True)
    until(lambda: scripts.begun("A"))
    caller = ("sched=gridengine", "sched_id=999999", "submit_host=localhost", "host=here")
    asked = time.monotonic()
    while time.monotonic() < asked + 5:  # its lease is two seconds; qstat has it
        assert scripts.service("mqnextjob", *caller).returncode == 10
    (scripts.folder / "go").touch()
    kill_all(scripts.folder)
    until(lambda: scripts.service("mqnextjob", *caller).returncode == 0)
    first = scripts.asked("history")["attempts"][0]
    assert first["outcome"] == "given back" and "list of gridengine" in first["reason"]


def test_the_crew_of_trellisdags_experiment_runs_here(
    bench: QueueBench, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in bench.environment.items():
        monkeypatch.setenv(key, value)
    run_by(place("gridengine-scripts").crew, bench.folder)
    until(lambda: not cluster("qstat").strip())


def test_that_crew_leaves_nothing_in_the_queue_when_it_is_ended_early(
    bench: QueueBench, cluster: Cluster, scripts: ScriptBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in bench.environment.items():
        monkeypatch.setenv(key, value)
    scripts.submit(f"mqsub -l A -c '{JOB.format(scripts.folder, 600)}'")
    with place("gridengine-scripts").crew(scripts.place, 2, scripts.folder, []):
        until(lambda: scripts.begun("A"))
        assert len(cluster("qstat").splitlines()) == 2 + 2  # a head of two lines
    until(lambda: not cluster("qstat").strip())
