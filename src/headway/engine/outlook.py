"""Whether a workflow is over, as far as one placeholder can tell."""

from __future__ import annotations

from headway.model.record import record


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


NOTHING = Outlook(False, False, False, False, False)
