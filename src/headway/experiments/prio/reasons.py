"""Why a claim does not hold here: what was measured about it, and what is only argued."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from headway.experiments.prio.claims import ABOUT, OFTEN, SOME, best_ratio
from headway.experiments.prio.dags import READINGS
from headway.experiments.prio.measuring import Files, Surface, Version, execution_time
from headway.experiments.prio.settings import BATCHES, INTERVALS, SHUFFLES, TIDY, Case
from headway.experiments.prio.verdicts import pooled
from headway.experiments.report import Claim
from headway.model.dag import Dag
from headway.model.record import replace
from headway.policies.what_next import order
from headway.policies.what_next.eligible import schedule

UNKNOWN = "Why is not known."


def given(claims: Sequence[Claim], found: Mapping[Version, Files]) -> list[Claim]:
    """The claims, those that do not hold with a reason; a variant has that of its claim where neither holds."""
    evidence = _Evidence(claims, found)
    own = {claim.id: evidence.reason(claim) for claim in claims if claim.holds is False}
    return [replace(claim, reason=own.get(claim.variant_of) or own.get(claim.id, "")) for claim in claims]


class _Evidence:
    """Looks up what was measured."""

    def __init__(self, claims: Sequence[Claim], found: Mapping[Version, Files]) -> None:
        self._claims = {claim.id: claim for claim in claims}
        self._found = found

    def reason(self, claim: Claim) -> str:
        base = claim.variant_of or claim.id
        kind, _, name = base.rpartition("-")
        ways: dict[str, Callable[[Claim, str], str]] = {
            "airsn-median": self._stated,
            "airsn-gain": self._stated,
            "frequent": self._frequent,
            "about-1-at-10^-2": self._rate,
            "about-1-at-2^0": self._rate,
            "gains": self._little,
            "best-batch": self._little,
            "eligible": self._behind,
        }
        way = ways.get(base) or ways.get(kind)
        if way is None:
            return self._weakest() if base == "weakest" else UNKNOWN
        return way(claim, name)

    def _surface(self, claim: Claim, name: str) -> Surface:
        """What a claim was judged by."""
        ending = claim.id.removeprefix(f"{claim.variant_of}-") if claim.variant_of else ""
        if ending == "as-generated":
            return self._found[name, ""][TIDY].surface
        reading = ending.replace("-", " ")
        return pooled([file.surface for at, file in self._found[name, reading].items() if at != TIDY])

    def _stated(self, claim: Claim, name: str) -> str:
        values = [file.stated for at, file in self._found["airsn", ""].items() if at != TIDY]
        medians = sorted(value["ratios"]["execution_time"]["median"] for value in values if value)
        if claim.variant_of:
            return (
                "In our generator's file the handle comes first, and FIFO has it done early; in shuffled files the"
                f" median is {medians[0]:.3f} to {medians[-1]:.3f}."
            )
        return (
            f"The order of the file decides: by file the median goes from {medians[0]:.3f} to {medians[-1]:.3f}, we"
            " think because FIFO meets the jobs of the handle sooner or later. The paper's file is not known, nor is"
            " the handle's inside, which moves the ratio by as much (see *What the paper leaves open*)."
        )

    def _frequent(self, claim: Claim, name: str) -> str:
        told = []
        for reading in READINGS.get(name, {}):
            other = self._claims.get(f"frequent-{name}-{reading.replace(' ', '-')}")
            if other is not None:
                told.append(
                    f"with the reading *{reading}* it {'holds' if other.holds else 'does not hold'} ({other.told()})"
                )
        why = "It depends on how the dag is read"
        return f"{why}: {'; '.join(told)}. Which dag the paper had is not known." if told else f"{why} (see --full)."

    def _rate(self, claim: Claim, name: str) -> str:
        surface = self._surface(claim, name)
        ten = claim.id.startswith("about-1-at-10^-2")
        settings = [(OFTEN, batch) for batch in BATCHES] if ten else [(at, BATCHES[0]) for at in INTERVALS]
        at, batch = max(settings, key=lambda setting: abs(execution_time(surface[setting])[0] - 1))
        ratio = execution_time(surface[at, batch])[0]
        step = min(len(BATCHES) - 1, round(math.log2(batch / at)))
        same = execution_time(surface[1.0, BATCHES[step]])[0]
        said = (
            f"At ({at:g}, 2^{BATCHES.index(batch)}), where it is {ratio:.3f}, {batch / at:g} workers come in the time"
            f" of one job. About as many come at (1, 2^{step}), where the ratio is {same:.3f}: neither setting is one"
            " worker at a time, nor workers for all jobs at once, which are the paper's arguments for 1."
        )
        return said + (f" {self._paths(name)}" if ratio > 1 + ABOUT else "")

    def _little(self, claim: Claim, name: str) -> str:
        surface = self._surface(claim, name)
        best = best_ratio(surface)
        if name == "inspiral":
            return self._paths(name)
        if claim.variant_of.startswith("best-batch") or claim.id.startswith("best-batch"):
            least = [min(execution_time(surface[at, batch])[0] for batch in BATCHES) for at in INTERVALS if at >= 0.1]
            if max(least) >= SOME or "no advantage" in str(claim.here):
                why = "The gain is too small for a best batch size"
                return f"{why}: by μ_BIT it is {_list(least)}. {self._ahead(claim, name)}"
            return f"The gain hardly depends on the batch size: by μ_BIT it is at best {_list(least)}."
        return f"The gain is at most {1 - best:.3f}. {self._ahead(claim, name)}"

    def _ahead(self, claim: Claim, name: str) -> str:
        """How much PRIO has to gain by: the eligible jobs it has more."""
        ending = claim.id.removeprefix(f"{claim.variant_of}-") if claim.variant_of else ""
        files = self._found[name, "" if ending == "as-generated" else ending.replace("-", " ")]
        chosen = [file for at, file in files.items() if (at == TIDY) is (ending == "as-generated")]
        more = sum(float((file.more > 0).mean()) for file in chosen) / len(chosen)
        less = sum(float((file.more < 0).mean()) for file in chosen) / len(chosen)
        return (
            f"PRIO has more eligible jobs than FIFO at {more:.0%} of steps, fewer at {less:.0%}, and as many at the"
            " others (Fig. 4). Our dag is a guess; the paper's may leave PRIO more to gain."
        )

    def _behind(self, claim: Claim, name: str) -> str:
        if name == "inspiral":
            return self._paths(name)
        others = [
            f"{reading} {other.told()}"
            for reading in READINGS.get(name, {})
            if (other := self._claims.get(f"eligible-{name}-{reading.replace(' ', '-')}"))
        ]
        said = bands(Case(name, SHUFFLES[0]).dag) if name == "montage" else UNKNOWN
        return said + f" By the other readings: {', '.join(others)}." * bool(others)

    def _weakest(self) -> str:
        return f"Inspiral shows no gain here. {self._paths('inspiral')}"

    def _paths(self, name: str) -> str:
        """How long the longest path is that is left when half of the jobs are done."""
        dag = Case(name, SHUFFLES[0]).dag
        left = {one: longest_left(dag, one) for one in ("prio", "fifo")}
        return (
            "PRIO leaves long paths for the end: when half of the jobs are done, the longest path left has"
            f" {left['prio']} jobs of {len(dag.levels)} under PRIO and {left['fifo']} under FIFO (shuffle 1), though"
            " more jobs are eligible on average. That this is the cause is argued, not measured. Our dag is a guess;"
            " the paper's may have no such paths."
        )


def longest_left(dag: Dag, name: str) -> int:
    """Jobs on the longest path that is left when half of the jobs are done, one by one in an order."""
    length = [0] * len(dag)
    for node in reversed(dag.order):
        length[node] = 1 + max((length[child] for child in dag.children_of(node)), default=0)
    done = schedule(dag, order(name)(dag))
    return max(length[node] for node in done[len(done) // 2 :])


def bands(dag: Dag) -> str:
    """How far PRIO and FIFO are with the projections of Montage's bands when the first difference is computed."""
    told = []
    for name in ("prio", "fifo"):
        jobs = [dag.names[node] for node in schedule(dag, order(name)(dag))]
        first = next(at for at, job in enumerate(jobs) if "_mDiff_" in job)
        told.append(sum("_mProject_" in job for job in jobs[:first]))
    total = sum("_mProject_" in job for job in dag.names)
    return (
        f"Of {total} projections PRIO has run {told[0]} when it runs the first difference, and FIFO {told[1]} (shuffle"
        " 1): PRIO takes one band after the other, so that it has differences of one where FIFO has those of all."
    )


def _list(ratios: Sequence[float]) -> str:
    return ", ".join(f"{1 - ratio:.3f}" for ratio in ratios)
