"""A runner whose store is far away: real processes, a real pipe, a relay between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.far import FarRunner

JOBS = 40


@pytest.fixture
def far(tmp_path: Path) -> Iterator[FarRunner]:
    runner = FarRunner(tmp_path)
    yield runner
    runner.stop()


def ledger(far: FarRunner) -> Counter[str]:
    """How often each job has begun."""
    path = far.work / "ledger"
    return Counter(path.read_text().split()) if path.exists() else Counter()


def independent(count: int, seconds: float) -> str:
    return "".join(f"mqsub -l J{at} -c 'echo J{at} >> ledger; sleep {seconds}'\n" for at in range(count))


def all_once(far: FarRunner, count: int) -> bool:
    return ledger(far) == Counter({f"J{at}": 1 for at in range(count)})


def test_a_workflow_runs_to_its_end_with_its_store_50_ms_away(far: FarRunner) -> None:
    far.delay = 0.05
    workflow = far.add(independent(JOBS, 0.05) + "mqsub -deps 'J0 J39' -l Z -c 'echo Z >> ledger'\n")
    far.start()
    *_, last = far.watch(workflow)
    assert last.ended and last.done == JOBS + 1
    assert ledger(far) == Counter({**{f"J{at}": 1 for at in range(JOBS)}, "Z": 1})
    assert [job.state.name for job in far.store.progress.jobs(workflow)] == ["DONE"] * (JOBS + 1)


def test_jobs_go_on_while_the_connection_is_cut_again_and_again(far: FarRunner) -> None:
    workflow = far.add(independent(JOBS, 0.05))
    far.start()
    cuts = 0
    for progress in far.watch(workflow):
        if progress.done // 4 > cuts:
            cuts += 1
            far.cut()
    assert cuts >= 5
    assert all_once(far, JOBS)
    codes = [code for _, _, _, _, _, code, *_ in far.store.progress.attempts(workflow)]
    assert codes.count(0) == JOBS
    assert set(codes) <= {0, None}  # an answer that was cut off gave leases that nobody heard of: they go back


def test_jobs_get_what_is_exported_where_nobody_knows_their_users_environment(far: FarRunner) -> None:
    workflow = far.add("mqsub -l A -c 'echo \"$COLOUR\" >> ledger'\n")
    far.store.submissions.export(workflow, {"COLOUR": "deep-red-ä"})
    far.start()
    *_, last = far.watch(workflow, gives=False)
    assert last.ended and ledger(far) == Counter(["deep-red-ä"])


def test_the_next_runner_goes_on_with_what_the_last_one_left(far: FarRunner) -> None:
    workflow = far.add(independent(6, 0.5))
    far.start()
    for progress in far.watch(workflow):
        if progress.running == 2:
            break
    far.kill()
    far.start()
    *_, last = far.watch(workflow)
    assert last.ended
    assert all(job.state.name == "DONE" for job in far.store.progress.jobs(workflow))


def test_a_workflow_that_the_far_store_does_not_have_is_refused(far: FarRunner) -> None:
    from headway.model.errors import HeadwayError

    far.start()
    with pytest.raises(HeadwayError, match="has no workflow 99"):
        list(far.watch(99))  # type: ignore[arg-type]
