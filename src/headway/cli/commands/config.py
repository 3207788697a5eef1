"""`headway config`: the settings that hold, and where each is from."""

from __future__ import annotations

import os

import click

from headway.cli.configured import OPTIONS, option, variable
from headway.cli.display.answer import print_json
from headway.cli.display.table import table
from headway.cli.fast_path import without
from headway.live.answers.config import DEFAULT, answer
from headway.live.home.settings import KEYS, NAME


@click.command("config", short_help="The settings that hold, and where each is from.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON (docs/json.md says what each key means).")
def command(as_json: bool) -> None:
    """Print every setting, its value, and where that is from.

    An option of a command counts before the environment, that before headway.toml in this folder or the nearest
    above, and that before your own ~/.config/headway/headway.toml. docs/hosts.md has an example.
    """
    variables = {key: _said(variable(key)) for key in KEYS}
    found = answer(variables, {key: without(OPTIONS[key]) for key in KEYS})
    if as_json:
        print_json(found)
        return
    rows = [(key, _text(one["value"]), _from(key, one["from"])) for key, one in found["settings"].items()]
    click.echo("\n".join(table(("setting", "value", "from"), rows)))


def _said(name: str | None) -> str | None:
    return f"{name}={os.environ[name]}" if name is not None and os.environ.get(name) else None


def _from(key: str, place: str) -> str:
    """Where it is from; of a default, how it can be set."""
    if place != DEFAULT:
        return place
    name = variable(key)
    return f"default ({option(key)}, {f'{name}, ' if name else ''}{NAME})"


def _text(value: object) -> str:
    if value is None or value == []:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(value) if isinstance(value, list) else str(value)
