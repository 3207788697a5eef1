"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

WHICH = "N|FILE|NAME"
WHICH_HELP = "Which workflow; without it, the one that runs now, else the one run last (headway runs lists them)."


def workflow_arguments(function: Command) -> Command:
    """`W [ARGUMENTS]... [--format NAME]`."""
    function = click.argument("arguments", nargs=-1, type=click.UNPROCESSED)(function)
    function = click.argument("workflow", metavar="W", type=click.Path(readable=False))(function)
    return click.option(
        "--format",
        "format_name",
        metavar="NAME",
        shell_complete=_formats,
        help="W's format, if it cannot be found out; headway formats lists them.",
    )(function)


def order_option(name: str, **settings: Any) -> Callable[[Command], Command]:
    """An option that takes the name of an order, Headway's own or an installed package's."""
    settings.setdefault("metavar", "NAME")
    return click.option(name, f"{name.strip('-')}_name", shell_complete=_orders, callback=_checked, **settings)


def _orders(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from headway.policies.what_next import names

    return [name for name in names() if name.startswith(incomplete)]


def _checked(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """An unknown name is told before anything is read or started."""
    from headway.policies.what_next import ORDERS, order

    for name in value if isinstance(value, tuple) else (value,):
        if name is not None and name not in ORDERS:
            order(name)
    return value


def _formats(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from headway.formats.registry import FORMATS

    return [format.name for format in FORMATS.values() if format.reads and format.name.startswith(incomplete)]


def store_option(function: Command) -> Command:
    """`--store PLACE`."""
    help = "Where the store is; without it, $HEADWAY_STORE, or .headway in this folder or the nearest above."
    return click.option("--store", metavar="FOLDER|URL", help=help)(function)


def run_options(function: Command) -> Command:
    """`[--store PLACE] [--workflow N|FILE|NAME]`."""
    return store_option(click.option("--workflow", metavar=WHICH, help=WHICH_HELP)(function))


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
