"""The store's end of the port of a runner at a site, where folders are not the same as here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headway.engine.ready import Room
from headway.live.doors.messages import Hello, News, Question, Reply, Setting, Welcome
from headway.live.doors.store_end import StoreEnd
from headway.live.sites.frames import Folder
from headway.live.sites.site import Site
from headway.model.messages import Finish, LeaseId, WorkflowId
from headway.model.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.sites.frames import Control, Ready
    from headway.live.sites.staging import Staging
    from headway.live.store import Store


class SiteEnd(StoreEnd):
    """`home`: the folder of the channel here; `say` speaks to the far end, `push` to the runner there."""

    def __init__(
        self,
        store: Store,
        site: Site,
        ready: Ready,
        home: Path,
        say: Callable[[Control], None],
        push: Callable[[News], None],
    ) -> None:
        super().__init__(store, site.name, ready.home)
        self._directory, self._say = ready.directory, say
        self.staging: Staging | None = None
        self._done: dict[WorkflowId, int] = {}  # jobs that were recorded and that nobody was told of yet
        if self._directory:
            from headway.live.sites.staging import Staging

            def stir(workflow: WorkflowId) -> None:
                push(News({workflow: False}))

            self.staging = Staging(store, site, home, self._place, say, stir)

    def hello(self, hello: Hello) -> Welcome:
        staging = self.staging
        if staging is None:
            return super().hello(hello)
        kept = staging.resume()
        at_once = staging.keep(hello.ends, lambda end: self._by_our_clock([end], hello.clock)[0])
        if hello.placeholder is not None:
            hello = replace(hello, ends=at_once, holds=[*hello.holds, *staging.fetching])
        else:
            hello = replace(hello, ends=at_once)
        welcome = super().hello(hello)
        if kept:
            self._leases.adopt(self.placeholder, list(kept))
        staging.fetch_all()
        lost = [lease for lease in welcome.lost if lease not in staging.fetching]
        left = [
            replace(one, directory=self._place(one.lease.workflow)) if one.lease else one
            for one in welcome.left
            if one.id not in staging.fetching
        ]
        return replace(welcome, left=left, lost=lost)

    def exchange(self, asked: Question) -> Reply:
        reply = super().exchange(asked) if self.staging is None else self._staged(asked, self.staging)
        if not self._directory or not reply.settings:
            return reply
        settings = {number: Setting(self._place(number), one.exported) for number, one in reply.settings.items()}
        return replace(reply, settings=settings)

    def _staged(self, asked: Question, staging: Staging) -> Reply:
        """An exchange in which leases wait for files that go there, and ends for files that come home."""
        self._record(staging)
        ends = staging.keep(asked.ends, lambda end: self._by_our_clock([end], asked.clock)[0])
        held = staging.held
        asked = replace(
            asked,
            ends=ends,
            room=replace(asked.room, free=max(0, asked.room.free - staging.cores)),
            holds=None if asked.holds is None else [*asked.holds, *held],
        )
        reply = super().exchange(asked)
        answer = reply.answer
        staging.drop([lease for lease in (*answer.stops, *answer.lost) if lease in held])
        staging.hold_back(answer.leases)
        done = {**answer.done}
        for workflow, count in self._done.items():
            done[workflow] = done.get(workflow, 0) + count
        self._done = {}
        found = replace(
            answer,
            leases=staging.ready(),
            stops=tuple(one for one in answer.stops if one not in held),
            lost=tuple(one for one in answer.lost if one not in held),
            done=done,
        )
        return replace(reply, answer=found)

    def _record(self, staging: Staging) -> None:
        """Records ends whose files are here by now, and gives back leases whose files could not be sent."""
        fetched, now = staging.fetched(), self.now()
        back = [Finish(LeaseId(lease), None, ended=now, reason=why) for lease, why in staging.failed()]
        if not fetched and not back:
            return
        answer = self._leases.exchange(self.placeholder, [*fetched, *back], Room(0, 0), (), now)
        for workflow, count in answer.done.items():
            self._done[workflow] = self._done.get(workflow, 0) + count
        staging.recorded(fetched)

    def leave(self) -> None:
        if self.staging is not None and self.staging.fetching:
            return  # its leases stay until the files are here, which the next channel goes on with
        super().leave()

    def _place(self, workflow: WorkflowId) -> str:
        """Where the jobs of a workflow run at the site: a folder of its own, which is there when they begin."""
        place = f"{self._directory}/{self._store.id}-{workflow}"
        self._say(Folder(place))
        return place
