"""Whether a workflow is over, as far as one placeholder can tell."""

from __future__ import annotations

from headway.engine.progress import Row
from headway.model.record import record
from headway.model.states import State


@record
class Outlook:
    """What there is of a workflow in the whole store. Services do not count."""

    halted: bool  # a job has ended it: nothing new begins
    running: bool  # an attempt is under way, wherever; a node that is in the hands of its processes is none
    eligible: bool
    later: bool  # something is put off
    final: bool  # its last job has not begun, which runs even if nothing else does

    @property
    def is_under_way(self) -> bool:
        """Something runs, or could without the last job being called."""
        return self.running or (not self.halted and (self.eligible or self.later))

    @property
    def is_over(self) -> bool:
        """Nothing runs, and nothing will."""
        return not self.is_under_way and not self.final

    def is_stuck(self, room_is_whole: bool) -> bool:
        """Nothing runs, and what could run was not given to a placeholder that runs nothing else."""
        return room_is_whole and not self.running and not self.later and (self.eligible or self.final)


def is_decisive(final: Row) -> bool:
    """Whether the last job has run to its end: then it decides how its workflow has ended.

    One that its user calls done has not run, and decides nothing.
    """
    return final.state in (State.DONE, State.FAILED) and final.tries > 0


def result(halted: bool, returns: int | None, is_done: bool) -> int | None:
    """What a workflow returns that one of its jobs has ended; None: how far its jobs are decides.

    That holds in later runs too, until it is renewed (progress.Changes) or the workflow has gone on to its end.
    """
    return None if is_done and not halted else returns


NOTHING = Outlook(False, False, False, False, False)
