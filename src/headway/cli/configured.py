"""Commands whose options can be set in headway.toml: an option counts before the environment, that before the file."""

from __future__ import annotations

from typing import Any

import click

from headway.cli.fast_path import VARIABLES, words
from headway.live.home.settings import KEYS, settings

# What an option of headway run is called inside Headway, by its name in the file.
OPTIONS = {
    **{key: key for key in KEYS},
    "order": "order_name",
    "resource": "resources",
    "site": "sites",
    "export": "exports",
}


class Configured(click.Command):
    """A command whose options have defaults in headway.toml."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        known = {parameter.name for parameter in self.params}
        given = {OPTIONS[key]: one.value for key, one in settings().values.items()}
        extra["default_map"] = {name: value for name, value in given.items() if name in known}
        return super().make_context(info_name, args, parent, **extra)


def variable(key: str) -> str | None:
    """The environment variable that counts before the file."""
    return VARIABLES.get(OPTIONS[key])


def option(key: str) -> str:
    """The option of headway run that counts before both."""
    return words(OPTIONS[key])[0]
