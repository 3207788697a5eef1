"""What is simulated: Fig. 9's product, cut down where time is short, and what goes beyond the paper."""

from __future__ import annotations

from headway.experiments.batchqueue.dags import CONFIGURATIONS, FAMILIES
from headway.model.record import record, replace

POLICIES = ("FCFS", "FL", "FS")
METHODS = ("individual", "giant", "hybrid")  # of the paper
OURS = "hybrid+"
SOME = (0, 6, 12, 18, 24)  # configurations, where not all are simulated


@record
class Variant:
    """Something other than the paper's setting: the same on some dags."""

    name: str
    clusters: tuple[str, ...]
    methods: tuple[str, ...]
    estimate: str = "requested"
    error: float = 0.0  # sigma of expected run times
    jobs: str = ""  # other jobs of the logs
    loose: bool = False  # allocations run guests beside their own jobs


PAPER = Variant("paper", (), (*METHODS, OURS))
_ALL = ("Lonestar", "Ada", "LeMieux", "RTC", "Star")
VARIANTS = (
    Variant("requested", _ALL, METHODS),
    Variant("corrected", _ALL, ("hybrid",), "corrected"),
    Variant("history", _ALL, ("hybrid",), "history"),
    Variant("history-median", _ALL, ("hybrid",), "history-median"),
    Variant("error-0.1", ("Ada", "RTC"), METHODS, error=0.1),
    Variant("error-0.3", ("Ada", "RTC"), METHODS, error=0.3),
    Variant("error-1", ("Ada", "RTC"), METHODS, error=1.0),
    Variant("all-jobs", ("Lonestar", "Ada", "LeMieux", "RTC"), METHODS, jobs="all"),
    Variant("loose", _ALL, ("hybrid", OURS), loose=True),
)
# Wrong run times on all clusters; the other variants have them all.
WIDER = tuple(replace(one, clusters=_ALL) if one.error else one for one in VARIANTS)
HELD_OUT = Variant("held-out", (), (*METHODS, OURS))  # on logs that hybrid+ was not tried out on


@record
class Plan:
    """How much to do."""

    name: str
    starts: int
    configurations: tuple[int, ...] = tuple(range(CONFIGURATIONS))
    some: tuple[int, ...] = SOME  # of variants and held-out logs
    families: tuple[str, ...] = FAMILIES
    variants: tuple[Variant, ...] = VARIANTS
    variant_policies: tuple[str, ...] = ("FCFS",)  # under which variants are tried, and others in the queue looked at
    held_out: bool = True
    seed: int = 0


PLANS = {
    "quick": Plan("quick", 3, (4, 12, 20), (12,)),
    "full": Plan("full", 100),
    "beyond": Plan("beyond", 20, SOME, variants=WIDER, variant_policies=POLICIES, held_out=False),
}
