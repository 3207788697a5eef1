"""The sites that headway.toml names."""

from __future__ import annotations

from collections.abc import Sequence

from headway.live.home.settings import NAME, settings
from headway.live.sites.site import Site
from headway.model.errors import UsageError, unquoted
from headway.model.messages import LOCAL, NODES
from headway.model.quantities import seconds

MANY = 1 << 30  # hosts: only the queue knows how many it grants


def all_sites() -> list[Site]:
    """This computer, and all others that the user has."""
    return [Site(LOCAL), *(_site(name) for name in settings().sites)]


def named_sites(names: Sequence[str]) -> list[Site]:
    """The sites that a user means, each once."""
    return [_site(name) for name in dict.fromkeys(names)]


def most_nodes(names: Sequence[str]) -> dict[str, int]:
    """The hosts that a job may have at once at these sites, as a named resource; nothing where that is one."""
    from headway.live.sites.queues import queue

    sites = named_sites(names)
    return {NODES: MANY} if any(site.queue and queue(site.queue).launcher for site in sites) else {}


def check_sites(names: Sequence[str]) -> None:
    """Refuses names of sites that headway.toml does not have."""
    named_sites(names)


def _site(name: str) -> Site:
    if name == LOCAL:
        return Site(LOCAL)
    known = settings().sites
    if name not in known:
        there = ", ".join([LOCAL, *known])
        way = f"Known are {there}." if known else f"Write it into {NAME}: [sites.{unquoted(name)}] (docs/hosts.md)."
        raise UsageError(f"there is no site {unquoted(name)}.", way)
    given = {key: one.value for key, one in known[name].items()}
    given.pop("shared", None)
    for key in ("stage", "ssh_options", "options"):
        given[key] = tuple(given.get(key, ()))
    for key in ("time", "job_time", "idle", "look"):
        if key in given:
            given[key] = seconds(given[key])
    return Site(name, **given)
