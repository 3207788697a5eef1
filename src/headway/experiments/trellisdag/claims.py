"""What section 4.3 claims, and the rules by which it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from headway.experiments.report import Claim
from headway.experiments.trellisdag.checkers import Real
from headway.experiments.trellisdag.ranks import PAPER
from headway.model.record import record, replace
from headway.model.timeline import Curve, peak

MOST_AT_ONCE = 20  # in the paper's minimal schedule
REACHED = 18  # in its runs
WITHIN = 0.017  # of the minimal schedule
SPREAD = (33_067 - 32_891) / 32_987
SMALL = 0.05  # of the time: what "very small" is taken for


@record
class Found:
    """What was measured, in seconds."""

    minimal: float  # the minimal schedule of the sequential run's times
    work: float
    curve: Curve  # of that schedule
    makespans: Sequence[float]
    curves: Sequence[Curve]
    overheads: Sequence[float]  # of each run: the mean time from the end of a job's last parent to its own start
    path: int = 0  # jobs on the longest path

    @property
    def lost(self) -> float:
        """By how much the median run is longer than the minimal schedule."""
        return median(self.makespans) - self.minimal


def claims(it: Found, above: float) -> list[Claim]:
    """All claims on the runs. `above`: the share of the minimal schedule with more than twelve jobs at once."""
    near, alike, many = _of_runs(it, "")
    return [near, alike, *_concurrency(peak(it.curve), above, "", ""), many]


def place_claims(it: Found, on: str) -> list[Claim]:
    """Those that runs with placeholders elsewhere can hold or break."""
    return _of_runs(it, on)


def _of_runs(it: Found, on: str) -> list[Claim]:
    ratios = sorted(one / it.minimal - 1 for one in it.makespans)
    middle, peaks = median(ratios), sorted(map(peak, it.curves))
    apart = max(it.makespans) - min(it.makespans)
    spread = apart / median(it.makespans)
    lost = peak(it.curve) - peaks[len(peaks) // 2]
    found = [
        Claim(
            "near-minimal",
            "the median run takes within 1.7% of the minimal schedule",
            middle,
            middle <= WITHIN,
            ratios[0],
            ratios[-1],
            note=f"{median(it.makespans):.2f} s over {it.minimal:.2f} s; in brackets the least and the most",
            reason="" if middle <= WITHIN else _late(it),
        ),
        Claim(
            "runs-alike",
            f"runs differ by {SPREAD:.1%} from the shortest to the longest",
            spread,
            spread <= SPREAD,
            note="of the median; it holds if they differ by no more",
            reason="" if spread <= SPREAD else f"They differ by {apart:.1f} s. {_in_the_paper(apart)}",
        ),
        Claim(
            "nearly-as-many-at-once",
            f"a run reaches {REACHED} jobs at once, two less than its minimal schedule",
            f"{peaks[len(peaks) // 2]} of {peak(it.curve)}",
            0 <= lost <= MOST_AT_ONCE - REACHED,
            note="it holds if the run of median concurrency reaches at most two less, and no more",
        ),
    ]
    return [replace(one, id=f"{one.id}-{on}", variant_of=one.id) for one in found] if on else found


def _late(it: Found) -> str:
    """Why a run takes longer than its minimal schedule: what goes by between jobs, which a scale does not change."""
    gap = median(it.overheads)
    return (
        f"A job starts {1000 * gap:.0f} ms after the end of its last parent on average, and {it.path} jobs follow one "
        f"another on the longest path: about {gap * it.path:.1f} s. The median run takes {it.lost:.1f} s more than the "
        f"minimal schedule. {_in_the_paper(it.lost)}"
    )


def _in_the_paper(seconds: float) -> str:
    return f"At the paper's scale the same seconds would be {seconds / PAPER:.3%} of the time."


def checkers_claims(runs: Sequence[Real]) -> Claim:
    """The paper's claim on the system's own share, on runs of the real program with one number of slots."""
    over = sorted(one.seconds / one.bound - 1 for one in runs)
    middle, slots = median(over), runs[0].slots
    return Claim(
        f"near-minimal-checkers-{slots}",
        "the median run takes within 1.7% of the minimal schedule",
        middle,
        middle <= WITHIN,
        over[0],
        over[-1],
        note=f"examples/checkers on {slots} slot{'s' * (slots > 1)}; in brackets the least and the most",
        variant_of="near-minimal",
        reason="" if middle <= WITHIN else _above_the_bound(runs),
    )


def _above_the_bound(runs: Sequence[Real]) -> str:
    """Why the real program takes longer than its bound."""
    slots = runs[0].slots
    over = f"{median(one.seconds - one.bound for one in runs):.1f} s for the start of the run and between its jobs"
    if slots == 1:
        return f"It takes {over}."
    path, share = median(one.path for one in runs), median(one.work / slots for one in runs)
    return (
        f"It takes {over}. The longest path takes {path:.1f} s and the work {share:.1f} s of each slot, so a job of "
        "that path may have to wait for a slot: the bound is one that no schedule need reach."
    )


def model_claims(most: int, above: float, share: float) -> list[Claim]:
    """The claims on the minimal schedule if ranks are verified as well."""
    return _concurrency(most, above, f"-verified-{share:g}", f"verifying takes {share:.0%} of computing")


def _concurrency(most: int, above: float, ending: str, note: str) -> list[Claim]:
    reason = "" if ending else "Ranks of one slice alone are at most seven at once; see what verification changes."
    names = "most-at-once", "rarely-above-12"
    return [
        Claim(
            names[0] + ending,
            f"the minimal schedule has at most {MOST_AT_ONCE} jobs at once",
            str(most),
            most == MOST_AT_ONCE,
            note=note or "it holds if it is exactly as many",
            variant_of=names[0] if ending else "",
            reason="" if most == MOST_AT_ONCE else reason,
        ),
        Claim(
            names[1] + ending,
            "the total time above 12 jobs at once is very small, and not nothing",
            f"{above:.1%}",
            0 < above < SMALL,
            note=note or f"it holds if it is under {SMALL:.0%}",
            variant_of=names[1] if ending else "",
            reason="" if 0 < above < SMALL else reason,
        ),
    ]
