"""A service whose clients are gone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.live.ledger import kill, runner_of, until
from tests.live.test_dagman_semantics import Dag


def test_a_service_ends_when_nobody_is_left_whom_it_could_serve(tmp_path: Path) -> None:
    dag = Dag(
        tmp_path,
        'JOB A sh\nVARS A do="until test -e go; do sleep 0.02; done"\n'
        'SERVICE S sh\nVARS S do="while true; do sleep 0.02; done"\n',
    )
    client = subprocess.Popen([sys.executable, "-m", "headway", "run", str(dag.path)], stderr=subprocess.DEVNULL)
    until(lambda: sorted(dag.ledger) == ["A", "S"])
    kill(client.pid)
    client.wait()
    (tmp_path / "go").touch()
    until(lambda: runner_of(tmp_path / ".headway") == 0)
