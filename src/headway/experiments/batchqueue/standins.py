"""Which public log stands for which cluster of the paper, and why.

The paper's logs are not public. Each stand-in is the log that comes nearest in size, load and in how much more jobs ask
for than they use, as Fig. 11 has them. Fig. 13 implies that run times were scaled by cluster; `speed` is that factor.
"""

from __future__ import annotations

from headway.model.record import record


@record
class Row:
    """A line of Fig. 11."""

    processors: int
    jobs_per_day: float
    width: float
    run_hours: float
    request_hours: float  # CPU hours
    load: float
    request_load: float


@record
class StandIn:
    """A cluster of the paper, and the log that is replayed for it."""

    cluster: str
    paper: Row | None
    log: str  # its file without .swf.xz
    processors: int | None  # where the file does not tell
    jobs: str
    speed: float
    reason: str


STAND_INS = (
    StandIn(
        "Lonestar", Row(5000, 932, 26.18, 3.03, 274, 0.81, 2.13), "RICC-2010-2", 8192, "finished", 1.0,
        "the only large machine among the logs with requested times; width, run time and request are near (16, 3.3 h,"
        " 275 CPU h). It is busier: three times as many jobs a day, and twice the request load",
    ),
    StandIn(
        "Ada", Row(520, 1342, 3.57, 3.57, 25, 0.81, 2.76), "CTC-SP2-1996-3.1-cln", None, "finished", 1.43,
        "the same order of size (338), run time (3.1 h) and load, all jobs counted. Its jobs are fewer and wider (228 a"
        " day, 11 processors)",
    ),
    StandIn(
        "LeMieux", Row(2048, 251, 43.80, 3.30, 329, 0.91, 1.68), "SDSC-BLUE-2000-4.2-cln", None, "finished", 1.93,
        "jobs a day (239), width (41) and request load (1.66) are the paper's. Its load is lower (0.77)",
    ),
    StandIn(
        "RTC", Row(270, 108, 2.43, 13.69, 112, 0.57, 1.87), "HPC2N-2002-2.2-cln", None, "finished", 1.99,
        "size (240), load (0.60) and request load (1.53) are near. The widest dags (256) do not fit and are capped at"
        " 240",
    ),
    StandIn(
        "Star", Row(1200, 108, 13.16, 16.93, 1050, 0.83, 3.94), "Sandia-Ross-2001-1.1-cln", None, "all", 1.0,
        "long jobs (12 h) that ask for far more than they use, on 1,524 processors. It is less busy (0.53), and only a"
        " fifth of its jobs are marked as finished, which would leave the machine idle: all are replayed",
    ),
)  # fmt: skip
# Logs that stand for no cluster, and that no method was ever tried out on before it was finished.
HELD_OUT = tuple(
    StandIn(name.split("-1")[0].split("-2")[0], None, name, None, "finished", 1.0, "")
    for name in ("KTH-SP2-1996-2.1-cln", "SDSC-SP2-1998-4.2-cln", "SDSC-DS-2004-2.1-cln")
)
CLUSTERS = tuple(one.cluster for one in STAND_INS)
