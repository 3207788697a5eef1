"""What `headway sites` answers: the sites there are, and whether they can be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headway.model.messages import LOCAL

if TYPE_CHECKING:
    from headway.live.home.folder import Home
    from headway.live.sites.checking import Checked
    from headway.live.sites.site import Site
    from headway.live.store import Store


def answer(
    sites: Iterable[Site], home: Home | None, store: Store | None, checks: Mapping[str, Checked]
) -> dict[str, Any]:
    """As docs/json.md says. `home`: the folder of the store; `checks`: of those sites that were tried."""
    from headway.live.sites.standing import stands

    found = []
    placeholders = {} if store is None else store.watching.placeholders()
    for site in sites:
        check = checks.get(site.name)
        count, problem = (0, "") if home is None or site.name == LOCAL else stands(home, site.name)
        found.append(
            {
                "name": site.name,
                "transport": "ssh" if site.host else "local",
                "host": site.host or None,
                "queue": site.queue or None,
                "slots": (site.cores if site.queue else site.slots) or None,
                "files": "directory" if site.directory else "shared",
                "ok": None if check is None else check.ok,
                "problem": (problem if check is None else check.problem or problem) or None,
                "placeholders": placeholders.get(site.name, 0),
                "standing": count,
                "allocations": len(store.allocations.open(site.name)) if store and site.name != LOCAL else 0,
            }
        )
    return {"sites": found}
