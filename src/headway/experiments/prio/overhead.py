"""Section 3.6: what prioritising costs, in time and memory, on the four dags."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from headway.experiments.prio.dags import MAKERS
from headway.experiments.report import Claim, Report

PAPER = {"airsn": (1.0, 2), "inspiral": (16.0, 21), "montage": (8.0, 104), "sdss": (845.0, 1331)}  # seconds, MB


def add(report: Report, names: list[str]) -> None:
    """The table: from the shell, on a DAGMan file, in a process of its own; and the policy alone."""
    report.say(
        "## Section 3.6: overhead",
        "A process of its own reads a DAGMan file and prioritises it; memory is its peak, the interpreter's own 10 to"
        " 20 MB included. The paper's times are from a 3.4 GHz Pentium 4; claims are judged by time.",
    )
    claims, rows = [], []
    for name in names:
        wall, policy, peak = measured(name)
        seconds, megabytes = PAPER[name]
        rows.append(
            {"dag": name, "seconds": round(wall, 3), "policy_seconds": round(policy, 3), "peak_mb": round(peak)}
        )
        claims.append(
            Claim(
                f"overhead-{name}",
                f"{'under ' * (name == 'airsn')}{seconds:g} s, at most {megabytes} MB",
                f"{wall:.2f} s in all, policy {policy:.3f} s, {peak:.0f} MB",
                wall <= seconds,
            )
        )
    report.claim_table(claims)
    report.data["overhead"] = rows


def measured(name: str) -> tuple[float, float, float]:
    """Wall seconds of the process, seconds of the policy alone, peak MB."""
    import time

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.dag"
        path.write_text(MAKERS[name]().dagman())
        begun = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", __name__, str(path)], capture_output=True, check=True)  # noqa: S603
        policy, peak = json.loads(done.stdout)
        return time.perf_counter() - begun, policy, peak


def _prioritise(path: str) -> None:
    """What the measured process does."""
    import time

    from headway.live.reading.read import no_collection, read
    from headway.model.flatten import flatten
    from headway.policies.what_next import order

    with no_collection():
        dag = flatten(read(path)).dag
        begun = time.perf_counter()
        order("prio")(dag)
        policy = time.perf_counter() - begun
    status = Path("/proc/self/status").read_text()  # getrusage would count what the starter had before exec
    print(json.dumps([policy, int(status.split("VmHWM:")[1].split()[0]) / 1024]))


if __name__ == "__main__":
    _prioritise(sys.argv[1])
