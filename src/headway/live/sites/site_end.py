"""The store's end of the port of a runner at a site, where folders are not the same as here."""

from __future__ import annotations

from collections.abc import Callable

from headway.live.doors.messages import Hello, Question, Reply, Setting, Welcome
from headway.live.doors.store_end import StoreEnd
from headway.live.sites.site import Site
from headway.model.messages import WorkflowId
from headway.model.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store import Store


class SiteEnd(StoreEnd):
    """`prepare` makes a folder at the site."""

    def __init__(self, store: Store, site: Site, home: str, prepare: Callable[[str], None]) -> None:
        super().__init__(store, site.name, home)
        self._site, self._prepare = site, prepare

    def hello(self, hello: Hello) -> Welcome:
        welcome = super().hello(hello)
        if not self._site.directory:
            return welcome
        left = [replace(one, directory=self._place(one.lease.workflow)) if one.lease else one for one in welcome.left]
        return replace(welcome, left=left)

    def exchange(self, asked: Question) -> Reply:
        reply = super().exchange(asked)
        if not self._site.directory or not reply.settings:
            return reply
        settings = {number: Setting(self._place(number), one.exported) for number, one in reply.settings.items()}
        return replace(reply, settings=settings)

    def _place(self, workflow: WorkflowId) -> str:
        """Where the jobs of a workflow run at the site: a folder of its own, which is there when they begin."""
        place = f"{self._site.directory}/{self._store.id}-{workflow}"
        self._prepare(place)
        return place
