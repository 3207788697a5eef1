"""The workflow of opportunistic.txt: pipelines of three programs beside each other (Figs 5 and 6, Table 2)."""

from __future__ import annotations

import re

from headway.experiments import paper_dags
from headway.model.errors import UsageError
from headway.model.record import record
from headway.policies.where.candidates import Needs
from headway.sim.site_work import Workload

WIDTH = 100


@record
class Program:
    """A level: its run time, and what moving all its input files takes (Table 2)."""

    name: str
    seconds: float
    transfer: float


PROGRAMS = (Program("P1", 300.0, 17.0), Program("P2", 120.0, 27.0), Program("P3", 60.0, 13.0))
SEQUENTIAL = WIDTH * sum(program.seconds for program in PROGRAMS)  # 48,000 s
SEQUENTIAL_WITH_TRANSFERS = SEQUENTIAL + WIDTH * sum(program.transfer for program in PROGRAMS)  # 53,700 s
RETRIES = 3


def pipeline(width: int = WIDTH, retries: int = RETRIES) -> Workload:
    """So many pipelines. Table 2 has one transfer time a level; here each input of a job takes an equal part of it."""
    found = paper_dags.pipeline(width)
    dag, files = found.dag(), found.info["files"]
    inputs = [tuple(files[name][0]) for name in dag.names]
    outputs = [tuple(files[name][1]) for name in dag.names]
    return Workload(
        dag,
        list(dag.seconds),
        [Needs()] * len(dag),
        [retries] * len(dag),
        inputs,
        outputs,
        [0] * len(dag),
        {name: found.info["file_bytes"] for names in (*inputs, *outputs) for name in names},
        {node: PROGRAMS[node // width].transfer / len(inputs[node]) for node in range(len(dag))},
    )


def named(name: str, retries: int = RETRIES) -> Workload | None:
    """`pipeline` or `pipeline:WIDTH`; None: another name."""
    found = re.fullmatch(r"pipeline(?::(.*))?", name)
    if found is None:
        return None
    told = found[1]
    if told is None:
        return pipeline(retries=retries)
    if not (told.isascii() and told.isdecimal() and 1 <= len(told) <= 6 and int(told)):
        raise UsageError(f"pipeline:WIDTH needs a whole number from 1 to 999999, not {told!r}.", "Try pipeline:100.")
    return pipeline(int(told), retries)
