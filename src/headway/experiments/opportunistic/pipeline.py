"""The workflow of opportunistic.txt: pipelines of three programs beside each other (Figs 5 and 6, Table 2)."""

from __future__ import annotations

import re

from headway.model.dag import Dag
from headway.model.errors import UsageError
from headway.model.record import record
from headway.policies.where.candidates import Needs
from headway.sim.site_work import Workload

WIDTH = 100
MEGABYTE = 2**20  # every file


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


def pipeline(width: int = WIDTH) -> Workload:
    """So many pipelines. P1 reads D1 and its own of D2; P2 the output of P1, D1 and its own of D4; P3 that of P2.

    Table 2 has one transfer time a level. Here each input of a job takes an equal part of it.
    """
    names = [f"{program.name}_{at}" for program in PROGRAMS for at in range(width)]
    dag = Dag(
        names,
        range(2 * width),
        range(width, 3 * width),
        [program.seconds for program in PROGRAMS for _ in range(width)],
    )
    inputs: list[tuple[str, ...]] = [("D1", f"D2_{at}") for at in range(width)]
    inputs += [(f"D3_{at}", "D1", f"D4_{at}") for at in range(width)]
    inputs += [(f"D5_{at}",) for at in range(width)]
    outputs = [(f"{name}_{at}",) for name in ("D3", "D5", "D6") for at in range(width)]
    return Workload(
        dag,
        list(dag.seconds),
        [Needs()] * len(dag),
        [RETRIES] * len(dag),
        inputs,
        outputs,
        [0] * len(dag),
        {name: MEGABYTE for names in (*inputs, *outputs) for name in names},
        {node: PROGRAMS[node // width].transfer / len(inputs[node]) for node in range(len(dag))},
    )


def named(name: str) -> Workload | None:
    """`pipeline` or `pipeline:WIDTH`; None: another name."""
    found = re.fullmatch(r"pipeline(?::(.*))?", name)
    if found is None:
        return None
    told = found[1]
    if told is None:
        return pipeline()
    if not (told.isascii() and told.isdecimal() and 1 <= len(told) <= 6 and int(told)):
        raise UsageError(f"pipeline:WIDTH needs a whole number from 1 to 999999, not {told!r}.", "Try pipeline:100.")
    return pipeline(int(told))
