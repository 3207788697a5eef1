"""Sites that run what was submitted though nobody waits for it: `headway sites start` and `stop`."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.postgres import throw_away
from tests.infra.queues import Cluster, slurm
from tests.live.ledger import runner_of, until
from tests.sites.bench import Bench
from tests.sites.queue_bench import QueueBench

GATED = "echo begin >> ledger; until test -e go; do sleep 0.05; done; echo end >> ledger"


def standing(bench: Bench | QueueBench, site: str) -> int:
    (found,) = bench.json("sites", site)["sites"]
    count: int = found["standing"]
    return count


@pytest.mark.slow
class TestAHostBehindSsh:
    def test_it_runs_what_was_submitted_before_and_after_it_was_started_until_it_is_stopped(self, bench: Bench) -> None:
        bench.jobs(6, 0.05)
        bench("submit", "w.py")
        assert not bench.ledger
        assert "one placeholder" in bench("sites", "start", "a").stderr
        bench.wait_for("end", 6)
        assert standing(bench, "a") == 1
        bench.jobs(8, 0.05)
        bench("submit", "w.py", "--edited", "rerun")
        bench.wait_for("end j7")
        assert "begins nothing more" in bench("sites", "stop", "a").stderr
        assert standing(bench, "a") == 0
        until(lambda: not bench.channels())
        bench.jobs(9, 0.05)
        bench("submit", "w.py", "--edited", "rerun")
        bench("run", "w.py", "--site", "b")  # nobody else had it
        assert bench.ledger["begin j8"] == 1
        assert {one["site"] for one in bench.json("history")["attempts"] if one["job"] == "j8"} == {"b"}

    def test_stopped_it_lets_jobs_end_and_stopped_now_it_gives_them_back(self, bench: Bench) -> None:
        bench.script(f"for n in range(3): workflow.job(f'j{{n}}', {GATED!r})")
        bench("submit", "w.py")
        bench("sites", "start", "a")  # two slots
        bench.wait_for("begin", 2)
        bench("sites", "stop", "a")
        (bench.folder / "go").touch()
        bench.wait_for("end", 2)
        until(lambda: not bench.channels())
        assert bench.ledger["begin"] == 2
        (bench.folder / "go").unlink()
        bench("sites", "start", "a")
        bench.wait_for("begin", 3)
        bench("sites", "stop", "--now", "a")
        until(lambda: not bench.channels())
        last = bench.json("history")["attempts"][-1]
        assert last["outcome"] == "given back", last

    def test_when_its_process_dies_the_next_one_goes_on_with_it(self, bench: Bench) -> None:
        bench.script(f"for n in range(4): workflow.job(f'j{{n}}', {GATED!r})")
        bench("submit", "w.py")
        bench("sites", "start", "a")
        bench.wait_for("begin", 2)
        bench.kill(bench.channels())
        (found,) = bench.json("sites", "a")["sites"]
        assert "headway sites start a" in found["problem"]
        (bench.folder / "go").touch()
        assert bench.json("sites", "start", "a")["sites"][0]["problem"] is None
        bench.wait_for("end", 4)
        assert bench.ledger == {"begin": 4, "end": 4}
        bench("sites", "stop", "a")

    def test_what_is_wrong_with_one_that_went_away_since_is_told_by_headway_sites(self, bench: Bench) -> None:
        def problem() -> str | None:
            found: str | None = bench.json("sites", "a")["sites"][0]["problem"]
            return found

        bench.jobs(1, 0)
        bench("submit", "w.py")
        bench("sites", "start", "a")
        bench.wait_for("end")
        assert problem() is None
        bench.hosts.off("h1")
        try:
            until(lambda: "h1 refuses the connection." in (problem() or ""))
        finally:
            bench.hosts.on("h1")
        until(lambda: problem() is None)
        bench("sites", "stop", "a")

    def test_one_that_cannot_be_used_is_not_started(self, bench: Bench) -> None:
        (bench.folder / "headway.toml").write_text('[sites.x]\nhost = "nowhere.invalid"\nshared = true\n')
        bench.jobs(1, 0)
        bench("submit", "w.py")
        failed = bench("sites", "start", "x", code=1)
        assert "nowhere.invalid" in failed.stderr and "Traceback" not in failed.stderr
        assert standing(bench, "x") == 0

    def test_what_makes_no_sense_is_refused(self, bench: Bench) -> None:
        bench.jobs(1, 0)
        bench("submit", "w.py")
        assert "headway placeholder" in bench("sites", "start", "local", code=2).stderr
        assert "slots = N" in bench("sites", "start", "a", "--count", "3", code=2).stderr
        assert "no site" in bench("sites", "start", "elsewhere", code=2).stderr
        assert "was not started" in bench("sites", "stop", "b").stderr

    def test_files_that_are_declared_go_to_a_site_that_does_not_share_ours(self, bench: Bench, tmp_path: Path) -> None:
        there = tmp_path / "there"
        (bench.folder / "headway.toml").write_text(f'[sites.far]\nhost = "h1"\nslots = 1\ndirectory = "{there}"\n')
        (bench.folder / "in").write_text("data")
        bench.script("workflow.job('j', 'cat in > out', inputs=['in'], outputs=['out'])")
        bench("submit", "w.py")
        bench("sites", "start", "far")
        until(lambda: (bench.folder / "out").exists())
        assert (bench.folder / "out").read_text() == "data"
        bench("sites", "stop", "far")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with slurm() as found:
        yield found


@pytest.fixture
def queued(cluster: Cluster, tmp_path: Path) -> Iterator[QueueBench]:
    found = QueueBench(cluster, tmp_path, "slurm")
    yield found
    found.close()
    until(lambda: not cluster("squeue", "-h").strip())


@pytest.mark.slow
@pytest.mark.xdist_group("slurm")
class TestABatchQueue:
    def test_it_is_asked_while_there_is_work_and_no_more_than_was_said(self, queued: QueueBench) -> None:
        bench = queued
        bench.jobs(30, 0.1)
        bench("submit", "w.py")
        found = bench.json("sites", "start", "cluster", "--count", "2")["sites"]
        assert [one["standing"] for one in found] == [2]
        bench.wait_for("end", 30)
        bench.each_once(30)
        store = bench.store()
        assert len(store.allocations.all()) <= 2
        until(lambda: not store.allocations.open("cluster"))  # they leave when there is nothing to do ...
        bench.jobs(34, 0.1)
        bench("submit", "w.py", "--edited", "rerun")
        bench.wait_for("end", 34)  # ... and others are asked for when there is
        bench("sites", "stop", "cluster")
        assert standing(bench, "cluster") == 0

    def test_stopped_now_it_gives_jobs_back_and_the_queue_has_nothing_of_ours(self, queued: QueueBench) -> None:
        bench = queued
        bench.script(f"for n in range(9): workflow.job(f'j{{n}}', {GATED!r})")
        bench("submit", "w.py")
        bench("sites", "start", "cluster")
        bench.wait_for("begin", 6)
        bench("sites", "stop", "--now", "cluster")
        until(lambda: not bench.cluster("squeue", "-h", "-o", "%j").strip())
        attempts = bench.json("history")["attempts"]
        assert {one["outcome"] for one in attempts} == {"given back"} and len(attempts) == 6

    def test_a_run_at_a_queue_leaves_to_others_what_was_submitted(self, queued: QueueBench) -> None:
        bench = queued
        bench.script("workflow.job('other', 'echo other >> ledger')")
        (bench.folder / "w.py").rename(bench.folder / "other.py")
        bench("submit", "other.py")
        bench.jobs(4, 0.1)
        bench("run", "w.py", "--site", "cluster")
        bench.each_once(4)

    def test_when_its_process_dies_the_next_one_goes_on_with_it(self, queued: QueueBench) -> None:
        bench = queued
        bench.script(f"for n in range(2): workflow.job(f'j{{n}}', {GATED!r})")
        bench("submit", "w.py")
        bench("sites", "start", "cluster")
        bench.wait_for("begin", 2)
        pid = runner_of(bench.home)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        (bench.folder / "go").touch()
        bench("sites", "start", "cluster")
        bench.wait_for("end", 2)
        until(lambda: bench.json("status")["workflows"][0]["done"] == 2)
        assert bench.ledger == {"begin": 2, "end": 2}
        bench("sites", "stop", "cluster")

    def test_placeholders_that_cannot_start_are_told_by_headway_sites(self, queued: QueueBench) -> None:
        queued.set(python="/no/python3")
        queued.jobs(1, 0)
        queued("submit", "w.py")
        queued("sites", "start", "cluster")
        until(lambda: "/no/python3: not found" in (queued.json("sites", "cluster")["sites"][0]["problem"] or ""))
        queued("sites", "stop", "cluster")

    def test_a_server_that_restarts_meanwhile_loses_nothing(self, queued: QueueBench) -> None:
        bench = queued
        with throw_away() as server:
            store = ("--store", server.url)
            bench.script(f"for n in range(8): workflow.job(f'j{{n}}', {GATED!r})")
            bench("submit", "w.py", *store)
            bench("sites", "start", "cluster", *store)
            bench.wait_for("begin", 4)
            server.stop()
            (bench.folder / "go").touch()
            bench.wait_for("end", 4)
            server.start()
            bench.wait_for("end", 8)
            until(lambda: bench.json("status", *store)["workflows"][0]["done"] == 8)
            assert bench.ledger == {"begin": 8, "end": 8}
            assert bench.json("sites", "cluster", *store)["sites"][0]["standing"] == 3
            bench("sites", "stop", "cluster", *store)
            until(lambda: not bench.cluster("squeue", "-h").strip())
            (home,) = bench.folder.glob(".headway/server-*/sites/cluster")
            os.kill(runner_of(home), signal.SIGTERM)

    def test_a_queue_that_does_not_answer_is_told_and_not_started(self, queued: QueueBench) -> None:
        bench = queued
        bench.jobs(2, 0)
        bench("submit", "w.py")
        bench.set(options='["--partition=nowhere"]')
        failed = bench("sites", "start", "cluster", code=1)
        assert "Slurm refuses" in failed.stderr and standing(bench, "cluster") == 0
