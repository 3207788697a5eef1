"""The store's end of a runner's port: requests in, responses out. It has the clock that counts."""

from __future__ import annotations

from collections.abc import Sequence

from headway.engine.ready import Room
from headway.live.clock import Clock
from headway.live.doors.messages import VERSION, Hello, Left, Question, Reply, Setting, Welcome, Word
from headway.model.errors import HeadwayError, NotFoundError
from headway.model.messages import LOCAL, Finish, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.store import Store

LATELY = 0.5  # seconds for which it is known well enough which workflows want a site
_NOTHING: dict[WorkflowId, Setting] = {}


class StoreEnd:
    """One runner, as its store sees it."""

    def __init__(self, store: Store, site: str = LOCAL, home: str = "") -> None:
        self._store, self._leases = store, store.leases
        self._site_name, self._home = site, home
        self._clock = Clock()
        self._is_shared = store.is_shared
        self._wanted: list[WorkflowId] | None = None  # what one that serves was told last
        self._wanted_since = 0.0
        self.placeholder = PlaceholderId(0)

    def hello(self, hello: Hello) -> Welcome:
        """Takes a runner in. Its ends are recorded first, and leases that it never heard of are given back."""
        if hello.version != VERSION:
            raise HeadwayError(
                f"the runner on {hello.host} speaks version {hello.version} of the exchange, this Headway {VERSION}.",
                "Use the same version of Headway on both.",
            )
        store, now = self._store, self.now()
        store.news.listen()
        ends = self._by_our_clock(hello.ends, hello.clock)
        if hello.placeholder is not None:
            self.placeholder = hello.placeholder
            answer = self._leases.exchange(self.placeholder, ends, Room(0, 0), (), now, (), hello.holds)
            return Welcome(store.id, store.is_shared, self.placeholder, lost=answer.lost)
        self.placeholder = store.placeholders.enter(
            *(hello.host, hello.pid, now, hello.patience, self._site_name, self._home or hello.home)
        )
        if ends:
            self._leases.exchange(self.placeholder, ends, Room(0, 0), (), now)
        if store.is_shared:  # others hold leases of their own
            leases = [lease for one in hello.before for lease in self._leases.held(one)]
        else:
            leases = self._leases.open_leases()
        return Welcome(store.id, store.is_shared, self.placeholder, self._left(leases))

    def _left(self, leases: Sequence[LeaseId]) -> list[Left]:
        if not leases:
            return []
        good = {lease.id: lease for lease in self._leases.good(leases)}
        found = list[Left]()
        for number in leases:
            lease, lost = good.get(number), self._leases.lost(number)
            spec, directory, given = ("", "", 0.0) if lost is None else lost
            if lease is not None:
                directory = self._leases.directory(lease.workflow)
            found.append(Left(number, lease, directory, spec, given))
        return found

    def exchange(self, asked: Question) -> Reply:
        """One exchange, and what goes with it."""
        settings = _NOTHING
        wound_up: dict[WorkflowId, Sequence[LeaseId] | None] | None = None
        unknown: list[WorkflowId] = []
        heard: list[bool] = []
        workflows, ends = asked.workflows, asked.ends
        wanted: Sequence[WorkflowId] | None = None
        if asked.news:
            settings = {}
            for workflow in asked.news:
                try:
                    settings[workflow] = Setting(*self._leases.setting(workflow))
                except NotFoundError:
                    unknown.append(workflow)
            workflows = [workflow for workflow in workflows if workflow not in unknown]
        if asked.serves:
            wanted = self._all_wanted()
            new = [workflow for workflow in wanted if workflow not in workflows]
            settings = {**settings, **{workflow: Setting(*self._leases.setting(workflow)) for workflow in new}}
            workflows = [*workflows, *new]
        if asked.adopts:
            self._leases.adopt(self.placeholder, list(asked.adopts))
        if asked.says:
            heard = [self._keep(word) for word in asked.says]
        if asked.winds_up:
            wound_up = {workflow: self._store.steering.remove(workflow) for workflow in asked.winds_up}
        if self._is_shared:
            ends = self._by_our_clock(ends, asked.clock)
        answer = self._leases.exchange(
            self.placeholder, ends, asked.room, workflows, self.now(), asked.idle, asked.holds
        )
        if asked.holds is not None and self._is_shared:
            self._store.placeholders.reclaim(self.placeholder, self.now())
            if self._store.callers.are_overdue(self.now()):
                from headway.live.doors.queue_looks import look_apart

                look_apart(self._store.place)
        if asked.serves and not answer.leases:
            self._wanted = None  # there may be others by now
        return Reply(answer, settings, unknown, heard, wound_up, asked.number, wanted)

    def _all_wanted(self) -> Sequence[WorkflowId]:
        """The workflows that want the site of this runner. One that always finds something need not look each time."""
        now = self._clock.now()
        if self._wanted is None or now > self._wanted_since + LATELY:
            self._wanted, self._wanted_since = self.wanted(), now
        return self._wanted

    def wanted(self) -> list[WorkflowId]:
        """The workflows that want the site of this runner."""
        return self._store.placeholders.wanted(self._site_name)

    def leave(self) -> None:
        self._store.placeholders.leave(self.placeholder, self.now())

    def now(self) -> Seconds:
        """The time by the clock that all times in the store are from."""
        return self._store.clock() if self._is_shared else self._clock.now()

    def _keep(self, word: Word) -> bool:
        lease = LeaseId(word.lease)
        is_held = self._store.steering.say(lease, word.text)
        if is_held and word.ready:
            self._store.steering.ready(lease)
        return is_held

    def _by_our_clock(self, ends: Sequence[Finish], clock: Seconds) -> Sequence[Finish]:
        """Ends whose times are told by the clock of the runner's host; times that are not known stay so."""
        if not ends or not self._is_shared:
            return ends
        ahead = self._store.clock() - clock
        return [
            replace(one, started=one.started and one.started + ahead, ended=one.ended and one.ended + ahead)
            for one in ends
        ]
