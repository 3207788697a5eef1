"""`mqstat`: TrellisDAG's list of running jobs: id, command, host, start, status."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import NoReturn

from headway.model.errors import HeadwayError

_HELP = """\
Usage: mqstat [STORE]

List the jobs that run now: id (the lease), job, command line, host, since when, and what the job says (mqstatus).
The store is STORE (a folder or a URL), HEADWAY_STORE, or the nearest .headway here or above.
"""


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqstat` command: exits 0 listed, 1 failed inside, 2 bad usage, 4 no store."""
    from headway.cli.terminal import prepare

    given = sys.argv[1:] if words is None else list(words)
    prepare()
    if given in (["-h"], ["-help"], ["--help"]):
        sys.stdout.write(_HELP)
        sys.exit(0)
    try:
        if len(given) > 1:
            raise HeadwayError("one store, or none.", "Usage: mqstat [STORE]")
        for line in listed(given[0] if given else None):
            print(line)
        sys.stdout.flush()
    except HeadwayError as error:
        print(f"mqstat: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except (OSError, KeyboardInterrupt) as error:
        print(f"mqstat: {getattr(error, 'strerror', None) or 'interrupted'}.", file=sys.stderr)
        sys.exit(1)
    sys.exit(0)


def listed(place: str | None) -> list[str]:
    """The table, with its heads."""
    from headway.cli.tables import table
    from headway.live.where import found_store

    _, store = found_store(place)
    rows = [
        [str(job.lease), job.name, job.command, job.host, _clock(job.started), job.status] for job in store.running()
    ]
    return table(["ID", "Job", "Command", "Host", "Started", "Status"], rows, frozenset([0]))


def _clock(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


if __name__ == "__main__":
    main()
