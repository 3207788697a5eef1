"""`mqsub -deps "A B" -l NAME -c COMMAND`: adds one job to the flat script that HEADWAY_SUBMISSIONS names.

Scripts call it a thousand times in a row, so it imports little.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from headway.cli.exits import serve
from headway.formats.mqsub import USAGE, Call, add_call, label_of, parse_call, words_of
from headway.model.errors import HeadwayError, InputError, UsageError

SUBMISSIONS = "HEADWAY_SUBMISSIONS"
_HELP = f"""\
Usage: {USAGE}

Submit a job: add it to the group NAME, and let that group wait for the groups A and B.

  -deps "A B"      groups that must be done before; they were submitted earlier
  -l NAME          the job's group; A/B is group B of supergroup A
  -c COMMAND       the job's command line; without it the group is only declared
  -array FILE      a job for each line of a file; {{}} in COMMAND stands for the line, {{1}} for its first column
  -attr KEY=VALUE  an attribute of the job, such as release=yes or seconds=90
  -prologue        the job runs before everything else in its group
  -epilogue        the job runs after everything else in its group

Submitting to a group again adds a job that runs after its earlier ones. The group's name is printed.
Jobs are added to the script of mqsub lines that the environment variable {SUBMISSIONS} names.
"""


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqsub` command: exits 0 submitted, 1 failed inside, 2 bad usage or bad input."""
    serve("mqsub", _HELP, words, lambda given: print(submitted(given)))


def submitted(words: Sequence[str]) -> str:
    """Submits what the arguments say; the group's name."""
    noting = os.environ.get("HEADWAY_CALLS")
    if noting:  # a script is being read that calls this mqsub by its path
        from headway.live.reading.collect import note

        note(Path(noting), words)
        return label_of(parse_call(words).path)
    call = parse_call(words)
    place = os.environ.get(SUBMISSIONS)
    if not place:
        raise UsageError(
            f"where to submit to is not known: {SUBMISSIONS} is not set.",
            f"Name a file: export {SUBMISSIONS}=workflow.mq. Or give the script to headway show.",
        )
    _append(_own(place), call)
    return label_of(call.path)


def _own(place: str) -> str:
    """The file to submit to; in a folder where others may write it must not be one that somebody else has put there."""
    path = os.path.realpath(place)
    for one in (place, path):
        if os.path.lexists(one) and (user := os.lstat(one).st_uid) != os.geteuid():
            from headway.live.home.ownership import owner

            raise HeadwayError(
                f"{SUBMISSIONS} names {one}, which belongs to {owner(user)}.", f"Let {SUBMISSIONS} name another file."
            )
    return path


def _append(path: str, call: Call) -> None:
    """Adds a call to a script that it fits to; the file is replaced as a whole, under a lock of its folder."""
    from headway.formats.flat import line_of
    from headway.live.reading.read import write_whole

    try:
        folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)  # noqa: PTH120
    except OSError as error:
        raise UsageError(
            f"{SUBMISSIONS} names {path}: {error.strerror}.", "Name a file in a folder that exists."
        ) from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        text = _earlier(path, call)
        try:
            write_whole(path, f"{text}{line_of(words_of(call))}\n")
        except HeadwayError as error:
            raise HeadwayError(error.what, f"Let {SUBMISSIONS} name another file.") from None
    finally:
        os.close(folder)


def _earlier(path: str, call: Call) -> str:
    """The script so far, after a check that the call can follow it."""
    from headway.formats.flat import beside, from_text
    from headway.formats.shellwords import NotPlainError
    from headway.live.reading.files import Files
    from headway.model.flatten import flatten

    text = Files().text(path) if os.path.exists(path) else ""  # noqa: PTH110
    try:
        workflow = from_text(path, text, read=beside(path, Files()))
    except NotPlainError as error:
        raise InputError(
            path, error.line, "this is no line of mqsub.", f"Let {SUBMISSIONS} name another file."
        ) from None
    add_call(workflow, call, read=beside(path, Files()))
    flatten(workflow)  # a group may be submitted to again, so there may be a cycle now
    return text if text.endswith("\n") else f"{text}\n" if text else "#!/bin/sh\n"


if __name__ == "__main__":
    main()
