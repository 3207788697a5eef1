"""What several commands share: the workflow argument, and how JSON is printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

SCHEMA = 1  # of every --json answer; see docs/json.md

Command = TypeVar("Command", bound=Callable[..., Any])


def workflow_arguments(function: Command) -> Command:
    """`W [ARGUMENTS]... [--format NAME]`."""
    function = click.argument("arguments", nargs=-1, type=click.UNPROCESSED)(function)
    function = click.argument("workflow", metavar="W", type=click.Path())(function)
    return click.option("--format", "format_name", metavar="NAME", help="W's format, if it cannot be found out.")(
        function
    )


def print_json(answer: Mapping[str, object]) -> None:
    """One JSON value on stdout, and nothing else there."""
    click.echo(json.dumps({"schema": SCHEMA, **answer}))
