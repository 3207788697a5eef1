"""What `headway config` answers: every setting, its value, and where that is from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway.live.home.settings import KEYS, SITES, settings

DEFAULT = "default"


def answer(variables: Mapping[str, str | None], defaults: Mapping[str, object]) -> dict[str, Any]:
    """`variables`: what the environment says of a key, as NAME=VALUE; `defaults`: what holds without any of it."""
    known = settings()
    found: dict[str, Any] = {}
    for key in KEYS:
        said = variables.get(key)
        if said is not None:
            name, _, value = said.partition("=")
            found[key] = {"value": value, "from": f"environment {name}"}
        elif key in known.values:
            found[key] = {"value": known.values[key].value, "from": known.values[key].place}
        else:
            default = defaults.get(key)
            found[key] = {"value": list(default) if isinstance(default, tuple) else default, "from": DEFAULT}
    for site, table in known.sites.items():
        for key, one in table.items():
            found[f"{SITES}.{site}.{key}"] = {"value": one.value, "from": one.place}
    return {"settings": found}
