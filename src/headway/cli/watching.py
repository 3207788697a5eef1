"""What the commands that watch and steer share: which store, which workflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from headway.cli.options import WHICH, WHICH_HELP

Command = TypeVar("Command", bound=Callable[..., Any])


def store_options(function: Command) -> Command:
    """`--store PLACE --workflow N|FILE|NAME --json`."""
    function = click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md).")(function)
    function = click.option("--workflow", "wanted", metavar=WHICH, help=WHICH_HELP)(function)
    return click.option(
        "--store",
        "place",
        metavar="FOLDER|URL",
        help="Where the store is; without it $HEADWAY_STORE, or the nearest .headway here or above.",
    )(function)
