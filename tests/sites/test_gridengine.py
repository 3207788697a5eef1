"""Placeholders in a real Grid Engine."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headway.experiments.trellisdag.crews import place
from headway.live.store.allocations import name_of
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


GATED = "echo begin >> ledger; until test -e go; do sleep 0.1; done; echo end >> ledger"


def gated(bench: QueueBench) -> subprocess.Popen[str]:
    """A run of one job, which has begun and waits."""
    bench.script(f"workflow.job('j', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    return run


def queued(bench: QueueBench) -> list[str]:
    """The names of all that the queue has now."""
    tree = ElementTree.fromstring(bench.cluster("qstat", "-xml", "-u", "*"))
    return [one.findtext("JB_name", "") for one in tree.iter("job_list")]


def ever(bench: QueueBench) -> list[str]:
    """The names of all that has run, from Grid Engine's accounts: a name is the fifth of their fields."""
    lines = (bench.cluster.folder / "default/common/accounting").read_text().splitlines()
    return [line.split(":")[4] for line in lines if not line.startswith("#")]


def next_number(bench: QueueBench) -> int:
    """The number of a job that is submitted now and never runs; numbers are given in turn."""
    words = ["qsub", "-terse", "-h", "-b", "y", "-N", "probe", "-o", "/dev/null", "-j", "y", "/bin/true"]
    number = bench.cluster(*words).strip()
    bench.cluster("qdel", number)
    return int(number)


def test_sixty_jobs_run_in_allocations_that_end_when_there_is_no_more_work(bench: QueueBench) -> None:
    bench.jobs(60, 0.1)
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(60)
    assert {one["site"] for one in bench.json("history")["attempts"]} == {"cluster"}
    until(lambda: not bench.cluster("qstat").strip())


def test_qdel_gives_jobs_back_with_the_reason_and_they_run_in_the_next_allocation(bench: QueueBench) -> None:
    run = gated(bench)
    bench.cluster("qdel", "-u", "*")
    bench.wait_for("begin", 2)
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    first, last = bench.json("history")["attempts"]
    assert (first["outcome"], last["outcome"]) == ("given back", "done")
    assert "told to end" in json.dumps(first), first
    assert "told to end" in bench("history").stdout


def test_an_allocation_whose_time_runs_out_gives_its_jobs_back_with_the_reason(bench: QueueBench) -> None:
    bench.set(time="15s", allocations=1)
    run = gated(bench)
    bench.wait_for("begin", 2)
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    attempts = bench.json("history")["attempts"]
    assert attempts[0]["outcome"] == "given back" and attempts[0]["reason"], attempts
    assert attempts[-1]["outcome"] == "done" and bench.ledger["end"] == 1


@pytest.mark.parametrize("point", ["allocation.asked", "allocation.submitted"])
def test_a_crash_while_asking_neither_forgets_an_allocation_nor_asks_twice(bench: QueueBench, point: str) -> None:
    """One job, and one allocation at once: whatever happens meanwhile, the queue is asked for one in all."""
    bench.set(allocations=1)
    bench.jobs(1, 0.1)
    before = next_number(bench)
    first = bench.begin("run", "w.py", "--site", "cluster", HEADWAY_FAILPOINT=f"{point}:1")
    assert first.wait(60) == 1
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(1)
    until(lambda: not queued(bench))
    assert next_number(bench) == before + 2  # it was submitted once
    store = bench.store()
    found = store.allocations.all()
    (ran,) = (one for one in found if one.began is not None)
    assert len(found) == (1 if point == "allocation.submitted" else 2)
    until(lambda: name_of(store.id, ran.id) in ever(bench))
    assert sum(f"headway-{store.id}-" in name for name in ever(bench)) == 1


def test_what_the_queue_has_under_our_name_and_the_store_does_not_know_is_cancelled_and_nothing_else(
    bench: QueueBench,
) -> None:
    bench.jobs(2, 0.1)
    bench("run", "w.py", "--site", "cluster")
    stray, other = f"headway-{bench.store().id}-999", "headway-0123456789abcdef-1"
    for name in (stray, other):
        bench.cluster("qsub", "-b", "y", "-N", name, "-o", "/dev/null", "-j", "y", "/bin/sleep", "300")
    bench.jobs(3, 0.1)
    bench("run", "w.py", "--site", "cluster", "--fresh", "--edited", "rerun")
    until(lambda: stray not in queued(bench))
    assert other in queued(bench)


def test_the_secret_of_an_allocation_is_in_its_private_file_alone(bench: QueueBench) -> None:
    run = gated(bench)
    (card,) = bench.folder.glob("state/headway/*/1.json")
    assert card.stat().st_mode & 0o077 == 0
    secret = json.loads(card.read_text())["token"]
    shown = bench.cluster("qstat", "-j", "*") + bench.cluster("qstat", "-xml", "-ext", "-u", "*") + bench.logs()
    assert f"headway-{bench.store().id}-1" in shown and secret not in shown
    arguments = b""
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments += one.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
    assert b"/1.json" in arguments and secret.encode() not in arguments
    spool = bench.cluster.folder / "spool"
    logs, scripts = list(spool.rglob("messages")), [one for one in spool.rglob("job_scripts/*") if one.is_file()]
    assert logs and scripts
    assert not [file for file in [*logs, *scripts] if secret in file.read_text(errors="replace")]
    (bench.folder / "go").touch()
    assert run.wait(60) == 0


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
