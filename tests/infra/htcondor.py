"""A real HTCondor pool for tests. Where it cannot start, tests fail: lines that no DAGMan has read prove nothing."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.infra.root import needs_root

HERE = Path(__file__).parent
SUBMIT = (
    "executable = /bin/true\ntransfer_executable = false\nshould_transfer_files = no\n"
    "log = jobs.log\njob_ad_information_attrs = JobPrio, DAGNodeName\nqueue\n"
)
_STARTED = re.compile(r"^028 .*?^\.\.\.$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool that runs, as the folder that has its commands and its users' work."""

    folder: Path

    def workplace(self, name: str) -> Path:
        """A folder for a DAG, with a submit file whose jobs tell in jobs.log what HTCondor knows of them."""
        place = self.folder / "work" / name
        place.mkdir()
        (place / "a.sub").write_text(SUBMIT)
        return place

    def run(self, dag: Path, *options: str) -> list[tuple[str, int]]:
        """Runs a DAG to its end: the nodes in the order their jobs began, and the priority each job had."""
        self._call(dag, "condor_submit_dag", *options, dag.name)
        self._call(dag, "condor_wait", "-wait", "300", f"{dag.name}.dagman.log")
        log = dag.with_name(f"{dag.name}.dagman.out").read_text()
        assert "EXITING WITH STATUS 0" in log, log[-3000:]
        return list(_begun(dag.with_name("jobs.log").read_text()))

    def dry_run(self, dag: Path) -> list[str]:
        """The nodes in the order in which DAGMan would submit them, one at a time."""
        log = dag.with_name(f"{dag.name}.dry")
        words = (
            f"-p 0 -f -l . -Lockfile {dag.name}.lock -AutoRescue 0 -DoRescueFrom 0 -MaxJobs 1 -Dag {dag.name} -DryRun"
        )
        self._call(dag, "pool-exec", "env", f"_CONDOR_DAGMAN_LOG={log.name}", "condor_dagman", *words.split())
        return re.findall(r"Processing job: (\S+)", log.read_text())

    def _call(self, dag: Path, program: str, *words: str) -> None:
        done = subprocess.run(
            [self.folder / "bin" / program, *words],
            cwd=dag.parent,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=400,
            check=False,
        )
        assert done.returncode == 0, f"{program} failed: {done.stdout}{done.stderr}"


def cache() -> str:
    """Where the programs of all pools are: condor-up's own choice, for those who see another home."""
    return f"{os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache'}/headway-tests/htcondor"


def _begun(log: str) -> Iterator[tuple[str, int]]:
    for event in _STARTED.findall(log):
        if 'TriggerEventTypeName = "ULOG_EXECUTE"' in event:
            node, priority = (
                re.search(r'^DAGNodeName = "(.*)"$', event, re.M),
                re.search(r"^JobPrio = (.*)$", event, re.M),
            )
            assert node is not None and priority is not None, event
            yield node[1], int(priority[1])


@contextlib.contextmanager
def pool(cpus: int = 8, *settings: str) -> Iterator[Pool]:
    """A throw-away pool. Its programs are fetched and built once, into the user's cache; that takes a minute or two."""
    needs_root("a pool has namespaces of its own, and its jobs run as their owner.")
    folder = Path(tempfile.mkdtemp(prefix="condor-"))
    try:
        words = [
            str(HERE / "condor-up"),
            str(folder),
            "-c",
            str(cpus),
            *(word for one in settings for word in ("-x", one)),
        ]
        up = subprocess.run(words, capture_output=True, text=True, check=False)
        assert up.returncode == 0, f"HTCondor does not start: {up.stdout}{up.stderr}"
        yield Pool(folder)
    finally:
        subprocess.run([HERE / "condor-down", folder, "--purge"], capture_output=True, check=False)
