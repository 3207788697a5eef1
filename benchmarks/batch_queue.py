"""Replaying the log of a batch queue: log jobs per second per core, with AccaSim beside it.

    .venv/bin/pip install accasim
    .venv/bin/python benchmarks/batch_queue.py LOG.swf.xz… [--repeat 3] [--processors N] [--workflows 10]

Each log is replayed under FCFS, FL and FS by the kernel, and by the engine's plain Python (`sim/queue.py`) up to
--plain jobs. "with showstart" is the whole log with --workflows of the paper in it, one after the other, each submitted
by hybrid: the workflows' own jobs are in the time. AccaSim replays the first --plain jobs by EASY backfilling. CPU time
of this one thread; compiling is not counted. Peak memory is this process's after each log.

With --trials N, for each log under FCFS: milliseconds of CPU of a trial, one workflow submitted at one of N moments,
from a checkpoint. *in bulk* is what the evaluation does, *engine* runs the same jobs by the engine, *loose* has guests.
"""

from __future__ import annotations

import argparse
import collections
import collections.abc
import contextlib
import io
import json
import math
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from read_dagman import spread

from headway.experiments.batchqueue.dags import configurations
from headway.formats.swf import Log, parse, render
from headway.live.reading.files import Files
from headway.policies.how_much import method
from headway.sim.queue import PlainQueue
from headway.sim.queue_policies import NAMES, policy
from headway.sim.replay import Replay, prepare
from headway.sim.submission import Case, Submission
from headway.sim.trials import moments


def rate(count: int, work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return count / (time.process_time() - start)


def first(log: Log, count: int) -> Log:
    return Log(
        log.name, log.processors, log.submit[:count], log.run[:count], log.width[:count], log.request[:count],
        log.user[:count],
    )  # fmt: skip


def accasim(log: Log) -> Callable[[], None] | None:
    """The same jobs replayed by AccaSim; None where it is not installed."""
    for name in ("Mapping", "MutableMapping", "Iterable", "Sequence", "Callable"):  # it is from before Python 3.10
        setattr(collections, name, getattr(collections.abc, name))
    try:
        from accasim.base.allocator_class import FirstFit
        from accasim.base.scheduler_class import EASYBackfilling
        from accasim.base.simulator_class import Simulator
    except ImportError:
        return None
    folder = Path(tempfile.mkdtemp(prefix="accasim-"))
    (folder / "log.swf").write_text(render(log))
    machine = {"groups": {"g0": {"core": 1}}, "resources": {"g0": log.processors}}
    (folder / "machine.json").write_text(json.dumps(machine))
    off = dict.fromkeys(("statistics_output", "pprint_output", "benchmark_output", "scheduling_output"), False)

    def run() -> None:
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            simulator = Simulator("log.swf", "machine.json", EASYBackfilling(FirstFit()), **off)
            simulator.start_simulation()
        if simulator.loaded_jobs < 0.99 * len(log):
            raise SystemExit(f"AccaSim has simulated {simulator.loaded_jobs} of {len(log)} jobs")

    return run


def with_showstart(log: Log, name: str, workflows: int) -> float:
    """The whole log with so many workflows in it, one after the other, each by hybrid, which asks for estimates."""
    cases = [Case(configurations()[family][12].dag()) for family in ("EMAN", "Montage", "Gauss")]
    begins = log.submit[0]
    queue = Replay(log, policy(name), [begins]).checkpoints[begins].copied()
    start = time.process_time()
    for at, moment in enumerate(sorted(moments(log, workflows, 1))):
        if moment > queue.now:
            queue.advance(moment)
        Submission(queue, cases[at % 3], method("hybrid"), log.processors, queue.showstart).outcome()
    queue.advance(math.inf)
    return len(log) / (time.process_time() - start)


def plainly(log: Log, name: str) -> None:
    PlainQueue(log, policy(name)).advance(math.inf)


def trials(log: Log, how: str, moments_of: int, loose: bool, by_engine: bool) -> list[float]:
    """Milliseconds of each trial of three workflows."""
    starts = moments(log, moments_of, 0)
    replay = Replay(log, policy("FCFS"), starts)
    found = []
    for family in ("EMAN", "Montage", "Gauss"):
        case = Case(configurations()[family][12].dag())
        for at in starts:
            begun = time.process_time()
            queue = replay.checkpoints[at].copied()
            one = Submission(queue, case, method(how), log.processors, queue.showstart, None, loose, by_engine)
            one.outcome()
            found.append(1000 * (time.process_time() - begun))
    return found


def show_trials(logs: Sequence[str], processors: int | None, count: int) -> None:
    print(f"\nms of CPU a trial, mean over 3 workflows and {count} moments, FCFS\n")
    print("| log | method | in bulk | engine | loose |\n|---|---|---|---|---|")
    for path in logs:
        log = parse(path, Files().lines(path), processors)
        for how in ("individual", "giant", "hybrid", "hybrid+"):
            kinds = ((False, False), (False, True), (True, True))
            cells = [f"{statistics.mean(trials(log, how, count, *kind)):.1f}" for kind in kinds]
            print(f"| {Path(path).name} | {how} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--processors", type=int)
    parser.add_argument("--workflows", type=int, default=10)
    parser.add_argument("--plain", type=int, default=5000)
    parser.add_argument("--trials", type=int, default=0)
    options = parser.parse_args()
    prepare()
    print(f"log jobs a second, median (least–most) of {options.repeat}\n")
    print("| log | jobs | policy | kernel | kernel, with showstart | plain Python | AccaSim (EASY) | peak MB |")
    print("|---|---|---|---|---|---|---|---|")
    for path in options.logs:
        log = parse(path, Files().lines(path), options.processors)
        some = first(log, options.plain)
        theirs = accasim(some)
        beside = "not installed"
        if theirs is not None:
            beside = spread([rate(len(some), theirs) for _ in range(options.repeat)], ",.0f")
        for name in NAMES:
            whole = [rate(len(log), partial(Replay, log, policy(name))) for _ in range(options.repeat)]
            asked = [with_showstart(log, name, options.workflows) for _ in range(options.repeat)]
            slow = [rate(len(some), partial(plainly, some, name)) for _ in range(options.repeat)]
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            cells = [spread(whole, ",.0f"), spread(asked, ",.0f"), spread(slow, ",.0f"), beside, str(peak)]
            print(f"| {Path(path).name} | {len(log):,} | {name} | {' | '.join(cells)} |", flush=True)
    if options.trials:
        show_trials(options.logs, options.processors, options.trials)


if __name__ == "__main__":
    main()
