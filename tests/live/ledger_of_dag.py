"""The same as ledger.py for a DAG with all that DAGMan has: what must hold of it after every kill."""

from __future__ import annotations

from pathlib import Path

from headway.model.states import State, Step
from tests.live.ledger import SLOTS, Site

_SCRIPT = "#!/bin/sh\nexec sh {folder}/job.sh $1 $HEADWAY_ATTEMPT {folder}\n"
_DAG = """\
SUBMIT-DESCRIPTION one {{
    shell = {job} $(JOB) $HEADWAY_ATTEMPT {folder}; $(do)
    queue
}}
SUBMIT-DESCRIPTION three {{
    shell = {job} $(JOB)/$(Process) $HEADWAY_ATTEMPT {folder}
    queue 3
}}
"""
_OUTER = """\
SERVICE S one
VARS S do="while :; do sleep 0.05; echo tick S $HEADWAY_ATTEMPT $$ >> {folder}/ledger; done"
JOB A three
SCRIPT PRE A {folder}/script A.pre
SCRIPT POST A {folder}/script A.post
SUBDAG EXTERNAL D inner.dag
SCRIPT PRE D {folder}/script D.pre
JOB R one
VARS R do="test $(RETRY) = 1"
RETRY R 1
JOB N one NOOP
SCRIPT POST N {folder}/script N.post
FINAL F one
PARENT A CHILD D R
PARENT D R CHILD N
"""
_INNER = "JOB I three\nSUBDAG EXTERNAL J innermost.dag\nPARENT I CHILD J\n"
_INNERMOST = "JOB K one\nSCRIPT POST K {folder}/script K.post\nJOB L three\nPARENT K CHILD L\n"
_PARENTS = {
    **{f"A/{part}": ("A.pre",) for part in range(3)},
    "A.post": ("A/0", "A/1", "A/2"),
    "D.pre": ("A.post",),
    "R": ("A.post",),
    "K": ("I/0", "I/1", "I/2"),
    **{f"I/{part}": ("D.pre",) for part in range(3)},
    "K.post": ("K",),
    **{f"L/{part}": ("K.post",) for part in range(3)},
    "N.post": ("L/0", "L/1", "L/2", "R"),
    "F": ("N.post",),
}
_ONCE_MORE = {"R"}  # fails the first time, as it should


class DagSite(Site):
    """The same for a DAG with scripts, nodes of several processes, a service, a retry and sub-DAGs, nested twice."""

    def __init__(self, folder: Path, pause: float = 0.02, server: str | None = None) -> None:
        super().__init__(folder, 0, 0, pause, server)
        self.workflow.unlink()
        self.workflow = folder / "w.dag"
        head = _DAG.format(job=f"sh {folder}/job.sh", folder=folder)
        for name, text in (("w", _OUTER), ("inner", _INNER), ("innermost", _INNERMOST)):
            (folder / f"{name}.dag").write_text(head + text.format(folder=folder))
        script = folder / "script"
        script.write_text(_SCRIPT.format(folder=folder))
        script.chmod(0o755)
        self.jobs = len({"A.pre", *_PARENTS}) + len(_ONCE_MORE)

    def done(self) -> tuple[set[tuple[str, str]], list[str]]:
        """What is recorded as done, by name in the ledger and attempt; and what of the states is wrong."""
        found, wrong = set[tuple[str, str]](), list[str]()
        store = self.store()
        for workflow in store.watching.workflows():
            ends = {Step.PRE: ".pre", Step.POST: ".post", Step.MAIN: ""}
            for run in store.history.attempts(workflow.id):
                if run.exit_code == 0:
                    found.add((run.name + ends[run.step], str(run.number)))
            wrong += [
                f"{job.name}: {job.state.name}"
                for job in store.progress.jobs(workflow.id)
                if job.state is not State.DONE
            ]
            wrong += [f"miscounted: {job}" for job in store.steering.miscounted(workflow.id)]
        store.close()
        return {(name, number) for name, number in found if name in _PARENTS or name == "A.pre"}, wrong

    def violations(self) -> list[str]:
        """What must not be, after the last run."""
        self.settled()
        done, wrong = self.done()
        last: dict[str, str] = {}
        ends: set[tuple[str, str]] = set()
        over: set[str] = set()
        for line in self.ledger.read_text().splitlines():
            word, name, attempt, _ = line.split()
            if word == "begin":
                wrong += [f"{name} ran again after {n} was done" for n in (last.get(name),) if (name, n) in done]
                wrong += [f"{name} began before {parent}" for parent in _PARENTS.get(name, ()) if parent not in over]
                last[name] = attempt
            elif last[name] != attempt:
                wrong.append(f"{name}: attempt {attempt} ran beside {last[name]}")
            if word == "end":
                ends.add((name, attempt))
                over.add(name)
        wrong += [f"{name} is recorded done, and attempt {number} did not end" for name, number in done - ends]
        wrong += [f"{name} never ran" for name in {"A.pre", "S", *_PARENTS} - set(last)]
        if self.reruns() > SLOTS * self.keeper_kills:
            wrong.append(f"{self.reruns()} runs again for {self.kills} kills, {self.keeper_kills} of them of keepers")
        return wrong

    def reruns(self) -> int:
        """Without the service, which runs in every run."""
        lines = self.ledger.read_text().splitlines()
        return sum(line.startswith("begin ") and line.split()[1] != "S" for line in lines) - self.jobs
