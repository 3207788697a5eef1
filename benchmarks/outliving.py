"""What it costs a job that its end is known though its runner dies: notes in the roster, or a wrapper around it.

    .venv/bin/python benchmarks/outliving.py [--jobs 500] [--seconds 0.01]

Jobs of that length run one after the other: as they are, with the notes that the runner makes (docs/decisions/0008),
and inside a shell that writes the exit code to a file. Milliseconds a job beyond its length, by the clock and of CPU;
the three take turns, and the least of five rounds counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from headway.live.placeholder.roster import STATUS, Roster
from headway.live.placeholder.running import status_of

_ROUNDS = 5
_WRAPPER = 'trap : TERM INT HUP; "$@"; code=$?; echo $code > "$0"; exit $code'


def started(argv: list[str]) -> int:
    return os.posix_spawn(argv[0], argv, os.environ, setsid=True)


def plain(argv: list[str]) -> None:
    os.wait4(started(argv), 0)


def noted(argv: list[str], roster: Roster) -> None:
    up = time.clock_gettime(time.CLOCK_BOOTTIME)
    place = roster.begin(1, up, time.time(), 1, 0, os.getppid(), 1, 0)
    pid = started(argv)
    roster.began(place, pid, time.clock_gettime(time.CLOCK_BOOTTIME))
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # in the runner poll(2) says that it has ended
    roster.end(place, status_of(pid), time.time(), known=STATUS)
    _, status, usage = os.wait4(pid, 0)
    roster.end(place, status, time.time(), usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)
    roster.strike(place)


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measured(run: Callable[[], None], jobs: int) -> tuple[float, float]:
    """Seconds a job by the clock, and of CPU."""
    begun, used = time.perf_counter(), cpu()
    for _ in range(jobs):
        run()
    return (time.perf_counter() - begun) / jobs, (cpu() - used) / jobs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=0.01)
    options = parser.parse_args()
    argv = ["/bin/sleep", str(options.seconds)]
    with tempfile.TemporaryDirectory() as folder:
        roster = Roster(Path(folder) / "roster")
        roster.clear()
        ways: dict[str, Callable[[], None]] = {
            "as it is": lambda: plain(argv),
            "noted in the roster": lambda: noted(argv, roster),
            "in a wrapper": lambda: plain(["/bin/sh", "-c", _WRAPPER, f"{folder}/exit", *argv]),
        }
        rounds = [{name: measured(run, options.jobs) for name, run in ways.items()} for _ in range(_ROUNDS)]
    print("| a job | ms beyond its length | ms of CPU |")
    print("|---|---|---|")
    for name in ways:
        wall, used = (min(one[name][which] for one in rounds) for which in (0, 1))
        print(f"| {name} | {(wall - options.seconds) * 1000:.3f} | {used * 1000:.3f} |")


if __name__ == "__main__":
    main()
