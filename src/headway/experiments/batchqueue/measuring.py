"""All trials of the evaluation, kept as they are done: what was interrupted goes on, and more starts are only added."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.experiments.batchqueue.dags import configurations
from headway.experiments.batchqueue.keeping import COLUMNS, Kept, Rows
from headway.experiments.batchqueue.plans import HELD_OUT, PAPER, POLICIES, Plan, Variant
from headway.experiments.batchqueue.standins import CLUSTERS, STAND_INS, StandIn
from headway.experiments.batchqueue.standins import HELD_OUT as HELD_OUT_LOGS
from headway.formats.swf import Log, parse
from headway.live.reading.files import Files
from headway.model.record import record
from headway.sim.queue_policies import policy
from headway.sim.submission import Case, mistaken
from headway.sim.trials import Setting, Trial, Trials, moments, on_all_cores

_DIGITS = 4
Dags = tuple[tuple[str, int], ...]


@record
class Cell:
    """One log under one policy: what every method measured."""

    cluster: str
    policy: str
    variant: str
    dags: Dags  # family and configuration
    found: dict[str, NDArray[np.float64]]  # by method: dags × starts × columns

    def of(self, method: str, metric: str, some: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Values by dag and start."""
        values = self.found[method][:, :, COLUMNS.index(metric)]
        return values if some is None else values[some]


def read_log(stand_in: StandIn, folder: Path, jobs: str = "") -> Log | None:
    """The log of a stand-in; None where it is not there."""
    path = folder / f"{stand_in.log}.swf.xz"
    if not path.is_file():
        return None
    return parse(str(path), Files().lines(str(path)), stand_in.processors, jobs or stand_in.jobs, stand_in.log)


def dags_of(plan: Plan, variant: Variant) -> Dags:
    chosen = plan.configurations if variant is PAPER else plan.some
    return tuple((family, number) for family in plan.families for number in chosen)


def case_of(family: str, number: int, speed: float, error: float, seed: int) -> Case:
    """A dag of the paper on a cluster, with the run times that it is expected to have."""
    dag = configurations()[family][number].dag()
    dag = dag.with_seconds([speed * seconds for seconds in dag.seconds])
    return Case(dag, expected=mistaken(dag, error, seed, f"{family}:{number}") if error else None)


def total(plan: Plan, folder: Path) -> int:
    """How many trials there are in all."""
    there = [one.cluster for one in STAND_INS if (folder / f"{one.log}.swf.xz").is_file()]
    paper = len(there) * len(POLICIES) * len(dags_of(plan, PAPER)) * len(PAPER.methods)
    beyond = sum(
        len([one for one in variant.clusters if one in there]) * len(dags_of(plan, variant)) * len(variant.methods)
        for variant in plan.variants
    ) * len(plan.variant_policies)
    held = [one for one in HELD_OUT_LOGS if (folder / f"{one.log}.swf.xz").is_file()] if plan.held_out else []
    out = len(held) * len(POLICIES) * len(dags_of(plan, HELD_OUT)) * len(HELD_OUT.methods)
    return (paper + beyond + out) * plan.starts


def measured(plan: Plan, data: Path, folder: Path, done: Callable[[float], None]) -> Iterator[Cell]:
    """Every cell in turn; `done` is told of trials."""
    for stand_in in (*STAND_INS, *(HELD_OUT_LOGS if plan.held_out else ())):
        logs: dict[str, Log | None] = {}
        replays: dict[tuple[str, str], Served] = {}
        before = ""
        for rules, variant in _order(plan, stand_in.cluster):
            if rules != before:  # no policy is asked for again once the next one's turn has come
                replays.clear()
                before = rules
            jobs = variant.jobs or stand_in.jobs
            if jobs not in logs:
                logs[jobs] = read_log(stand_in, data, jobs)
            log = logs[jobs]
            if log is not None:
                served = replays.setdefault((jobs, rules), Served(log, rules))
                kept = Kept(folder / f"{stand_in.cluster}-{rules}.jsonl")
                yield _cell(plan, stand_in, served, variant, kept, done)


def _order(plan: Plan, cluster: str) -> list[tuple[str, Variant]]:
    if cluster not in CLUSTERS:
        return [(rules, HELD_OUT) for rules in POLICIES]
    found = []
    for rules in POLICIES:
        beyond = plan.variants if rules in plan.variant_policies else ()
        found += [(rules, PAPER), *((rules, variant) for variant in beyond if cluster in variant.clusters)]
    return found


class Served:
    """A log under a policy, replayed once, and only if trials are missing."""

    def __init__(self, log: Log, rules: str) -> None:
        self.log, self.rules = log, rules
        self._trials: Trials | None = None

    def trials(self, plan: Plan) -> Trials:
        if self._trials is None:
            starts = moments(self.log, plan.starts, plan.seed)
            self._trials = Trials(Setting(self.log, policy(self.rules)), starts)
        return self._trials


def _cell(
    plan: Plan, stand_in: StandIn, served: Served, variant: Variant, kept: Kept, done: Callable[[float], None]
) -> Cell:
    dags = dags_of(plan, variant)
    digest = _digest(served.log, served.rules)
    keys = {
        (dag, how): f"{digest}/{_case_digest(*dag, stand_in.speed)}/{dag[0]}:{dag[1]}/{how}/{variant.estimate}"
        f"/{variant.error:g}/{plan.seed}{'/loose' if variant.loose else ''}"
        for dag in dags
        for how in variant.methods
    }
    todo = [
        (dag, how, len(kept.rows.get(key, ()))) for (dag, how), key in keys.items()
        if len(kept.rows.get(key, ())) < plan.starts
    ]  # fmt: skip
    waiting = sum(plan.starts - there for _, _, there in todo)
    done(plan.starts * len(keys) - waiting)
    if todo:
        trials = served.trials(plan)
        wanted = [dag for dag in dags if any(dag == one for one, _, _ in todo)]

        def work(dag: tuple[str, int]) -> list[Rows]:
            """All that is missing of a dag: what is worked out of it once serves all methods and starts."""
            case = case_of(*dag, stand_in.speed, variant.error, plan.seed)
            return [
                [
                    _row(trials.trial(case, how, start, variant.estimate, variant.loose))
                    for start in range(there, plan.starts)
                ]
                for one, how, there in todo
                if one == dag
            ]

        for at, found_rows in on_all_cores(work, wanted):
            missing = [(how, there) for dag, how, there in todo if dag == wanted[at]]
            for (how, there), rows in zip(missing, found_rows, strict=True):
                key = keys[wanted[at], how]
                kept.keep(key, [*kept.rows.get(key, [])[:there], *rows])
                done(plan.starts - there)
    found = {
        how: np.array([kept.rows[keys[dag, how]][: plan.starts] for dag in dags], np.float64) for how in variant.methods
    }
    return Cell(stand_in.cluster, served.rules, variant.name, dags, found)


def _row(trial: Trial) -> list[float]:
    values: list[Any] = [getattr(trial, name) for name in COLUMNS]
    return [round(float(value), _DIGITS) for value in values]


def _digest(log: Log, rules: str) -> str:
    """What is served, and how."""
    known = sha256(log.submit.tobytes() + log.run.tobytes() + log.width.tobytes() + log.request.tobytes())
    known.update(repr((log.processors, policy(rules))).encode())
    return known.hexdigest()[:12]


def _case_digest(family: str, number: int, speed: float) -> str:
    """What is submitted."""
    dag = configurations()[family][number]
    return sha256(repr((dag.edges, dag.runtime, speed)).encode()).hexdigest()[:8]
