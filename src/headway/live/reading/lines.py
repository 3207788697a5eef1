"""A workflow of one command and a list: a job for each line, as GNU parallel and xargs do."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from headway.live.reading import streams
from headway.live.reading.files import Files
from headway.model.array import Line, command_of, lines_of, names_of
from headway.model.errors import InputError, ModelError, UsageError
from headway.model.job import Job, Setting
from headway.model.workflow import Workflow, add_group

FORMAT = "array"


def array(path: str, words: Sequence[str]) -> Workflow:
    """A job for each line of a file, - being standard input, that runs here.

    One word is a line for sh; several are a program and its arguments.
    """
    if not any(word.strip() for word in words):
        raise UsageError("there is no command for the lines.", "Expected: headway run --array FILE -- COMMAND {}")
    command = _command(words)
    name = streams.STDIN if path == "-" else path
    workflow = Workflow(os.path.basename(name), source=name, format=FORMAT)  # noqa: PTH119
    here = Setting(directory=os.getcwd())  # noqa: PTH109
    try:
        lines = lines_of(Files().lines(name))
        for called, line in zip(names_of(lines), lines, strict=True):
            add_group(workflow.groups, called, (), Job(command(line), setting=here))
    except ModelError as error:
        raise InputError(name, 1, error.what, error.fix) from None
    finally:
        streams.forget()
    if not len(workflow.groups):
        raise InputError(name, 1, "there are no lines.", "Each line that is not empty is a job.")
    return workflow


def _command(words: Sequence[str]) -> Callable[[Line], str]:
    try:
        return command_of(words[0] if len(words) == 1 else words)
    except ModelError as error:
        raise UsageError(f"--array: {error.what}", error.fix) from None
