"""Placeholders in a real HTCondor pool: what is asked for, evicted, removed and lost; every job is done once."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator

import pytest

from tests.infra.queues import PoolCluster, htcondor
from tests.live.ledger import until
from tests.sites.queue_bench import QueueBench

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("htcondor")]
GATED = "echo begin >> ledger; until test -e go; do sleep 0.1; done; echo end >> ledger"


@pytest.fixture(scope="module")
def cluster() -> Iterator[PoolCluster]:
    with htcondor() as found:
        yield found


@pytest.fixture
def bench(cluster: PoolCluster, request: pytest.FixtureRequest) -> Iterator[QueueBench]:
    found = QueueBench(cluster, cluster.workplace(re.sub(r"\W+", "_", request.node.name)[-40:]), "htcondor")
    yield found
    found.close()
    until(lambda: not ours(found))


def ours(bench: QueueBench) -> list[str]:
    """The names of all that the pool has in its queue."""
    return bench.cluster("condor_q", "-af", "JobBatchName").split()


def gated(bench: QueueBench) -> subprocess.Popen[str]:
    """A run of one job, which has begun and waits."""
    bench.script(f"workflow.job('j', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.wait_for("begin")
    return run


def goes_on(bench: QueueBench, run: subprocess.Popen[str]) -> list[dict[str, object]]:
    """The attempts at that job, once it was begun again and has come to its end."""
    bench.wait_for("begin", 2)
    (bench.folder / "go").touch()
    assert run.wait(120) == 0, bench.logs()
    assert bench.ledger["end"] == 1
    found: list[dict[str, object]] = bench.json("history")["attempts"]
    assert [one["outcome"] for one in found] == ["given back", "done"], found
    return found


def test_sixty_jobs_run_in_allocations_that_end_when_there_is_no_more_work(bench: QueueBench) -> None:
    bench.jobs(60, 0.1)
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(60)
    assert {one["site"] for one in bench.json("history")["attempts"]} == {"cluster"}
    until(lambda: not ours(bench))
    store = bench.store()
    until(lambda: all(one.ended is not None and one.began is not None for one in store.allocations.all()))


def test_jobs_have_the_hosts_environment_and_their_logs_are_fetched(bench: QueueBench) -> None:
    bench.script("workflow.job('a', 'echo $PATH $_CONDOR_SLOT')", "workflow.job('b', 'echo why; exit 3')")
    bench("run", "w.py", "--site", "cluster", code=3)
    path, slot = bench("logs", "a").stdout.split()
    assert "/usr/bin" in path.split(":") and slot.startswith("slot")
    (log,) = bench.json("logs", "b")["logs"]
    assert (log["text"], log["site"], log["exit_code"]) == ("why\n", "cluster", 3)


def test_what_is_removed_gives_its_jobs_back_with_the_reason_and_they_run_in_the_next(bench: QueueBench) -> None:
    run = gated(bench)
    bench.cluster("condor_rm", "-all")
    first, _ = goes_on(bench, run)
    assert "told to end" in json.dumps(first), first


def test_what_is_evicted_gives_its_jobs_back_and_ends_when_the_pool_starts_it_again(bench: QueueBench) -> None:
    run = gated(bench)
    bench.cluster("condor_vacate_job", "-all")
    first, _ = goes_on(bench, run)
    assert "told to end" in json.dumps(first), first
    until(lambda: not ours(bench))


def test_htcondor_itself_ends_what_has_lasted_too_long(bench: QueueBench) -> None:
    """The placeholder is told of more time than its queue, so that it does not leave by itself."""
    bench.set(time="6s", allocations=1, options='["-append", "hold = true"]')
    bench.script(f"workflow.job('j', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "cluster")
    until(lambda: "HTCondor holds" in bench.logs())
    (card,) = bench.folder.glob("state/headway/*/1.json")
    card.write_text(card.read_text().replace('"seconds": 6.0', '"seconds": 600.0'))
    bench.cluster("condor_release", "-all")
    bench.wait_for("begin")
    until(lambda: bench.json("history")["attempts"][0]["outcome"] == "given back")
    until(lambda: bench.cluster("condor_q", "-constraint", "JobStatus == 5", "-af", "ClusterId").strip())
    bench.cluster("condor_release", "-all")
    first, _ = goes_on(bench, run)
    assert "told to end" in json.dumps(first), first


def test_an_allocation_whose_time_runs_out_gives_its_jobs_back(bench: QueueBench) -> None:
    bench.set(time="15s", allocations=1)
    goes_on(bench, gated(bench))


@pytest.mark.parametrize("point", ["allocation.asked", "allocation.submitted"])
def test_a_crash_while_asking_neither_forgets_an_allocation_nor_asks_twice(bench: QueueBench, point: str) -> None:
    """One job, and one allocation at once: whatever happens meanwhile, the pool is asked for one in all."""
    bench.set(allocations=1)
    bench.jobs(1, 0.1)
    first = bench.begin("run", "w.py", "--site", "cluster", HEADWAY_FAILPOINT=f"{point}:1")
    assert first.wait(60) == 1
    bench("run", "w.py", "--site", "cluster")
    bench.each_once(1)
    until(lambda: not ours(bench))
    store = bench.store()
    found = store.allocations.all()
    (ran,) = (one for one in found if one.began is not None)
    past = bench.cluster("condor_history", "-af", "JobBatchName").split()  # also of what was removed
    assert [name for name in past if name.startswith(f"headway-{store.id}-")] == [f"headway-{store.id}-{ran.id}"]
    assert len(found) == (1 if point == "allocation.submitted" else 2)


def test_what_the_queue_has_under_our_name_and_the_store_does_not_know_is_cancelled_and_nothing_else(
    bench: QueueBench,
) -> None:
    bench.jobs(2, 0.1)
    bench("run", "w.py", "--site", "cluster")
    store = bench.store()
    stray, other = f"headway-{store.id}-999", "headway-0123456789abcdef-1"
    for name in (stray, other):
        words = [f"batch_name={name}", "executable=/bin/sleep", "arguments=300", "transfer_executable=false"]
        (bench.folder / "x.sub").write_text("\n".join([*words, "queue"]) + "\n")
        bench.cluster("condor_submit", str(bench.folder / "x.sub"))
    bench.jobs(3, 0.1)
    bench("run", "w.py", "--site", "cluster", "--fresh", "--edited", "rerun")
    until(lambda: stray not in ours(bench))
    assert other in ours(bench)


def test_no_option_takes_its_name_from_an_allocation_which_would_be_asked_for_without_end(bench: QueueBench) -> None:
    bench.set(options='["-batch-name", "mine"]')
    bench.jobs(2, 1)
    bench("run", "w.py", "--site", "cluster")
    assert len(bench.store().allocations.all()) == 1
    bench.each_once(2)


def test_what_htcondor_refuses_is_told(bench: QueueBench) -> None:
    bench.set(options='["-append", "request_cpus = many of them"]')
    bench.jobs(1, 0)
    run = bench.begin("run", "w.py", "--site", "cluster")
    bench.hears(run, "HTCondor refuses: ")
    run.send_signal(signal.SIGINT)
    assert run.wait(60) in (3, 130)


def test_an_allocation_that_htcondor_holds_is_told(bench: QueueBench) -> None:
    bench.set(options='["-append", "hold = true"]', allocations=1)
    bench.jobs(1, 0.1)
    run = bench.begin("run", "w.py", "--site", "cluster")
    until(lambda: "HTCondor holds" in bench.logs())
    bench.cluster("condor_release", "-all")
    assert run.wait(60) == 0, bench.logs()


def test_the_secret_of_an_allocation_is_in_its_private_file_alone(bench: QueueBench) -> None:
    run = gated(bench)
    (card,) = bench.folder.glob("state/headway/*/1.json")
    assert card.stat().st_mode & 0o077 == 0
    secret = json.loads(card.read_text())["token"]
    shown = bench.cluster("condor_q", "-long", "-all") + bench.logs()
    arguments = bench.cluster("pool-exec", "--root", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
    assert secret not in shown and secret not in arguments and "runner-" in arguments
    (bench.folder / "go").touch()
    assert run.wait(60) == 0
