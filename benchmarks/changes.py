"""What it costs that changes can be followed: 16 placeholders at one PostgreSQL server, running /bin/true.

.venv/bin/python benchmarks/changes.py --against DIR [--placeholders 16] [--jobs 3000] [--pairs 6]

DIR is a tree without the sequence (`git worktree add DIR COMMIT`). In every round the same workflow is run three times
on one server, in an order drawn by lot: by DIR; by this tree; and by this tree while somebody follows the changes ten
times a second. Placeholders start a job, wait for it and exchange, and do nothing else, so the store is more of the run
than in `headway run`. Ratios are to DIR in the same round, with their upper 95% bound. Without --postgres a server is
started, with fsync off, and stopped again.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from against import environment, upper_bound
from read_dagman import spread
from tests.contracts.conftest import emptied
from tests.infra.postgres import server

HERE = Path(__file__).resolve().parents[1]
LAYERS = 20
PACE = 0.1  # seconds between two looks of somebody who follows


def submitted(url: str, jobs: int) -> int:
    """A workflow in layers; each job waits for two of the layer before."""
    from headway.live.store import opened
    from headway.live.store.submission import Submission
    from headway.model.dag import Dag
    from headway.model.flatten import Flat
    from headway.model.job import Job

    width = jobs // LAYERS
    pairs = [
        (at - width - at % width + (at + step) % width, at) for at in range(width, width * LAYERS) for step in (0, 1)
    ]
    dag = Dag([f"j{at}" for at in range(width * LAYERS)], [a for a, _ in pairs], [b for _, b in pairs])
    flat = Flat(dag, [Job("true") for _ in dag.names], frozenset())
    store = opened(url)
    number = store.submissions.add(Submission("bench", "/bench.dag", "/somewhere", flat, [0] * len(dag)), 1.0)
    store.close()
    return int(number)


def work(url: str, workflow: int) -> None:
    """One placeholder of two slots: begins when it is told to, and works until nothing is left."""
    from headway.engine.ready import Room
    from headway.live.store import opened
    from headway.model.messages import Finish, WorkflowId

    store, number = opened(url), WorkflowId(workflow)
    placeholder = store.placeholders.enter("here", os.getpid(), time.time())
    print("ready", flush=True)
    sys.stdin.readline()
    finished = list[Finish]()
    while True:
        now = time.time()
        answer = store.leases.exchange(placeholder, finished, Room(2, 2), [number], now, idle=[number])
        started = [os.posix_spawn("/bin/true", ["true"], {}) for _ in answer.leases]
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in started]
        ended = time.time()
        finished = [
            Finish(lease.id, code, now, ended, 1 << 20, 0.01) for lease, code in zip(answer.leases, codes, strict=True)
        ]
        if not finished and number in answer.over:
            return


def follow(url: str, workflow: int) -> None:
    """Looks for changes until it is ended; says how often, and how long a look took."""
    from headway.live.client.following import Following
    from headway.live.store import opened
    from headway.model.messages import WorkflowId
    from headway.model.states import State

    following = Following(opened(url), WorkflowId(workflow))
    jobs = following.look().total()
    print("ready", flush=True)
    took = list[float]()
    while following.look()[State.DONE] < jobs:
        time.sleep(PACE)
        begun = time.perf_counter()
        following.look()
        took.append(time.perf_counter() - begun)
    print(f"{1000 * statistics.median(took):.2f}", flush=True)


def process(tree: Path, role: str, url: str, workflow: int) -> subprocess.Popen[str]:
    words = [sys.executable, __file__, "--role", role, "--postgres", url, "--workflow", str(workflow)]
    return subprocess.Popen(words, env=environment(tree), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def measured(tree: Path, url: str, options: argparse.Namespace, followed: bool) -> tuple[float, float]:
    """Wall seconds of a run, and milliseconds of a look at its changes."""
    emptied(url)
    make = [sys.executable, __file__, "--role", "submit", "--postgres", url, "--jobs", str(options.jobs)]
    workflow = int(subprocess.run(make, env=environment(tree), stdout=subprocess.PIPE, text=True, check=True).stdout)
    watcher = process(tree, "follow", url, workflow) if followed else None
    crew = [process(tree, "work", url, workflow) for _ in range(options.placeholders)]
    for one in crew if watcher is None else (*crew, watcher):
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
    begun = time.perf_counter()
    for one in crew:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    if any(one.wait() for one in crew):
        sys.exit("a placeholder failed")
    wall = time.perf_counter() - begun
    return wall, float(watcher.communicate()[0]) if watcher is not None else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="DIR", type=Path)
    parser.add_argument("--placeholders", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=3000)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--role", choices=["submit", "work", "follow"], help=argparse.SUPPRESS)
    parser.add_argument("--workflow", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role == "submit":
        print(submitted(options.postgres, options.jobs))
    elif options.role is not None:
        (work if options.role == "work" else follow)(options.postgres, options.workflow)
    elif options.against is None:
        parser.error("--against DIR: a tree to compare with")
    else:
        compare(options)


def compare(options: argparse.Namespace) -> None:
    kinds = {
        "without the sequence": (options.against.resolve(), False),
        "with it": (HERE, False),
        "with it, and followed": (HERE, True),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
    with contextlib.ExitStack() as stack:
        url = options.postgres or stack.enter_context(server())
        for at in range(options.pairs):
            for name in random.sample(list(kinds), len(kinds)):
                found[name].append(measured(kinds[name][0], url, options, kinds[name][1]))
            print(f"\rround {at + 1} of {options.pairs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    floor = [wall for wall, _ in found["without the sequence"]]
    print(f"{options.placeholders} placeholders, {options.jobs} jobs: median (least–most) of {options.pairs} rounds\n")
    print("| tree | wall s | / without | estimate | below | ms a look |")
    print("|---|---|---|---|---|---|")
    for name, runs in found.items():
        ratios = [wall / base for (wall, _), base in zip(runs, floor, strict=True)]
        middle, bound = upper_bound(ratios)
        looks = [look for _, look in runs if look]
        print(
            f"| {name} | {spread([wall for wall, _ in runs], '.2f')} | {spread(ratios, '.3f')}"
            f" | {middle:.3f} | {bound:.3f} | {spread(looks, '.1f') if looks else ''} |"
        )


if __name__ == "__main__":
    main()
