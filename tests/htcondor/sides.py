"""One DAG on a real pool and in Headway: how each runs it, and what there is to compare afterwards."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.htcondor.random_dags import Case
from tests.infra.htcondor import Pool

_EXIT = re.compile(r"EXITING WITH STATUS (-?\d+)")
_NODE = re.compile(
    r'Node = "(.*)";?\n\s*NodeStatus = \d+; /\* "STATUS_(\w+)" \*/\n\s*StatusDetails = "(.*)";?\n\s*RetryCount = (\d+)'
)
_PATIENCE = 600  # seconds for a batch of DAGs


@dataclass(slots=True)
class Facts:
    """What came of one run of a DAG."""

    exit_code: int | None = None
    runs: dict[str, list[str]] = field(
        default_factory=dict
    )  # of each job and script: its words, and how each run ended
    states: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)  # NODE_STATUS_FILE of each DAG
    events: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # JOBSTATE_LOG of each DAG, by node
    rescues: dict[str, list[str]] = field(default_factory=dict)  # DONE lines of each rescue file
    disorder: list[str] = field(default_factory=list)  # what ran before it might

    def differences(self, other: Facts) -> list[str]:
        """What is not the same there, a line each; this is DAGMan's side."""
        found = []
        for name in Facts.__slots__:
            mine, its = _flat(getattr(self, name)), _flat(getattr(other, name))
            found += [
                f"{name} {key}: DAGMan {mine.get(key)}, Headway {its.get(key)}"
                for key in sorted(mine.keys() | its.keys())
                if mine.get(key) != its.get(key)
            ]
        return found


def _flat(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        return {"": value}
    return {f"{key} {inner}".strip(): one for key, part in value.items() for inner, one in _flat(part).items()}


def lengths(folder: Path) -> dict[str, int]:
    """How many lines the files have that runs add to."""
    return {path.name: len(_lines(path)) for path in (folder / "trace", *folder.glob("*.jobstate"))}


def gathered(case: Case, folder: Path, before: Mapping[str, int], code: int | None) -> Facts:
    """The facts of a run, by what it has added to what was there before."""
    facts = Facts(code)
    trace = _lines(folder / "trace")[before["trace"] :]
    facts.runs, facts.disorder = _runs(trace), _disorder(case, trace)
    for dag in case.files:
        if dag.endswith(".dag"):
            name = dag.removesuffix(".dag")
            if (folder / f"{name}.status").exists():
                facts.states[name] = {
                    node: (status, _details(details), retries)
                    for node, status, details, retries in _NODE.findall((folder / f"{name}.status").read_text())
                    if _is_compared(case, node)
                }
            log = _lines(folder / f"{name}.jobstate")
            if len(log) > before.get(f"{name}.jobstate", 0):
                events = _events(log)
                facts.events[name] = {node: one for node, one in events.items() if _is_compared(case, node)}
    for rescue in folder.glob("*.rescue*"):
        done = [line.split()[1] for line in _lines(rescue) if line.startswith("DONE ")]
        facts.rescues[rescue.name] = sorted(name for name in done if "_condor_join_node" not in name)
    return facts


def _is_compared(case: Case, node: str) -> bool:
    """Not the nodes that DAGMan makes itself, nor what it removes without waiting for the end."""
    return "_condor_join_node" not in node and node not in case.removed


def _details(text: str) -> str:
    """Without the numbers of jobs; DAGMan repeats the retries for each process that it has removed."""
    text = re.sub(r"\(\d+\.(\d+)\.0\)", r"(N.\1.0)", text)
    return re.sub(r"( \(after \d+ node retries\))+", r"\1", text)


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _runs(trace: Sequence[str]) -> dict[str, list[str]]:
    runs: dict[str, list[str]] = {}
    for line in trace:
        who, word, number, *rest = line.split(" ")
        if word == "start":
            runs.setdefault(who, []).append(f"{number} {' '.join(rest).strip()} ->")
        elif word == "end":
            runs[who][-1] += f" {rest[0]}"
    return runs


def _disorder(case: Case, trace: Sequence[str]) -> list[str]:
    """Nodes that began before one that they depend on had ended, and throttles that did not hold."""
    first, last = dict[str, int](), dict[str, int]()
    for at, line in enumerate(trace):
        node = line.split("/")[1]
        first.setdefault(node, at)
        last[node] = at
    found = [f"{b} before {a}" for a, b in case.arcs if a in last and b in first and first[b] < last[a]]
    for nodes, most in case.throttles:
        busy: set[str] = set()
        for line in trace:
            kind, node, _ = line.split(" ")[0].split("/")
            if kind == "job" and node in nodes:
                busy = busy | {node} if " start " in line else busy - {node}
                if len(busy) > most:
                    found.append(f"more than {most} of {nodes}")
    return sorted(set(found))


def _events(lines: Sequence[str]) -> dict[str, list[str]]:
    """The events of each node, without the numbers that no two systems share; of the last run in the file."""
    begun = [at for at, line in enumerate(lines) if "DAGMAN_STARTED" in line]
    found: dict[str, list[str]] = {}
    for line in lines[begun[-1] if begun else 0 :]:
        words = line.split(" ")
        if words[1] == "INTERNAL":
            said = words[3:5] if words[3] == "DAGMAN_FINISHED" else words[3:4]
            found.setdefault("INTERNAL", []).append(" ".join(said))
        else:
            number = words[3].rpartition(".")[2] if "." in words[3] else words[3]
            found.setdefault(words[1], []).append(f"{words[2]} {number}")
    return {node: _in_any_order(events) for node, events in found.items()}


def _in_any_order(events: list[str]) -> list[str]:
    """Processes of one node run side by side: nothing is said of which comes first."""
    several = {event for event in events if event.split()[-1].isdecimal() and event.split()[-1] != "0"}
    return sorted(events) if any(event.startswith(("SUBMIT", "EXECUTE")) for event in several) else events


# --- DAGMan ----------------------------------------------------------------------------------------------------------


def on_the_pool(pool: Pool, folders: Mapping[int, Path]) -> dict[int, int | None]:
    """Runs `x.dag` of each folder, all at once; what each exited with."""
    ends = {seed: len(_EXIT.findall(_text(folder / "x.dag.dagman.out"))) for seed, folder in folders.items()}

    def submit(folder: Path) -> None:
        # Else HTCondor starts a DAGMan again that has exited with more than 2.
        words = [str(pool.folder / "bin" / "condor_submit_dag"), "-append", "on_exit_remove = true", "x.dag"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, f"{folder}: {done.stdout}{done.stderr}"

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(submit, folders.values()))
    codes: dict[int, int | None] = {}
    deadline = time.monotonic() + _PATIENCE
    while len(codes) < len(folders) and time.monotonic() < deadline:
        time.sleep(0.5)
        for seed in folders.keys() - codes.keys():
            found = _EXIT.findall(_text(folders[seed] / "x.dag.dagman.out"))
            if len(found) > ends[seed]:
                codes[seed] = int(found[-1])
    # A sub-DAG that its DAG has ended runs its final node yet: what it leaves is not known before.
    while any(map(_is_running, folders.values())) and time.monotonic() < deadline:
        time.sleep(0.5)
    return {seed: codes.get(seed) for seed in folders}


def _is_running(folder: Path) -> bool:
    """Whether a DAGMan of this folder, for one of its sub-DAGs perhaps, has begun and not ended."""
    logs = [_text(path) for path in folder.glob("*.dagman.out")]
    return any(log.count("(CONDOR_DAGMAN) STARTING UP") > len(_EXIT.findall(log)) for log in logs)


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""


# --- Headway ---------------------------------------------------------------------------------------------------------


def here(folder: Path, *words: str) -> int:
    """Runs `x.dag` of a folder with Headway; its exit code."""
    command = [sys.executable, "-m", "headway", "run", "x.dag", "--slots", "9", *words]
    with (folder / "headway.out").open("a") as out:
        done = subprocess.run(command, cwd=folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL, check=False)
    return done.returncode
