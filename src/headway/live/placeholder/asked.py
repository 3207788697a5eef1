"""An exchange under way, and what goes with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headway.engine.silence import GAP
from headway.live.doors.messages import Word
from headway.model.errors import HeadwayError
from headway.model.messages import Finish, Seconds, WorkflowId
from headway.model.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    Told = Callable[[bool | HeadwayError], None]  # called with the result of a status message, or with the error
else:
    Told = object  # Python 3.9 has no unions at run time


@record
class Asked:
    """An exchange under way."""

    number: int
    ends: Sequence[Finish]
    idle: Sequence[WorkflowId]
    most: int  # jobs that could be taken
    holds: bool  # whether it said what we hold
    since: Seconds  # when it was asked
    spooled: tuple[int, int]  # how much of the spool it tells
    noted: int  # ends among them that are not even in the spool
    errands: Errands

    def is_too_old(self, now: Seconds, patience: Seconds, has_leases: bool) -> bool:
        """Whether its answer may have lain there while we were stopped: others may have by now what it gives us.

        `patience`: how long our silence may last. An exchange that says what we hold is a sign of life itself.
        """
        age = now - self.since
        return age > patience or (has_leases and not self.holds and age > patience / GAP)


@record
class Errands:
    """What goes with an exchange, for those who wait for it."""

    news: tuple[WorkflowId, ...] = ()  # workflows of which nothing is known yet
    says: tuple[tuple[Word, Told], ...] = ()
    winds_up: tuple[WorkflowId, ...] = ()

    def plus(self, news: WorkflowId | None, says: tuple[Word, Told] | None, winds_up: WorkflowId | None) -> Errands:
        """These and one more."""
        return Errands(
            self.news if news is None else (*self.news, news),
            self.says if says is None else (*self.says, says),
            self.winds_up if winds_up is None else (*self.winds_up, winds_up),
        )

    def after(self, earlier: Errands) -> Errands:
        """These, and earlier ones that were not done; but those who had something to say were told that it failed."""
        if not earlier.news and not earlier.winds_up:
            return self
        return Errands((*earlier.news, *self.news), self.says, (*earlier.winds_up, *self.winds_up))


NONE = Errands()
