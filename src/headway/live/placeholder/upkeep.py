"""Sees that a runner's folder and files stay where they are, and says so if they do not."""

from __future__ import annotations

import os

from headway.live.home.folder import LostHomeError, say
from headway.model.messages import Seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.placeholder.runner import Runner


class Upkeep:
    """Part of a runner."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self._home, self._roster, self._spool = runner, runner.home, runner.roster, runner.spool
        self._paths = str(runner.home.roster), str(runner.home.spool)
        self._renewal = 0.0  # when files may be written again that are not in their places
        self._remarks: set[str] = set()  # what was told of that
        self.is_lost = False  # our folder was moved or removed

    def verify(self, now: Seconds, lately: Seconds = 0.0) -> None:
        """Checks that our folder, and our files in it, are where they were; a look `lately` seconds ago will do."""
        if self.is_lost:
            return
        try:
            looked = self._home.verify(lately)
        except LostHomeError as error:
            self.abandon(error, now)
            return
        if looked and not (self._roster.is_at(self._paths[0]) and self._spool.is_at(self._paths[1])):
            self._renew_files(now)

    def _renew_files(self, now: Seconds) -> None:
        """Writes the roster and the spool again if somebody has deleted or replaced them."""
        from headway.live.placeholder.lost_files import renewed

        if now < self._renewal:
            return
        self._renewal = now + self._runner.beat
        remarks = set()
        if not self._roster.is_at(self._paths[0]):
            remarks.add(renewed(self._roster, self._home.roster))
        if not self._spool.is_at(self._paths[1]):
            remarks.add(renewed(self._spool, self._home.spool))
        for remark in sorted(remarks - self._remarks):
            self.warn(remark)
        self._remarks = remarks

    def warn(self, remark: str) -> None:
        """Tells every client, and the log."""
        say(remark)
        self._runner.jobs.warnings.append(remark)

    def abandon(self, error: LostHomeError, now: Seconds) -> None:
        """Our folder was moved or removed. Clients are told, what runs is ended, and recorded if there is a store."""
        self.is_lost = True
        say(str(error))
        self._follow(str(self._home.folder.parent), self._home.now_at)
        self._runner.end_all(now)
        self._runner.demand.dismiss(error)

    def _follow(self, before: str, home: str | None) -> None:
        """The folder of the store was moved: what jobs beside it write is where it is now."""
        now = "" if home is None else os.path.dirname(home)  # noqa: PTH120 - paths of outputs are text
        for job in self._runner.jobs.running.values() if now else ():
            job.before = {
                f"{now}{path.removeprefix(before)}" if path.startswith(f"{before}/") else path: look
                for path, look in (job.before or {}).items()
            }
