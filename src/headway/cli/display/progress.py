"""How far a run is: one line that changes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time

from headway.cli.display.terminal import clear_line, one_line
from headway.live.client.messages import Failure, Progress
from headway.live.client.watch import Bounds
from headway.live.runs.session import Outcome
from headway.model.record import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_WORTH_TELLING = 0.5  # seconds: below that, starting Headway is most of what a run takes


class Display:
    """Talk goes to standard error; standard output is for data."""

    def __init__(self, jobs: int, before: int, left_out: int = 0, quiet: bool = False) -> None:
        self._jobs = jobs
        self._before = before
        self._quiet = quiet
        self._live = sys.stderr.isatty() and not quiet
        self._begun = time.monotonic()
        self._trouble = ""
        self._told: set[str] = set()  # jobs whose failure was told
        if before and not quiet:
            self.say(f"{before:,} of {jobs:,} jobs are done already.")
        if left_out and not quiet:
            self.say(f"{left_out:,} {'job is' if left_out == 1 else 'jobs are'} left out.")

    def say(self, text: str) -> None:
        """A line that stays."""
        self._clear()
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def show(self, progress: Progress) -> None:
        if progress.stops:
            self.say(
                "ending jobs." if progress.stops > 1 else "stopping: running jobs may end; Ctrl-C again ends them."
            )
            return
        for warning in progress.warnings:
            self.say(f"warning: {warning}")
        if progress.trouble != self._trouble:
            self._trouble = progress.trouble
            self.say(f"waiting: {progress.trouble}" if progress.trouble else "going on.")
        if progress.ended and progress.others:
            self.say("another headway run goes on with it.")
        if self._quiet:
            return
        for failure in progress.failures:
            self._tell("failed" if failure.final else "failed, to be tried again", failure)
        if self._live:
            self._clear()
            sys.stderr.write(self._line(progress))
            sys.stderr.flush()

    def _tell(self, what: str, failure: Failure) -> None:
        self._told.add(failure.job)
        why = failure.reason or f"exit code {failure.exit_code}"
        log = f", log: {failure.log}" if failure.log else ""
        self.say(f"{what}: {one_line(failure.job)} ({one_line(why)}){one_line(log)}")

    def serve(self, progress: Progress) -> None:
        """The same for a placeholder, which does not know how much there is to do."""
        if not self._live:
            self.show(progress)
            return
        self._live = False
        self.show(progress)
        self._live = True
        if not progress.stops:
            names = f": {one_line(', '.join(progress.names))}" if progress.names else ""
            self._clear()
            sys.stderr.write(_fitted(f"{progress.done:,} done here, {progress.running} running{names}"))
            sys.stderr.flush()

    def follow(self, progress: Progress, done: int) -> None:
        """The same for somebody who came later: what is done is not what was done since."""
        self.show(replace(progress, done=done - self._before))

    def _clear(self) -> None:
        if self._live:
            clear_line()

    def _line(self, progress: Progress) -> str:
        done = self._before + progress.done
        self._jobs = max(self._jobs, done)  # mqsub may have added some
        share = done / self._jobs if self._jobs else 1.0
        bar = "━" * round(24 * share)
        taken = time.monotonic() - self._begun
        left = f", about {taken / progress.done * (self._jobs - done):.0f} s left" if progress.done else ""
        names = f": {one_line(', '.join(progress.names))}" if progress.names else ""
        return _fitted(f"{bar:<24} {done:,} of {self._jobs:,} done{left}, {progress.running} running{names}")

    def end(self, outcome: Outcome, slots: int, again: str) -> None:
        """Says how it went, and how far that is from what no run of these jobs can beat.

        `again`: the command that retries what failed.
        """
        if self._quiet:
            return
        for failure in outcome.failures:
            if failure.job not in self._told:  # it was not for its last attempt to decide
                self._tell("failed", failure)
        if outcome.rescue is not None:
            self.say(f"what is done of it is in {outcome.rescue.name}, for DAGMan to go on from.")
        ended, seconds, limits = outcome.tally, outcome.seconds, outcome.bounds
        rest = f", {ended.failed:,} failed" * bool(ended.failed) + f", {ended.skipped:,} not run" * bool(ended.skipped)
        where = "1 slot" if slots == 1 else f"{slots} slots"
        jobs = max(self._jobs, ended.done + ended.failed + ended.skipped)
        self.say(f"{ended.done:,} of {jobs:,} jobs done{rest}, {seconds:.2f} s on {where}.")
        if outcome.decided and not outcome.exit_code and (ended.failed or ended.skipped):
            self.say("Its FINAL node has ended well, which decides: exit code 0.")
        elif outcome.returned == 0 and (ended.failed or ended.skipped):
            self.say("A node has ended the DAG, and ABORT-DAG-ON says RETURN 0, which decides: exit code 0.")
        if limits.attempts:
            self.say(self._at_best(limits, seconds, where, whole=not self._before and not ended.skipped))
        if ended.failed:
            self.say(f"To retry the failed jobs: {again}")
        if outcome.disabled:
            from headway.engine.explain import named

            what = "it" if len(outcome.disabled) == 1 else "them"
            self.say(f"disabled: {one_line(named(outcome.disabled))}. headway enable lets {what} run.")
        if ended.skipped and not ended.failed:
            self.say("headway status shows what was not run, headway explain JOB tells why.")

    def _at_best(self, limits: Bounds, seconds: float, where: str, whole: bool) -> str:
        """Both bounds, and how far a whole run is from them."""
        both = f"{limits.minimal:.2f} s for the longest path, {limits.work:.2f} s for the work on {where}"
        # A run that took over jobs of an earlier one may be shorter than they were.
        if whole and _WORTH_TELLING <= limits.best <= seconds:
            return f"At best {both}: {100 * (seconds / limits.best - 1):.0f}% over."
        return f"{'At best, for all that has run,' if self._before else 'At best'} {both}."


def _fitted(line: str) -> str:
    """A line as far as the terminal is wide."""
    from shutil import get_terminal_size  # a run that nobody watches does without

    width = get_terminal_size().columns - 1
    return line if len(line) <= width else line[: max(0, width - 1)] + "…"
