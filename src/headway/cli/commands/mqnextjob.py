"""`mqnextjob key=value…`: the id of the next job for the placeholder that calls. It imports little."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from headway.cli.exits import serve
from headway.cli.pairs import pairs
from headway.model.errors import UsageError, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from headway.live.doors.services import Wants
    from headway.live.store.callers import Caller

NOTHING_NOW, ALL_DONE = 10, 11  # exit codes
_HELP = """\
Usage: mqnextjob sched=NAME sched_id=ID submit_host=HOST host=HOST [KEY=VALUE]...

Give the next job to a placeholder, and print the job's id: the lease under which this placeholder has the job.
Take jobs of all workflows that were submitted (headway submit), in the order of their ranks.

  sched=NAME        the queue that the placeholder runs in: slurm, gridengine (sge), htcondor, process or none
  sched_id=ID       what it is called there: $SLURM_JOB_ID, $JOB_ID; for process, the value of HEADWAY_PLACEHOLDER
                    in the environment of what it starts
  submit_host=HOST  where that queue is asked whether the placeholder is there
  host=HOST         where the job will run
  slot=WORD         tells placeholders with the same sched_id and host apart, each of which has one job at a time:
                    $SGE_TASK_ID for those of an array
  cores=N           cores for the job (default: 1)
  memory=SIZE       memory for the job, such as 4G
  time=TIME         how long the placeholder will be there: no job that cannot be expected to end before
  unknown=TIME      with time: how long a job is expected to take of which nothing is known (default: 0)
  site=NAME         the site, for workflows that were submitted to one site only
  home=FOLDER       where the placeholder keeps what its jobs print
  store=PLACE       the store; without it, HEADWAY_STORE, headway.toml, or the nearest .headway here or above

Exits 0 with an id, 10 if there is nothing now (ask again), 11 if there will be nothing more (stop), 1 if the store
cannot be reached, 2 for bad usage, 4 if there is no store.

A placeholder gives no sign of life. When its lease is over (two minutes), its queue is asked; if two looks do not find
it, its job is given back. With sched=none nobody can be asked: mqdonejob id=ID back=REASON gives its job back.
"""
_NEEDED = ("sched", "sched_id", "submit_host", "host")
KEYS = (*_NEEDED, "slot", "cores", "memory", "time", "unknown", "site", "home", "store")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]*")
_ID = re.compile(r"[A-Za-z0-9_.,:+\[\]-]+")
MOST_CORES = 1_000_000


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqnextjob` command: exits 0 given, 10 nothing now, 11 all done, 1 failed inside, 2 bad usage, 4 no store."""
    serve("mqnextjob", _HELP, words, next_job)


def next_job(words: Sequence[str]) -> int:
    """Prints the id of the next job, if there is one."""
    told = pairs("mqnextjob", words, KEYS, _NEEDED)
    caller = _caller(told)
    wants = _wants(told)
    from headway.live.doors.services import Services
    from headway.live.home.store_location import opened_store
    from headway.live.placeholder.limits import patience

    store = opened_store(told.get("store"))
    if store.callers.are_overdue(store.clock()):
        from headway.live.doors.queue_looks import look

        store.callers.enter(
            caller, store.clock(), patience()
        )  # if it is in its queue's list, that list is the right one
        look(store)
    found = Services(store).next_job(caller, wants, patience())
    if found.id is None:
        return ALL_DONE if found.is_over else NOTHING_NOW
    print(found.id)
    return 0


def _caller(told: Mapping[str, str]) -> Caller:
    from headway.live.store.callers import SCHEDS, Caller

    sched = SCHEDS.get(told["sched"].lower())
    if sched is None:
        raise UsageError(
            f"there is no sched {shown(told['sched'])}.",
            "There are slurm, gridengine (sge), htcondor, process and none.",
        )
    for key, pattern in (("sched_id", _ID), ("submit_host", _HOST), ("host", _HOST)):
        if not pattern.fullmatch(told[key]):
            raise UsageError(f"{key}={shown(told[key])} does not fit.", "Expected letters, digits and . - _ only.")
    site = told.get("site", "local")
    return Caller(
        *(sched, told["sched_id"], told["submit_host"], told["host"], told.get("slot", ""), site, told.get("home", ""))
    )


def _wants(told: Mapping[str, str]) -> Wants:
    from headway.live.doors.services import Wants

    cores = told.get("cores", "1")
    if not (cores.isdecimal() and cores.isascii() and len(cores) < 20 and 0 < int(cores) <= MOST_CORES):
        raise UsageError(f"cores={shown(cores)} does not fit.", "Expected a number from 1 on.")
    if not (told.keys() & {"memory", "time", "unknown"}):
        return Wants(int(cores))
    from headway.engine.ready import Within
    from headway.model import quantities

    found: dict[str, float] = {}
    for key, read in (("memory", quantities.size), ("time", quantities.seconds), ("unknown", quantities.seconds)):
        try:
            if key in told:
                found[key] = read(told[key])
        except ValueError as expected:
            raise UsageError(f"{key}={shown(told[key])} does not fit.", f"Expected {expected}.") from None
    within = Within(found["time"], found.get("unknown", 0.0)) if "time" in found else None
    return Wants(int(cores), int(found["memory"]) if "memory" in found else None, within)


if __name__ == "__main__":
    main()
