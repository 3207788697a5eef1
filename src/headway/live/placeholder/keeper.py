"""The keeper: a process above the runner that inherits the runner's jobs if it dies, and notes how they end.

It has nothing to do while its runner lives, and costs a job nothing. Linux gives the children of a process that dies to
the nearest ancestor that has asked for them; so what the runner has not waited for itself, the keeper can: exit code,
signal, and use of resources are known as exactly as if the runner lived (docs/decisions/0008).
"""

from __future__ import annotations

import os
import select
import signal
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_A_WHILE = 10_000  # milliseconds; most runners that live so long have jobs that may be inherited


def keep(folder: Path, runner: int) -> int:
    """Makes this process, which is alone in its session but for a runner, its child, the keeper of it; its exit code.

    Orphans are asked for after the runner was forked, for which a run waits; it has none before it has started a job.
    """
    _inherit_orphans()
    return Keeper(folder, runner).run()


class Keeper:
    """The parent of one runner."""

    def __init__(self, folder: Path, runner: int) -> None:
        self._runner = runner
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle in range(3):
            os.dup2(nothing, handle)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        self._folder = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        os.chdir("/")

    def run(self) -> int:
        """Waits for the runner, and then for the jobs that it has left; ends as the runner did."""
        status = self._of_short_life()
        if status is None or status:
            from headway.live.placeholder.inherited import Inherited, next_ended

            inherited = Inherited(self._folder, self._runner)
            while status is None:
                pid = next_ended()
                if pid == self._runner:
                    status = os.waitpid(pid, 0)[1]
                else:
                    inherited.reap(pid)  # a daemon that a job has left; or a job, of a runner that is just dying
            if status:
                inherited.see_to_their_end()
        if os.WIFSIGNALED(status):
            os.kill(os.getpid(), signal.SIGKILL)  # our parent learns that the runner was killed
        return os.waitstatus_to_exitcode(status)

    def _of_short_life(self) -> int | None:
        """How the runner has ended, if it did so at once: a short run does not wait for what few of them need."""
        try:
            handle = os.pidfd_open(self._runner)
        except (OSError, AttributeError):  # a kernel before Linux 5.3
            return None
        ends = select.poll()
        ends.register(handle, select.POLLIN)
        try:
            return os.waitpid(self._runner, 0)[1] if ends.poll(_A_WHILE) else None
        finally:
            os.close(handle)


def _inherit_orphans() -> None:
    """Asks Linux for the orphans of this process's descendants. Where that cannot be, there is no keeping."""
    try:
        import _ctypes  # every run pays for it, and ctypes takes four times as long to import

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
        _ctypes.call_function(prctl, (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    except (ImportError, OSError, AttributeError):
        return
