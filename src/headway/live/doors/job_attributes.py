"""What `mqgetjobattribute` knows of a job: how it runs, what its user says of it, and how its last attempt went."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping
from functools import cached_property

from headway.live.doors.job_script import environment_of, script
from headway.live.doors.services import Services
from headway.live.store import is_server
from headway.live.store.callers import Given
from headway.live.store.spec import Spec
from headway.live.store.text import decode
from headway.model.attributes import ENVIRONMENT, RESOURCE
from headway.model.errors import NotFoundError, shown
from headway.model.messages import JobId, Lease, WorkflowId
from headway.model.quantities import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from headway.live.store import Store


class JobAttributes:
    """The attributes of one job. `given` and `lease`: of the attempt that asks; None where somebody asks by name."""

    def __init__(
        self, store: Store, workflow: WorkflowId, job: JobId, given: Given | None = None, lease: Lease | None = None
    ) -> None:
        self._store, self._workflow, self._job = store, workflow, job
        self._given, self._lease = given, lease

    def value(self, name: str) -> str:
        """The value of an attribute; empty if the job has none. NotFoundError: nobody knows such an attribute."""
        if name in _KNOWN:
            return _text(_KNOWN[name](self))
        own = self._store.callers.attributes(self._workflow, self._job)
        if name in own:
            return own[name]
        if name in ("release", "affinity", "precious"):
            return "no"
        if name.startswith(ENVIRONMENT):
            return self.environment.get(name.removeprefix(ENVIRONMENT), "")
        if name.startswith(RESOURCE):
            named = dict(json.loads(self._row[9]))
            return _text(named.get(name.removeprefix(RESOURCE)))
        raise NotFoundError(
            f"{shown(self.name)} has no attribute {shown(name)}.",
            f"It has {', '.join([*_KNOWN, *own])}.",
        )

    # --- what it is -------------------------------------------------------------------------------------------------

    @cached_property
    def _row(self) -> Any:
        return self._store.callers.definition(self._workflow, self._job)

    @cached_property
    def _spec(self) -> Spec:
        if self._lease is not None:
            return Spec.read(self._lease.spec)
        return self._store.watching.given(self._workflow, self._job, 1, str(self._row[8]))

    @property
    def name(self) -> str:
        return decode(str(self._row[5]))

    @cached_property
    def _setting(self) -> tuple[str, dict[str, str]]:
        """The folder of its workflow, and what every job of it finds in its environment."""
        directory, exported = self._store.leases.setting(self._workflow)
        place = self._store.place
        store = place if is_server(place) else posixpath.dirname(place)
        return directory, {**exported, "HEADWAY_STORE": store}

    @property
    def directory(self) -> str:
        """Where it runs."""
        return posixpath.normpath(posixpath.join(self._setting[0], self._spec.directory or ""))

    @property
    def environment(self) -> Mapping[str, str]:
        if self._lease is None:
            return {**self._setting[1], **dict(self._spec.environment)}
        return environment_of(self._lease, self.id, self._spec, self._setting[1])

    @property
    def id(self) -> str:
        return "" if self._lease is None else Services(self._store).id_of(self._lease.id)

    @property
    def script(self) -> str:
        """All of it, for sh."""
        if self._lease is None:
            raise NotFoundError("only a job that runs has a script.", "Give the id that mqnextjob has printed.")
        return script(self._lease, self.id, *self._setting)

    @property
    def state(self) -> str:
        from headway.engine.groups import WORDS, shown_state
        from headway.live.store.rows import STATES

        return WORDS[shown_state(STATES[self._row[3]], bool(self._row[4]))]

    # --- what it was ------------------------------------------------------------------------------------------------

    @cached_property
    def _last(self) -> Any:
        """The last attempt that has ended by itself."""
        return self._store.callers.last_ended(self._workflow, self._job) or (None,) * 10


def _text(value: object) -> str:
    if value is None:
        return ""
    return plain(value) if isinstance(value, float) else str(value)


def _words(pairs: Mapping[str, str]) -> str:
    from shlex import quote

    return "\n".join(f"{name}={quote(value)}" for name, value in pairs.items())


_KNOWN: dict[str, Callable[[JobAttributes], object]] = {
    "name": lambda one: one.name,
    "command": lambda one: one._spec.command,
    "dir": lambda one: one.directory,
    "environment": lambda one: _words(one.environment),
    "stdin": lambda one: one._spec.stdin,
    "stdout": lambda one: one._spec.stdout,
    "stderr": lambda one: one._spec.stderr,
    "script": lambda one: one.script,
    "workflow": lambda one: one._workflow,
    "state": lambda one: one.state,
    "attempt": lambda one: None if one._lease is None else one._lease.attempt,
    "stop": lambda one: None if one._given is None else one._given.stop,
    "cores": lambda one: one._row[0],
    "memory": lambda one: one._row[1] or None,
    "retries": lambda one: one._row[2],
    "time": lambda one: one._row[6],
    "seconds": lambda one: one._row[7],
    # The history profile: of the last attempt that has ended.
    "start": lambda one: one._last[0],
    "end": lambda one: one._last[1],
    "exit_code": lambda one: one._last[2],
    "max_rss": lambda one: one._last[3],
    "cpu_seconds": lambda one: one._last[4],
    "host": lambda one: one._last[8],
    "site": lambda one: one._last[9],
    "status": lambda one: one._last[7],
}
