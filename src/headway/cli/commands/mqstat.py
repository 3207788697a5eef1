"""`mqstat`: TrellisDAG's list of running jobs: id, command, host, start, status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from headway.cli.exits import serve
from headway.cli.store import looked_at
from headway.model.errors import UsageError

_HELP = """\
Usage: mqstat [STORE]

List the jobs that run now: id (the lease), job, command line, host, since when, and what the job says (mqstatus).
The store is STORE (a folder or a URL), HEADWAY_STORE, or the nearest .headway here or above.
"""


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqstat` command: exits 0 listed, 1 failed inside, 2 bad usage, 4 no store."""
    serve("mqstat", _HELP, words, show)


def show(words: Sequence[str]) -> None:
    """Prints the table."""
    if len(words) > 1:
        raise UsageError("one store, or none.", "Usage: mqstat [STORE]")
    for line in listed(words[0] if words else None):
        print(line)


def listed(place: str | None) -> list[str]:
    """The table, with its heads."""
    from headway.cli.display.table import table
    from headway.cli.display.units import moment
    from headway.live.answers.status import not_begun
    from headway.live.home.store_location import home_of

    home, store = looked_at(place)
    given = store.watching.running()
    ahead = not_begun(store, given, lambda workflow: home_of(home, place, store, workflow))
    rows = [
        [str(job.lease), job.name, job.command, job.host, moment(job.started), job.status]
        for job in given
        if job.lease not in ahead
    ]
    return table([">ID", "Job", "Command", "Host", "Started", "Status"], rows)


if __name__ == "__main__":
    main()
