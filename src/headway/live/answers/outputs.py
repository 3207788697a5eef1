"""What a job has printed, and what it prints while it runs."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from headway.live.client.asking import asked, is_served
from headway.live.home.folder import Home, far_log
from headway.live.home.ownership import read_in
from headway.live.store import Store
from headway.live.store.spec import Spec
from headway.live.store.views import Attempt, Run
from headway.model.errors import HeadwayError, shown
from headway.model.messages import LOCAL, JobId
from headway.model.record import mutable
from headway.model.states import State, Step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.sites.far_files import Far, FarTail

_CHUNK = 1 << 20
PACE = 0.1  # seconds between two looks at a job that runs

_WAITS = {
    State.WAITING: "it waits for other jobs",
    State.ELIGIBLE: "it waits for a slot",
    State.LATER: "it is to be tried again later",
    State.DISABLED: "it is disabled",
}

Write = Callable[[bytes], object]
Talk = Callable[[str], object]


@mutable
class Tail:
    """A file that may grow: what was not read yet of it."""

    path: str
    handle: int = -1
    below: Path | None = None  # the folder from which on no link is followed
    flags: int = 0

    def opened(self) -> bool:
        if self.handle < 0:
            with contextlib.suppress(OSError):
                if self.below is not None:
                    self.handle = read_in(self.below, *Path(self.path).relative_to(self.below).parts)
                else:
                    self.handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | self.flags)
        return self.handle >= 0

    def news(self) -> Iterator[bytes]:
        if not self.opened():
            return
        with contextlib.suppress(OSError):  # a folder, a pipe that nobody writes to
            if os.fstat(self.handle).st_size < os.lseek(self.handle, 0, os.SEEK_CUR):
                os.lseek(self.handle, 0, os.SEEK_SET)  # it was begun again
            while data := os.read(self.handle, _CHUNK):
                yield data

    def close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


@mutable
class Output:
    """All that one attempt writes to: the files that its job names, and its log."""

    home: Home
    attempt: Attempt
    log: str
    named: list[Tail] | list[FarTail]
    printed: int = 0
    far: Far | None = None  # the site where they are, if it is another
    _log: Tail | FarTail | None = None
    _heading: str = ""

    @classmethod
    def of(cls, home: Home, store: Store, run: Run, attempt: Attempt) -> Output:
        spec = Spec("")
        if attempt.step is Step.MAIN:
            spec = store.watching.given(
                run.workflow, attempt.job, attempt.number, store.history.member(run.workflow, attempt.job).spec
            )
        place = Path(run.directory, spec.directory or ".")
        files = dict.fromkeys(str(place / name) for name in (spec.stdout, spec.stderr) if name)
        log = home.log(run.workflow, attempt.job, attempt.number)
        if attempt.by_script:
            own = f"{attempt.home}/{store.id}.{attempt.lease}.log"
            return cls(Home(Path(attempt.home or "."), to_look=True), attempt, own, [Tail(path) for path in files])
        if attempt.site != LOCAL:
            from headway.live.sites.far_files import Far

            far = Far(home, store.place, attempt.site)
            own = far_log(attempt.home, run.workflow, attempt.job, attempt.number)
            return cls(home, attempt, own, far.named(list(files)), far=far)
        if attempt.home and Path(attempt.home) != home.folder:  # of a placeholder that has a folder of its own
            home = _home_of(attempt)
            log = home.log(run.workflow, attempt.job, attempt.number)
        flags = os.O_NOFOLLOW if home.is_foreign else 0  # its store says which files these are
        return cls(home, attempt, log, [Tail(path, flags=flags) for path in files])

    def pass_on(self, ended: bool, write: Write, talk: Talk) -> None:
        """Writes out what is new; where there are several files, each with its name."""
        if not self._has_begun(ended):
            return
        for tail in (*self.named, *([self._log] if self._log is not None else ())):
            for data in tail.news() if self.far is None else self._news_from_there(tail, talk):
                if self.named and tail.path != self._heading:
                    self._heading = tail.path
                    talk(f"==> {tail.path} <==")
                write(data)
                self.printed += len(data)
        if ended and self._log is None and not self.printed and self.attempt.by_script and self.attempt.tail:
            talk(f"it printed to {self.log} on {self.attempt.host}; its last lines:")
            write(self.attempt.tail.encode())
            self.printed += 1

    def _has_begun(self, ended: bool) -> bool:
        """Whether there may be something to read: files named by its job may be from an earlier attempt until then."""
        if self._log is not None:
            return True
        if self.far is not None:
            return self._has_begun_there(self.far, ended)
        if Path(self.log).exists():
            self._log = Tail(self.log, below=self.home.folder)
            return True
        if self.attempt.by_script:
            return ended
        if ended:
            return True
        said = asked(self.home, self.attempt.lease)
        if said is None or said.output is None:
            return False
        found = Tail(said.output)  # it becomes the log; no other job gets it once we have it open
        if found.opened():
            again = asked(self.home, self.attempt.lease)
            if again is not None and again.output == said.output:
                found.path = self.log
                self._log = found
                return True
        found.close()
        return False

    def _news_from_there(self, tail: Tail | FarTail, talk: Talk) -> Iterator[bytes]:
        """The same from another site. If that cannot be reached, what came with the end of a failed attempt."""
        try:
            yield from tail.news()
        except HeadwayError as error:
            if self.printed or not self.attempt.tail:
                raise
            talk(f"{error} The last lines that came with its end:")
            yield self.attempt.tail.encode()

    def _has_begun_there(self, far: Far, ended: bool) -> bool:
        """The same at another site: the log, or what becomes the log of a job that runs."""
        from headway.live.sites.far_files import FarTail

        path = self.log if ended else far.output(self.attempt.lease)
        if path is None:
            return False
        self._log = FarTail(far, path, "" if ended else self.log)
        return True

    def close(self) -> None:
        for tail in (*self.named, *([self._log] if self._log is not None else ())):
            tail.close()


def follow(home: Home, store: Store, run: Run, job: JobId, write: Write, talk: Talk) -> Attempt | None:
    """Writes out what a job prints, through all its attempts, until it is done or failed; its last attempt, if any.

    Begins with the last attempt there is, or waits for the first.
    """
    last = store.history.last_attempt(run.workflow, job)
    seen, waited = (last.lease - 1 if last is not None else 0), False
    while True:
        for attempt in _later(store, run, job, seen):
            if last is not None and attempt.lease != last.lease:
                talk(f"attempt {attempt.number}{_step(attempt)}:")
            seen, last = attempt.lease, attempt
            follow_attempt(home, store, run, attempt, write, talk)
        state = store.history.member(run.workflow, job).state
        if state in (State.DONE, State.FAILED):
            if not _later(store, run, job, seen):
                return last
            continue
        if state is not State.RUNNING and not store.progress.is_under_way(run.workflow):
            talk("it does not run any more: its workflow has ended.")
            return last
        if not waited and state is not State.RUNNING:
            waited = True
            served = is_served(home, store, store.clock())
            talk(f"{_WAITS[state]}{'' if served else '; nothing runs here just now, headway run goes on with it'}.")
        time.sleep(PACE)


def follow_attempt(home: Home, store: Store, run: Run, attempt: Attempt, write: Write, talk: Talk) -> int:
    """The same for one attempt, until it ends; how many bytes there were."""
    output = Output.of(home, store, run, attempt)
    try:
        while True:
            now = store.history.last_attempt(run.workflow, attempt.job)
            ended = now is None or now.lease != attempt.lease or now.ended is not None
            output.pass_on(ended, write, talk)  # after asking: what an ended one wrote is all there
            if ended:
                return output.printed
            time.sleep(PACE)
    finally:
        output.close()


def _home_of(attempt: Attempt) -> Home:
    """The folder of the placeholder that had an attempt."""
    if not os.path.isdir(attempt.home):  # noqa: PTH112 - it may be private
        from socket import gethostname

        if attempt.host != gethostname():
            raise HeadwayError(
                f"the log of {shown(attempt.name)} is on {attempt.host}, in {attempt.home}/logs.",
                "Look there; logs of sites of headway.toml are fetched.",
            )
    return Home(Path(attempt.home), to_look=True)


def _later(store: Store, run: Run, job: JobId, seen: int) -> list[Attempt]:
    """Attempts after one that was seen."""
    last = store.history.last_attempt(run.workflow, job)
    if last is None or last.lease <= seen:
        return []
    return [attempt for attempt in store.history.attempts(run.workflow, job) if attempt.lease > seen]


def _step(attempt: Attempt) -> str:
    return "" if attempt.step is Step.MAIN else f" ({attempt.step.name} script)"
