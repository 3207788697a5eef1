"""The store's end for the placeholder of one allocation."""

from __future__ import annotations

from headway.live.doors.store_end import StoreEnd
from headway.model.messages import WorkflowId
from headway.model.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.sites.queue_site import QueueSite


class AllocationEnd(StoreEnd):
    """What its placeholder has done is counted, and its site hears of attempts that failed."""

    def __init__(self, site: QueueSite, allocation: int) -> None:
        super().__init__(site.store, site.site.name)
        self.allocation = allocation
        self._site, self._counts = site, site.done

    def wanted(self) -> list[WorkflowId]:
        return self._site.wanted()

    def hello(self, hello: Any) -> Any:
        welcome = super().hello(hello)
        self._site.failures.heard(hello.ends)
        return welcome

    def exchange(self, asked: Any) -> Any:
        if asked.workflows:  # nothing is begun of what is not wanted any more, though the placeholder knows of it
            wanted = set(self.wanted())
            asked = replace(asked, workflows=[workflow for workflow in asked.workflows if workflow in wanted])
        reply = super().exchange(asked)
        self._site.failures.heard(asked.ends)
        for workflow, count in reply.answer.done.items():
            self._counts[workflow] = self._counts.get(workflow, 0) + count
        return reply
