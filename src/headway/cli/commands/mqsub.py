"""`mqsub -deps "A B" -l NAME -c COMMAND`: adds one job to a flat script, or to a workflow in a store.

Scripts call it a thousand times in a row, so it imports little.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

from headway.cli.exits import serve
from headway.formats.mqsub import OPTIONS, USAGE, Call, add_call, label_of, parse_call, words_of
from headway.model.errors import HeadwayError, InputError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

SUBMISSIONS = "HEADWAY_SUBMISSIONS"
_HELP = f"""\
Usage: {USAGE}

Submit a job: add it to the group NAME, and let that group wait for the groups A and B.

  -w WORKFLOW      the workflow in the store, by number, file or name, if several could be meant
  -deps "A B"      groups and jobs that must be done before; they were submitted earlier
  -l NAME          the job's group; A/B is group B of supergroup A
  -c COMMAND       the job's command line; without it the group is only declared
  -array FILE      a job for each line of a file; {{}} in COMMAND stands for the line, {{1}} for its first column
  -attr KEY=VALUE  an attribute of the job, such as release=yes or seconds=90
  -prologue        the job runs before everything else in its group
  -epilogue        the job runs after everything else in its group

Submitting to a group again adds a job that runs after its earlier ones. The group's name is printed.
Where to:
- the environment variable {SUBMISSIONS} names a script of mqsub lines: the job is added to that;
- else HEADWAY_STORE or headway.toml names a store: it is added to the workflow there, also while that runs, and a new
  workflow is begun if there is none. In a job it is that job's workflow. Groups have jobs and no groups there, and get
  no further jobs once others were added after them.

Exits 0, 1 if the store cannot be reached, 2 for bad usage, 4 if there is no such group, job or workflow.
"""


def main(words: Sequence[str] | None = None) -> NoReturn:
    """The `mqsub` command: exits 0 submitted, 1 failed inside, 2 bad usage or bad input, 4 no such group, workflow."""
    serve("mqsub", _HELP, words, lambda given: print(submitted(given)))


def submitted(words: Sequence[str]) -> str:
    """Submits what the arguments say; the group's name."""
    noting = os.environ.get("HEADWAY_CALLS")
    if noting:  # a script is being read that calls this mqsub by its path
        from headway.live.reading.collect import note

        note(Path(noting), words)
        return label_of(parse_call(words).path)
    workflow, words = _split(words)
    call = parse_call(words)
    place = os.environ.get(SUBMISSIONS)
    if not place:
        return _into_store(call, workflow)
    if workflow is not None:
        raise UsageError(
            f"-w is for a store, and {SUBMISSIONS} names a script.", f"Leave -w out, or unset {SUBMISSIONS}."
        )
    _append(_own(place), call)
    return label_of(call.path)


def _split(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """The workflow that is named, and the other words."""
    workflow, rest = None, list[str]()
    given = iter(words)
    for word in given:
        if word == "-w":
            workflow = next(given, None)
            if not workflow:
                raise UsageError("-w needs a value.", f"Expected: {USAGE}")
            continue
        rest.append(word)
        if word in OPTIONS and word not in ("-prologue", "-epilogue"):
            rest += [value for value in (next(given, None),) if value is not None]
    return workflow, rest


def _into_store(call: Call, workflow: str | None) -> str:
    """Adds a job to a workflow in the store that is named."""
    from headway.live.home.store_location import given_store

    place = given_store()
    if not place:
        raise UsageError(
            f"where to submit to is not known: neither {SUBMISSIONS} nor HEADWAY_STORE is set.",
            f"Name a file (export {SUBMISSIONS}=workflow.mq), or a store (export HEADWAY_STORE=PLACE, or store in"
            " headway.toml). Or give the script to headway show.",
        )
    from headway.live.client.adding import added

    added(place, call, workflow, os.environ)
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
