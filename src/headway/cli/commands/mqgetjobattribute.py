"""`mqgetjobattribute id=ID attribute=NAME`: what is known of a job, and of its last attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.cli.display.terminal import write_content
from headway.cli.exits import serve
from headway.cli.pairs import pairs
from headway.model.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_HELP = """\
Usage: mqgetjobattribute id=ID attribute=NAME [store=PLACE]
       mqgetjobattribute job=JOB attribute=NAME [workflow=W] [store=PLACE]

Print an attribute of a job: of the one that mqnextjob gave this id, or of any by its name. An attribute that the job
does not have is printed as an empty line.

How it runs: command, dir, environment (NAME=VALUE, quoted for sh, a line each), stdin, stdout, stderr, cores, memory,
  time (its limit), workflow, attempt, and script: all of it as a script for sh
What is said of it: name, state, seconds (expected), retries, release, affinity, env.NAME, resource.NAME, and your own
The history profile, of its last attempt that has ended: start, end, host, site, exit_code, max_rss (bytes),
  cpu_seconds, status
stop: why the job is to end, if somebody has stopped it

  id=ID         as mqnextjob has printed it
  job=JOB       a job by its name; in the workflow that runs now, or ran last
  workflow=W    another one, by number, file or name
  store=PLACE   the store; without it, HEADWAY_STORE, headway.toml, or the nearest .headway here or above

Exits 0, 1 if the store cannot be reached, 2 for bad usage, 4 if the id is not good (any more), or there is no such job,
attribute or store.
"""
KEYS = ("id", "attribute", "job", "workflow", "store")


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqgetjobattribute` command: exits 0 printed, 1 failed inside, 2 bad usage, 4 no such job or attribute."""
    serve("mqgetjobattribute", _HELP, words, show)


def show(words: Sequence[str]) -> None:
    """Prints the value."""
    told = pairs("mqgetjobattribute", words, KEYS, ("attribute",))
    if ("id" in told) == ("job" in told) or ("workflow" in told and "job" not in told):
        raise UsageError("which job is not said.", "Give either id=ID, or job=JOB and perhaps workflow=W.")
    name = told["attribute"]
    value = _of_lease(told["id"], name, told.get("store")) if "id" in told else _of_job(told["job"], name, told)
    write_content(f"{value.removesuffix(chr(10))}\n".encode("utf-8", "surrogateescape"))


def _of_lease(id: str, name: str, place: str | None) -> str:
    from headway.live.doors.job_attributes import JobAttributes
    from headway.live.doors.services import Services
    from headway.live.home.store_location import opened_store

    store = opened_store(place)
    given, lease = Services(store).running(id)
    value = JobAttributes(store, given.workflow, given.job, given, lease).value(name)
    if name in ("script", "command"):
        store.callers.begin(lease.id, store.clock())
    return value


def _of_job(job: str, name: str, told: Mapping[str, str]) -> str:
    from headway.live.answers.which import chosen
    from headway.live.doors.job_attributes import JobAttributes
    from headway.live.home.store_location import found_store
    from headway.model.errors import NotFoundError, shown

    home, store = found_store(told.get("store"), to_look=True)
    workflow = chosen(store, told.get("workflow"), home)
    place = store.places.place(workflow.id, job)
    if place is None:
        raise NotFoundError(f"there is no job {shown(job)}.", "headway status lists them.")
    return JobAttributes(store, workflow.id, place).value(name)


if __name__ == "__main__":
    main()
