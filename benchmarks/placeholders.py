"""Placeholders on other hosts, in batch queues and on shared stores, on real servers that are started for it.

    .venv/bin/python benchmarks/placeholders.py [--parts two ssh …] [--repeat 3]

    two      jobs that start /bin/true through two placeholders on PostgreSQL (fsync on), beside xargs -P2
    ssh      the same at a host behind ssh, on loopback: connecting included
    far      jobs of 100 ms at a host behind ssh through a relay that delays everything by 50 ms each way: how busy its
             slots are
    first    until the first job begins at a host behind ssh: one that gets the runner's file, and one that has it
    claims   16 placeholders that claim and finish jobs in batches on PostgreSQL, with no work in them
    crowd    1,376 slots on 20 hosts behind ssh on one store, with jobs that sleep, against the minimal schedule
    slurm    1,000 jobs of one second in Slurm's allocations, against the minimal schedule for the granted cores; then
             sbatch for each job, in the same cluster (needs root)
    busy     200 placeholders of one slot, all at work on one PostgreSQL server, with jobs that sleep, none of which may
             run twice; beside xargs -P200
    idle     200 placeholders behind one door that have nothing to do: what they cost the database and in memory

Everything runs on this computer: with two cores, the jobs, the servers and the placeholders share them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import multiprocessing
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from read_dagman import spread
from tests.contracts.conftest import emptied
from tests.infra import relay
from tests.infra.hosts import Hosts
from tests.infra.hosts import throw_away as throw_away_hosts
from tests.infra.postgres import Server
from tests.infra.postgres import throw_away as throw_away_server
from tests.infra.queues import slurm
from tests.live.ledger import until

from headway.engine.ready import Room
from headway.live.store import opened
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job
from headway.model.messages import Finish, WorkflowId
from headway.model.states import State

HEADWAY = [sys.executable, "-m", "headway"]
HOSTS, SLOTS = 20, 1376  # the paper's
NAP = 10.0  # seconds that each of their jobs sleeps
SHORT_NAP = 5.0  # the same where there are fewer slots
WAVES = 3  # jobs for each slot
DRAWN = 200  # placeholders, at work or idle
DELAY = 0.05  # seconds that a message takes to a far host, and as many back
LOOK = 30.0  # seconds for which they are watched


def write(folder: Path, jobs: int, command: str) -> None:
    lines = "".join(f"mqsub -l j{number} -c '{command}'\n" for number in range(jobs))
    (folder / "w.sh").write_text(lines)


def xargs(jobs: int) -> float:
    """Seconds of the floor."""
    begun = time.perf_counter()
    subprocess.run(["sh", "-c", f"seq {jobs} | xargs -P2 -n1 /bin/true"], check=True)
    return time.perf_counter() - begun


def run(folder: Path, *words: str, environment: dict[str, str] | None = None) -> float:
    """Seconds that a command takes."""
    begun = time.perf_counter()
    done = subprocess.run([*HEADWAY, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return time.perf_counter() - begun


def times(place: str | Path, workflow: int = 1) -> list[tuple[float, float]]:
    """When each job began and ended, by the store."""
    store = opened(place)
    found = [(one[3], one[4]) for one in store.progress.attempts(WorkflowId(workflow))]
    store.close()
    return [(start, end) for start, end in found if isinstance(start, float) and isinstance(end, float)]


def lasted(found: Iterable[tuple[float, float]]) -> float:
    """From the first start to the last end."""
    found = list(found)
    return max(end for _, end in found) - min(start for start, _ in found)


@contextlib.contextmanager
def placeholders(count: int, folder: Path, *words: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Placeholders that are there and wait for work."""
    found = []
    for number in range(count):
        environment = {**os.environ, "XDG_STATE_HOME": str(folder / f"state{number}")}
        command = [*HEADWAY, "placeholder", *words]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        found.append(subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **quiet))
    try:
        yield found
    finally:
        for one in found:
            one.send_signal(signal.SIGINT)
        for one in found:
            one.wait(600)


def row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


# --- two placeholders on PostgreSQL ---------------------------------------------------------------------------------


def two(repeat: int, jobs: int = 5000) -> None:
    print(f"\n### Two placeholders on PostgreSQL: {jobs:,} jobs that do nothing (aim: 1.3 of xargs)\n")
    row("", "wall s", "/ xargs")
    row("---", "---", "---")
    from_start, whole, walls = [], [], []
    with throw_away_server("fsync = on") as server:
        for _ in range(repeat):
            emptied(server.url)
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
                folder = Path(scratch)
                write(folder, jobs, "/bin/true")
                opened(server.url).close()  # makes the schema
                with placeholders(2, folder, "--store", server.url, "--slots", "1"):
                    until(lambda: _present(server) == 2)
                    floor = xargs(jobs)
                    begun = time.perf_counter()
                    run(folder, "submit", "w.sh", "--store", server.url)
                    _wait_until_done(server.url, jobs)
                    wall = time.perf_counter() - begun
                found = times(server.url)
                assert len(found) == jobs
                from_start.append(lasted(found) / floor)
                whole.append(wall / floor)
                walls.append(wall)
    row("from the first job's start to the last one's end", "", spread(from_start, ".2f"))
    row("from calling `headway submit` until all is recorded", spread(walls, ".2f"), spread(whole, ".2f"))


def _wait_until_done(place: str, jobs: int) -> None:
    """Looks seldom: the database has other things to do."""
    store = opened(place)
    while store.progress.counts(WorkflowId(1)).get(State.DONE, 0) < jobs:
        time.sleep(0.05)
    store.close()


def _present(server: Server) -> int:
    import psycopg

    with psycopg.connect(server.url) as db:
        return int(db.execute("SELECT count(*) FROM headway.placeholders").fetchone()[0])  # type: ignore[index]


# --- ssh ------------------------------------------------------------------------------------------------------------

LAB = '[sites.lab]\nhost = "h1"\nslots = 2\nshared = true\n'


def ssh(repeat: int, jobs: int = 5000) -> None:
    print(f"\n### A host behind ssh, on loopback: {jobs:,} jobs that do nothing (aim: 1.5 of xargs)\n")
    row("wall s", "/ xargs", "jobs alone / xargs")
    row("---", "---", "---")
    walls, ratios, alone = [], [], []
    with throw_away_hosts(1) as hosts:
        for _ in range(repeat):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
                folder = Path(scratch)
                write(folder, jobs, "/bin/true")
                (folder / "headway.toml").write_text(LAB)
                floor = xargs(jobs)
                wall = run(folder, "run", "w.sh", "--site", "lab", environment=hosts.environment)
                walls.append(wall)
                ratios.append(wall / floor)
                alone.append(lasted(times(folder / ".headway/store.db")) / floor)
    row(spread(walls, ".2f"), spread(ratios, ".2f"), spread(alone, ".2f"))


def far(repeat: int, jobs: int = 200, seconds: float = 0.1) -> None:
    print(f"\n### A host behind ssh, {DELAY * 1000:.0f} ms away: {jobs} jobs of {seconds * 1000:.0f} ms (aim: 0.9)\n")
    row("slots busy", "wall s")
    row("---", "---")
    shares, walls = [], []
    with throw_away_hosts(1) as hosts:
        behind = "exec 3<>/dev/tcp/%h/%p; cat <&3 & exec cat >&3"
        way = shlex.join([sys.executable, relay.__file__, str(DELAY), "bash", "-c", behind])
        for _ in range(repeat):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
                folder = Path(scratch)
                write(folder, jobs, f"sleep {seconds}")
                (folder / "headway.toml").write_text(
                    f"{LAB}ssh_options = {json.dumps(['-o', f'ProxyCommand={way}'])}\n"
                )
                walls.append(run(folder, "run", "w.sh", "--site", "lab", environment=hosts.environment))
                found = times(folder / ".headway/store.db")
                shares.append(sum(end - start for start, end in found) / (2 * lasted(found)))
    row(spread(shares, ".3f"), spread(walls, ".1f"))


def first(repeat: int) -> None:
    print("\n### Until the first job begins at a host behind ssh (aims: 1.5 s with its file sent, 0.7 s without)\n")
    row("host", "s", "/ `ssh host true`")
    row("---", "---", "---")
    with throw_away_hosts(1) as hosts:
        for kind in ("fresh", "known"):
            found, ratios = [], []
            for _ in range(max(repeat, 5)):
                if kind == "fresh":
                    subprocess.run(["rm", "-rf", hosts.folder / "cache"], check=True)
                begun = time.perf_counter()
                subprocess.run(["ssh", "h1", "true"], env=hosts.environment, check=True)
                floor = time.perf_counter() - begun
                found.append(_first_job(hosts))
                ratios.append(found[-1] / floor)
            row(kind, spread(found, ".2f"), spread(ratios, ".1f"))


def _first_job(hosts: Hosts) -> float:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        write(folder, 1, "/bin/true")
        (folder / "headway.toml").write_text(LAB)
        begun = time.time()
        run(folder, "run", "w.sh", "--site", "lab", environment=hosts.environment)
        ((start, _),) = times(folder / ".headway/store.db")
        return start - begun


# --- many -----------------------------------------------------------------------------------------------------------


def claims(repeat: int, jobs: int = 48_000, crew: int = 16, batch: int = 50) -> None:
    print(
        f"\n### {crew} placeholders on PostgreSQL without work, {batch} jobs an exchange (aim: 10,000 jobs a second)\n"
    )
    row("jobs", "jobs a second")
    row("---", "---")
    rates = []
    with throw_away_server() as server:
        for _ in range(repeat):
            emptied(server.url)
            store = opened(server.url)
            dag = Dag([f"j{number}" for number in range(jobs)], [], [])
            flat = Flat(dag, [Job("true")] * jobs, frozenset())
            from headway.live.store.submission import Submission

            submission = Submission("claims", "/claims.dag", "/somewhere", flat, [0] * jobs)
            workflow = store.submissions.add(submission, time.time())
            store.close()
            context = multiprocessing.get_context("spawn")
            gate, counts = context.Barrier(crew + 1), context.Queue()
            given = (server.url, workflow, batch, gate, counts)
            workers = [context.Process(target=_claim, args=given) for _ in range(crew)]
            for one in workers:
                one.start()
            gate.wait()
            begun = time.perf_counter()
            total = sum(counts.get() for _ in workers)
            rates.append(total / (time.perf_counter() - begun))
            for one in workers:
                one.join()
            assert total == jobs
    row(f"{jobs:,}", spread(rates, ",.0f"))


def _claim(url: str, workflow: WorkflowId, batch: int, gate: object, counts: object) -> None:
    store = opened(url)
    placeholder = store.placeholders.enter("here", os.getpid(), time.time())
    finished: list[Finish] = []
    done = 0
    gate.wait()  # type: ignore[attr-defined]
    while True:
        now = time.time()
        answer = store.leases.exchange(placeholder, finished, Room(batch, batch), [workflow], now, [workflow])
        done += len(finished)
        finished = [Finish(lease.id, 0, now, now, 1 << 20, 0.01) for lease in answer.leases]
        if not finished and (answer.over or not answer.contended):
            break
    counts.put(done)  # type: ignore[attr-defined]
    store.close()


def crowd(repeat: int) -> None:
    jobs = SLOTS * WAVES
    print(f"\n### {SLOTS:,} slots on {HOSTS} hosts behind ssh, one store: {jobs:,} jobs that sleep {NAP:.0f} s\n")
    row("store", "from first start to last end, s", "/ minimal schedule", "wall s", "slots used at once")
    row("---", "---", "---", "---", "---")
    with throw_away_hosts(HOSTS) as hosts, throw_away_server() as server:
        for name in ("SQLite", "PostgreSQL"):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
                folder = Path(scratch)
                write(folder, jobs, f"sleep {NAP:g}")
                sites = []
                for number in range(HOSTS):
                    slots = SLOTS // HOSTS + (number < SLOTS % HOSTS)
                    sites.append(f'[sites.s{number}]\nhost = "h{number + 1}"\nslots = {slots}\nshared = true\n')
                (folder / "headway.toml").write_text("\n".join(sites))
                words = [word for number in range(HOSTS) for word in ("--site", f"s{number}")]
                if name == "PostgreSQL":
                    words += ["--store", server.url]
                wall = run(folder, "run", "w.sh", *words, environment=hosts.environment)
                found = times(server.url if name == "PostgreSQL" else folder / ".headway/store.db")
                assert len(found) == jobs
                moments = sorted([(start, 1) for start, _ in found] + [(end, -1) for _, end in found])
                most = running = 0
                for _, change in moments:
                    running += change
                    most = max(most, running)
                took, least = lasted(found), WAVES * NAP
                row(name, f"{took:.1f}", f"{took / least:.3f}", f"{wall:.1f}", f"{most:,}")


def busy(repeat: int, jobs: int = 3000) -> None:
    waves = math.ceil(jobs / DRAWN)
    print(f"\n### {DRAWN} placeholders at work on one PostgreSQL store: {jobs:,} jobs that sleep {SHORT_NAP:.0f} s\n")
    row("from first start to last end, s", "/ minimal schedule", "/ xargs", "CPU of the database, % of a core")
    row("---", "---", "---", "---")
    alone, least, floors, loads = [], [], [], []
    with throw_away_server("fsync = on", "max_connections = 1000") as server:
        for _ in range(repeat):
            emptied(server.url)
            opened(server.url).close()  # makes the schema
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
                folder = Path(scratch)
                write(folder, jobs, f"echo $HEADWAY_JOB >> ledger; sleep {SHORT_NAP:g}")
                with placeholders(DRAWN, folder, "--store", server.url, "--slots", "1"):
                    until(lambda: _present(server) == DRAWN, 600)
                    begun = time.perf_counter()
                    same = f"seq {jobs} | xargs -P{DRAWN} -I@ sh -c 'echo @ >> floor; sleep {SHORT_NAP:g}'"
                    subprocess.run(["sh", "-c", same], check=True, cwd=folder)
                    floor = time.perf_counter() - begun
                    before, begun = _database_seconds(server), time.perf_counter()
                    run(folder, "submit", "w.sh", "--store", server.url)
                    _wait_until_done(server.url, jobs)
                    loads.append(100 * (_database_seconds(server) - before) / (time.perf_counter() - begun))
                found = times(server.url)
                ran = (folder / "ledger").read_text().splitlines()
                assert len(found) == len(ran) == len(set(ran)) == jobs, (len(found), len(ran), len(set(ran)))
                alone.append(lasted(found))
                least.append(lasted(found) / (waves * SHORT_NAP))
                floors.append(lasted(found) / floor)
    row(spread(alone, ".1f"), spread(least, ".3f"), spread(floors, ".3f"), spread(loads, ".1f"))


# --- queues ---------------------------------------------------------------------------------------------------------


def in_slurm(repeat: int, jobs: int = 1000, nodes: int = 4, cpus: int = 8) -> None:
    cores = nodes * cpus
    print(f"\n### {jobs:,} jobs of one second in Slurm, {cores} cores (aim: within 5% of the minimal schedule)\n")
    row("", "s", "/ minimal schedule")
    row("---", "---", "---")
    least = math.ceil(jobs / cores) * 1.0
    with slurm(nodes, cpus) as cluster:
        found, walls = [], []
        for _ in range(repeat):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True, dir=cluster.folder) as scratch:
                folder = Path(scratch)
                write(folder, jobs, "sleep 1")
                asked = f'allocations = {nodes}\ncores = {cpus}\ntime = "10m"\nidle = "2"\nlook = "1"\n'
                (folder / "headway.toml").write_text(f'[sites.q]\nqueue = "slurm"\n{asked}')
                environment = {**cluster.environment, "XDG_STATE_HOME": str(folder / "state")}
                walls.append(run(folder, "run", "w.sh", "--site", "q", environment=environment))
                found.append(lasted(times(folder / ".headway/store.db")))
        row(
            "placeholders: first start to last end", spread(found, ".1f"), spread([one / least for one in found], ".3f")
        )
        row("placeholders: the whole command", spread(walls, ".1f"), spread([one / least for one in walls], ".3f"))
        begun = time.perf_counter()
        for _ in range(jobs):
            subprocess.run(
                ["sbatch", "--quiet", "--output=/dev/null", "--time=1", "--ntasks=1", "--wrap", "sleep 1"],
                env=cluster.environment,
                check=True,
                stdout=subprocess.DEVNULL,
            )
        until(lambda: not cluster("squeue", "--noheader").strip(), 900)
        took = time.perf_counter() - begun
        row("sbatch for each job, once", f"{took:.1f}", f"{took / least:.3f}")


# --- idle -----------------------------------------------------------------------------------------------------------


def idle(repeat: int) -> None:
    print(f"\n### {DRAWN} idle placeholders behind one door (aims: database under 5% of a core, 40 MB each)\n")
    row("", "")
    row("---", "---")
    with throw_away_server() as server, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        opened(server.url).close()
        environment = {**os.environ, "XDG_STATE_HOME": str(folder / "door"), "PYTHONUNBUFFERED": "1"}
        door = subprocess.Popen(
            [*HEADWAY, "serve", "--store", server.url], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        )
        assert door.stdout is not None
        card = door.stdout.readline().strip()
        try:
            with placeholders(DRAWN, folder, "--server", card, "--slots", "1") as all_of_them:
                until(lambda: _present(server) >= DRAWN, 300)
                before, doors = _database_seconds(server), _seconds(door.pid)
                time.sleep(LOOK)
                spent, at_door = _database_seconds(server) - before, _seconds(door.pid) - doors
                sizes = [_proportional(folder / f"state{number}", one.pid) for number, one in enumerate(all_of_them)]
        finally:
            door.terminate()
            door.wait(30)
        row("CPU of the database, % of a core", f"{100 * spent / LOOK:.2f}")
        row("CPU of the door, % of a core", f"{100 * at_door / LOOK:.2f}")
        row("memory of a placeholder with its runner, MB (proportional)", spread([one for one in sizes if one], ".1f"))


def _seconds(pid: int) -> float:
    """CPU seconds of a process."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _database_seconds(server: Server) -> float:
    """CPU seconds of a server's processes, those that have ended included."""
    first = server.pid()
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    fields = Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return _seconds(first) + ended + sum(_seconds(int(child)) for child in children)


def _proportional(state: Path, client: int) -> float:
    """MB of all processes of a placeholder, what they share counted in parts."""
    total = 0.0
    for one in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"XDG_STATE_HOME={state}".encode() in (one / "environ").read_bytes().split(b"\0"):
                lines = (one / "smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
    return total


PARTS = {
    "two": two,
    "ssh": ssh,
    "far": far,
    "first": first,
    "claims": claims,
    "crowd": crowd,
    "slurm": in_slurm,
    "busy": busy,
    "idle": idle,
}


def main() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it is ignored, also by placeholders
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    for part in options.parts:
        PARTS[part](options.repeat)


if __name__ == "__main__":
    main()
