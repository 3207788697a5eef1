"""Files between here and a site that does not share ours.

A lease is passed on once the files that its job needs are there; an end is recorded once the files that it left are
here. Until then the first is kept in memory (its job has not begun), the second in a file beside the store: the runner
there has forgotten it by then.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from headway.live.home.ownership import own_file
from headway.live.sites.copying import Copying
from headway.live.sites.site import Site
from headway.live.store.files import Declared
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, Lease, LeaseId, WorkflowId
from headway.model.record import fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.sites.frames import Control
    from headway.live.store import Store

JOURNAL = "ended"  # in the folder of the site


class Staging:
    """What is on its way. `stir` wakes the runner there; `place` says where a workflow's files are at the site."""

    def __init__(
        self,
        store: Store,
        site: Site,
        home: Path,
        place: Callable[[WorkflowId], str],
        say: Callable[[Control], None],
        stir: Callable[[WorkflowId], None],
    ) -> None:
        self._store, self._site, self._place, self._stir = store, site, place, stir
        self._journal = home / JOURNAL
        self.copying = Copying(say)
        self.waiting: dict[LeaseId, Lease] = {}  # their files are on their way there
        self._ready: list[Lease] = []
        self._failed: list[tuple[LeaseId, str]] = []
        self.fetching: dict[LeaseId, Finish] = {}  # their files are on their way here
        self._fetched: list[Finish] = []
        self._troubles: dict[LeaseId, str] = {}  # why their files could not be copied, which is tried again
        self._past = ""  # the same of a lease that went back for it, until something else is copied
        self._staged: set[WorkflowId] = set()  # what all their jobs need is there
        self._is_asked = False  # what is ready now is heard of at once

    # --- before a job begins -----------------------------------------------------------------------------------------

    def hold_back(self, leases: Iterable[Lease]) -> None:
        """Passes leases on when all that their jobs need is there."""
        self._is_asked = True
        for lease in leases:
            declared = self._store.files.of(lease.workflow, lease.job)
            self.waiting[lease.id] = lease
            self._send(lease, declared)
        self._is_asked = False

    def _send(self, lease: Lease, declared: Declared) -> None:
        here, there = self._store.leases.directory(lease.workflow), self._place(lease.workflow)
        wanted = [*declared.inputs]
        if lease.workflow not in self._staged:
            wanted += [name.rstrip("/") for name in self._site.stage]
        folders = [f"{there}/{os.path.dirname(name)}" for name in declared.outputs]  # noqa: PTH120 - text
        pairs = [(f"{here}/{name}", f"{there}/{name}") for name in wanted]

        def done(error: HeadwayError | None) -> None:
            if lease.id not in self.waiting:
                return
            if error is not None:
                self._troubles[lease.id], why = str(error), error.what
                self.copying.later(lambda: self._give_back(lease, why))
                return
            del self.waiting[lease.id]
            self._staged.add(lease.workflow)
            self._ready.append(lease)
            self._settle(lease.id)
            if not self._is_asked:
                self._stir(lease.workflow)

        self.copying.there(pairs, [there, *folders], done)

    def _give_back(self, lease: Lease, why: str) -> None:
        """Some time after its files could not be sent: at once, it would come here again and again."""
        if self.waiting.pop(lease.id, None) is not None:
            self._past = self._troubles.pop(lease.id, "")
            self._failed.append((lease.id, why))
            self._stir(lease.workflow)

    @property
    def trouble(self) -> str:
        """Why files cannot be copied: there may be some that can, meanwhile."""
        return next(iter(self._troubles.values()), self._past)

    def _settle(self, lease: LeaseId) -> None:
        """The files of a lease were copied."""
        self._troubles.pop(lease, None)
        self._past = ""

    def ready(self) -> list[Lease]:
        """Leases whose files are there since this was last asked."""
        ready, self._ready = self._ready, []
        return ready

    def drop(self, leases: Collection[LeaseId]) -> None:
        """These are not wanted any more: they go back as they came."""
        for lease in leases:
            if self.waiting.pop(lease, None) is not None:
                self._troubles.pop(lease, None)
                self._failed.append((lease, "called off"))
        gone = {one.id for one in self._ready if one.id in leases}
        self._ready = [one for one in self._ready if one.id not in gone]
        self._failed += [(lease, "called off") for lease in gone]

    # --- after a job -------------------------------------------------------------------------------------------------

    def keep(self, ends: Iterable[Finish], clock: Callable[[Finish], Finish]) -> list[Finish]:
        """The ends that can be recorded at once. Others are kept until the files are here that their jobs have left."""
        at_once, news = list[Finish](), dict[LeaseId, tuple[Finish, WorkflowId, Declared]]()
        for end in ends:
            found = self._store.files.of_lease(end.lease) if end.exit_code == 0 else None
            if found is None or not found[1].outputs or end.lease in self.fetching:
                if end.lease not in self.fetching:
                    at_once.append(end)
                continue
            news[end.lease] = clock(end), *found
        if news:
            self.fetching.update({lease: end for lease, (end, _, _) in news.items()})
            self._write()  # before the runner hears that it may forget them
            for lease, (_, workflow, declared) in news.items():
                self._fetch(lease, workflow, declared)
        return at_once

    def resume(self) -> Sequence[LeaseId]:
        """Goes on with what the last channel has left; the leases."""
        for end in _read(self._journal):
            found = self._store.files.of_lease(end.lease)
            if found is not None:
                self.fetching[end.lease] = end
        return list(self.fetching)

    def fetch_all(self) -> None:
        """Begins to copy what `resume` has found."""
        for lease in list(self.fetching):
            found = self._store.files.of_lease(lease)
            if found is not None:
                self._fetch(lease, *found)

    def _fetch(self, lease: LeaseId, workflow: WorkflowId, declared: Declared) -> None:
        here, there = self._store.leases.directory(workflow), self._place(workflow)

        def done(error: HeadwayError | None) -> None:
            if error is not None:
                self._troubles[lease] = str(error)
                self.copying.later(lambda: self._fetch(lease, workflow, declared))
            else:
                self._settle(lease)
                self._fetched.append(self.fetching[lease])
            self._stir(workflow)

        self.copying.here([(f"{there}/{name}", f"{here}/{name}") for name in declared.outputs], done)

    def fetched(self) -> list[Finish]:
        """Ends whose files are here: to be recorded, and then `recorded` forgets them."""
        return list(self._fetched)

    def recorded(self, ends: Iterable[Finish]) -> None:
        for end in ends:
            self._fetched.remove(end)
            del self.fetching[end.lease]
        self._write()

    def failed(self) -> list[tuple[LeaseId, str]]:
        """Leases whose files could not be copied, and why."""
        failed, self._failed = self._failed, []
        return failed

    @property
    def held(self) -> list[LeaseId]:
        """Leases that the runner there does not know, and that are not lost all the same."""
        return [*self.waiting, *(lease.id for lease in self._ready), *self.fetching]

    @property
    def cores(self) -> int:
        """That jobs will take whose files are on their way."""
        return sum(lease.cores for lease in (*self.waiting.values(), *self._ready))

    def _write(self) -> None:
        """The file of ends, made again: they are few."""
        aside = self._journal.with_name(f".{JOURNAL}")
        lines = [json.dumps({name: getattr(end, name) for name in fields(end)}) for end in self.fetching.values()]
        handle = own_file(aside, os.O_WRONLY | os.O_CREAT)
        with os.fdopen(handle, "w") as file:
            file.truncate()
            file.write("".join(f"{line}\n" for line in lines))
        aside.replace(self._journal)


def _read(journal: Path) -> list[Finish]:
    """What is in the file; a line that makes no sense is passed over, and its job runs again."""
    found = list[Finish]()
    if not journal.exists():
        return found
    with os.fdopen(own_file(journal, os.O_RDONLY), errors="replace") as file:
        for line in file:
            try:
                said: Mapping[str, object] = json.loads(line)
                found.append(Finish(**said))  # type: ignore[arg-type]
            except (ValueError, TypeError):
                continue
    return found
