"""A process of its own that starts the channel to a site: who has a SQLite store open must not fork for that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from headway.live.client.line import Line
from headway.live.client.watch import watched
from headway.live.home.folder import Home
from headway.model.errors import HeadwayError


def start(home: Home, place: str, site: str) -> None:
    """Sees to it that there is a channel to a site. `home`: the folder of the store, `place`: its file or server."""
    words = [sys.executable, "-P", "-m", "headway.live.sites.start", str(home.folder), place, site]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise HeadwayError(f"the channel to site {site} cannot be started: {lines[-1] if lines else 'no message'}")


def main(folder: str, place: str, name: str) -> int:
    from headway.live.sites.named import named_sites
    from headway.live.sites.opening import SiteStarter, site_home

    try:
        (site,) = named_sites([name])
        own = site_home(Home(Path(folder)), name)
        line: Line = watched(own, SiteStarter(own, place, "normal", site))
        line.close()
    except HeadwayError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
