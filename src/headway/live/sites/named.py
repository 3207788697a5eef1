"""The sites that a user names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from headway.live.sites.site import Site
from headway.model.errors import UsageError


def named_sites(names: Sequence[str]) -> list[Site]:
    import tomllib

    there = tomllib.loads(Path("headway.toml").read_text())["sites"] if Path("headway.toml").exists() else {}
    found = list[Site]()
    for name in names:
        if name == "local":
            found.append(Site(name))
            continue
        if name not in there:
            raise UsageError(f"--site {name}: headway.toml has no such site.")
        one = there[name]
        found.append(
            Site(name, one.get("host", ""), one.get("slots", 0), one.get("directory", ""), one.get("python", ""))
        )
    return found
