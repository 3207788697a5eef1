"""A workflow is handed in: placeholders that serve its store run it, and nobody waits for it here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headway.live.home.folder import Home
from headway.live.runs.selection import Choice
from headway.live.runs.session import Session, Wish
from headway.live.store import Store
from headway.model.messages import WorkflowId
from headway.model.record import record
from headway.model.workflow import Workflow

EVERYWHERE = ("",)  # every site that serves the store


@record
class HandedIn:
    """What is in the store now."""

    workflow: WorkflowId
    jobs: int  # in all
    done: int  # that were done before
    warnings: Sequence[str]


def handed_in(
    home: Home,
    store: Store,
    workflow: Workflow,
    arguments: Sequence[str],
    wish: Wish,
    choose: Callable[[Workflow], Choice],
    sites: Sequence[str] = EVERYWHERE,
) -> HandedIn:
    """Submits a workflow, and lets placeholders have its jobs, those at the given sites or all."""
    session = Session(home, store, None, workflow, arguments, wish, choose, lambda text: None)
    from headway.live.sites.named import all_sites

    known = [site for site in all_sites() if sites == EVERYWHERE or site.name in sites]
    if any(site.directory for site in known):
        session.declare(known, warn=sites != EVERYWHERE)
    session.expect([site.name for site in known])
    store.submissions.want(session.number, sites)
    return HandedIn(session.number, session.total, session.before.done, session.warnings)
