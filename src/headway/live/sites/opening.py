"""The sites of a run: a channel to each is found or started, and all of them are watched as one runner."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from headway.live.client.lines import Lines
from headway.live.client.messages import Use
from headway.live.client.starter import Starter
from headway.live.client.watch import watched
from headway.live.home.folder import Home
from headway.live.sites.site import Site
from headway.live.store import SITES
from headway.model.errors import HeadwayError
from headway.model.messages import LOCAL


class SiteStarter(Starter):
    """Sees to it that there is a channel to a site."""

    def __init__(self, home: Home, place: str | Path, sync: str, site: Site) -> None:
        self._place, self._site = place, site
        super().__init__(home, sync)

    def _become(self, told: int) -> int:
        if self._site.queue:
            from headway.live.sites.queue_site import become_queue_site

            return become_queue_site(self._home, self._place, self._sync, self._site, told)
        from headway.live.sites.channel import become_channel

        return become_channel(self._home, self._place, self._sync, self._site, told)


def site_home(home: Home, name: str) -> Home:
    """The folder of the channel to a site, beside the store."""
    return Home(home.folder / SITES / name)


def prepare(home: Home) -> None:
    """From now on several placeholders may use the store. A runner that does not know this must end first."""
    folder = home.folder / SITES
    if folder.is_dir():
        from headway.live.sites.origin import become_own

        become_own(home)
        return
    line = home.connect()
    if line is not None:
        line.close()
        raise HeadwayError(
            f"a run in {home.folder} goes on that uses this computer alone.",
            "Wait for its end (headway attach), or stop it (headway cancel); then run again with --site.",
        )
    folder.mkdir(0o700)


class Opening:
    """Starts what is not there yet, for all sites at once; `lines` waits for them. Made before a store is opened."""

    def __init__(self, home: Home, server: str | None, sync: str, sites: Sequence[Site]) -> None:
        prepare(home)
        place = home.database if server is None else server
        self._sites = sites
        self._starters: dict[str, tuple[Home, Starter]] = {}
        for site in sites:
            if site.name == LOCAL:
                self._starters[site.name] = home, Starter(home, sync, server)
                continue
            own = site_home(home, site.name)
            self._starters[site.name] = own, SiteStarter(own, place, sync, site)

    def lines(self) -> Lines:
        found = {name: watched(home, starter) for name, (home, starter) in self._starters.items()}
        for site in self._sites:
            if site.name != LOCAL:
                found[site.name].say(Use(site.said()))
        return Lines(found)


def slots_of(sites: Sequence[Site]) -> int:
    """How many slots there are in all, as far as that is known beforehand."""
    here = len(os.sched_getaffinity(0))
    return sum(
        site.allocations * site.cores if site.queue else site.slots or (here if site.name == LOCAL else 1)
        for site in sites
    )
