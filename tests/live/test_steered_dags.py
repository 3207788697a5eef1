"""DAGs whose user steers them while they run: what starts, what does not, and how the run then ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.live.ledger import until
from tests.live.test_dagman_semantics import Dag
from tests.shell import headway


def begun(dag: Dag, *words: str) -> subprocess.Popen[str]:
    """A run that goes on while its user does something else."""
    command = [sys.executable, "-m", "headway", "run", str(dag.path), *words]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def said(run: subprocess.Popen[str], code: int) -> str:
    """What a run has said by its end."""
    _, text = run.communicate(timeout=60)
    assert run.returncode == code, text
    return text


def test_a_disabled_node_starts_no_further_process(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A three\nVARS A do="until test -e go; do sleep 0.02; done"\n')
    run = begun(dag, "--slots", "1")
    until(lambda: dag.ledger)
    assert headway("disable", "A", cwd=tmp_path).returncode == 0
    (tmp_path / "go").touch()
    assert "disabled: A. headway enable lets it run." in said(run, 3)
    assert dag.ledger == ["A.0"]
    assert headway("enable", "A", cwd=tmp_path).returncode == 0
    assert dag.run()["done"] == 1 and sorted(dag.ledger) == ["A.0", "A.1", "A.2"]


def test_a_run_does_not_wait_for_a_disabled_job_that_is_put_off(tmp_path: Path) -> None:
    dag = Dag(tmp_path, 'JOB A sh\nVARS A do="test -e go"\n')
    run = begun(dag, "--retries", "3", "--backoff", "1h")
    until(lambda: "It will be tried again in" in headway("explain", "A", cwd=tmp_path).stdout)
    assert headway("disable", "A", cwd=tmp_path).returncode == 0
    assert "disabled: A. headway enable lets it run." in said(run, 3)
    assert dag.ledger == ["A"]
