"""For which load dynamics each claim holds, and for which it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from headway.experiments.opportunistic.claims import judged
from headway.experiments.opportunistic.measuring import OPPORTUNISTIC, PAPERS, jobs, run, told
from headway.experiments.opportunistic.osg import PATIENCE, world
from headway.experiments.opportunistic.pipeline import pipeline
from headway.experiments.report import Report
from headway.model.quantities import duration
from headway.model.record import record, replace
from headway.sim.sites import Load, Strategy, World

PROMPT = Strategy("prompt", PATIENCE)
WITHOUT = Strategy("opportunistic")
IN_TURN = Strategy("round-robin", PATIENCE)
CLAIMS = (
    *("better-time", "higher-speedup", "speedup", "best", "first-hundred", "minima"),
    *("median-differs", "mean-differs", "maximum-differs"),
)
_WORD = {True: "yes", False: "no", None: "open"}


@record
class Setting:
    """A world that differs from the calibrated one in one thing, or in two."""

    name: str
    world: World


def settings() -> list[Setting]:
    """Load dynamics first, then what else was assumed."""
    base = world()
    found = [Setting("as calibrated", base)]
    for full, spell in ((0.04, 10800.0), (0.08, 5400.0), (0.12, 3600.0)):
        load = replace(base.places[0].load, full=full, spell=spell)
        found.append(
            Setting(f"fits the baselines as well: {full:g} of the time, {duration(spell)}", _loaded(base, load))
        )
    for full in (0.02, 0.06, 0.12, 0.25, 0.5):
        for spell in (600.0, 1800.0, 7200.0, 28800.0):
            load = replace(base.places[0].load, full=full, spell=spell)
            found.append(Setting(f"full {full:g} of the time, for {duration(spell)}", _loaded(base, load)))
    calm = replace(base.places[0].load, full=0.0, spell=3600.0)
    found.append(Setting("never full", _loaded(base, calm)))
    for high in (0.0, 0.5, 0.75, 1.0):  # 0 fits a little better, and was left out of the calibration
        load = replace(base.places[0].load, high=high)
        found.append(Setting(f"others take up to {high:.0%} of an open site", _loaded(base, load)))
    found.append(Setting("half of the sites never full, the others twice as often", _uneven(base)))
    for latency in (0.0, 120.0, 300.0):
        places = tuple(replace(place, latency=latency) for place in base.places)
        found.append(Setting(f"latency {duration(latency)}", replace(base, places=places)))
    for planning in (0.0, 5.0):
        found.append(Setting(f"planning {duration(planning)}", replace(base, planning=planning)))
    found.append(Setting("run times exact", replace(base, spread=0.0)))
    found.append(Setting("run times vary by half", replace(base, spread=0.5)))
    return found


def _loaded(base: World, load: Load) -> World:
    return replace(base, places=tuple(replace(place, load=load) for place in base.places))


def _uneven(base: World) -> World:
    """Every other site is never full."""
    load = base.places[0].load
    loads = replace(load, full=0.0), replace(load, full=2 * load.full)
    return replace(base, places=tuple(replace(place, load=loads[at % 2]) for at, place in enumerate(base.places)))


def add(report: Report, sets: int, done: Callable[[float], None]) -> None:
    """A row for each world: the two gains, which claims hold, and what patience and our own rule do there."""
    report.say(
        "## For which load dynamics it holds",
        f"Each row is the calibrated world with one thing changed; {20 * sets:,} runs of each strategy. *gain* is"
        " better-time and *speed-up over the best other* is one more than higher-speedup. The next columns say whether"
        " each claim holds by the rules above. The last three are ratios of mean times: opportunistic over round-robin,"
        " both without patience (the choice alone) and both with it, and prompt over opportunistic, both with"
        " patience.",
    )
    head = ["world", "gain", "speed-up", "speed-up over the best other", *CLAIMS[3:]]
    head += ["choice alone", "choice with patience", "prompt"]
    rows, data = [], {}
    for setting in settings():
        strategies = (*PAPERS, WITHOUT, IN_TURN, PROMPT)
        group = run(pipeline(), setting.world, strategies, sets, with_ends=True, done=done)
        found = {claim.id: claim for claim in judged(group)}
        alone = group.over(WITHOUT, Strategy("round-robin"))
        patient = group.over(OPPORTUNISTIC, IN_TURN)
        ours = group.over(PROMPT, OPPORTUNISTIC)
        gain, higher, speedup = (found[name] for name in CLAIMS[:3])
        nearest = group.over(group.extremes("mean", PAPERS[:-1])[1], OPPORTUNISTIC)
        rows.append(
            [
                setting.name,
                f"{gain.here:.0%} {_WORD[gain.holds]}",
                f"{speedup.here:.1f} {_WORD[speedup.holds]}",
                f"{nearest[0]:.2f} {_WORD[higher.holds]}",
                *(_WORD[found[name].holds] for name in CLAIMS[3:]),
                *(told(ratio) for ratio in (alone, patient, ours)),
            ]
        )
        data[setting.name] = {
            "claims": {name: [claim.here, claim.low, claim.high, claim.holds] for name, claim in found.items()},
            "choice_alone": list(alone),
            "choice_with_patience": list(patient),
            "prompt": list(ours),
        }
    report.table(head, rows)
    report.data["sensitivity"] = data
    report.say(_summary(data))


def _summary(data: Mapping[str, Any]) -> str:
    """In how many worlds each claim holds."""
    parts = []
    for name in CLAIMS:
        held = sum(found["claims"][name][3] is True for found in data.values())
        parts.append(f"{name} in {held}")
    return f"Of {len(data)} worlds, the claim holds: {', '.join(parts)}."


def all_jobs(sets: int) -> float:
    """How many jobs this simulates."""
    return len(settings()) * jobs(pipeline(), (*PAPERS, WITHOUT, IN_TURN, PROMPT), sets)
