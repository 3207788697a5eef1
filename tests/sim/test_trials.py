"""Work on all cores: results by place, errors in a sentence, and nobody left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from headway.model.errors import HeadwayError, UsageError
from headway.sim.trials import on_all_cores


def test_every_item_is_done_once_and_results_come_with_their_places() -> None:
    items = list(range(50))
    assert sorted(on_all_cores(lambda item: item * item, items, 3)) == [(at, at * at) for at in items]


def test_an_error_of_ours_comes_through_and_any_other_is_told_in_a_sentence() -> None:
    def fails(item: object) -> object:
        raise UsageError("this cannot be.", "Leave it.") if item else ZeroDivisionError("by zero")

    with pytest.raises(UsageError, match="this cannot be"):
        list(on_all_cores(fails, [1, 1], 2))
    with pytest.raises(HeadwayError, match="a process of the simulation failed: by zero"):
        list(on_all_cores(fails, [0, 0], 2))


def test_processes_end_when_the_one_that_started_them_is_killed() -> None:
    """An evaluation that was killed left its processes waiting for ever. The pipe ends when the last of them has."""
    script = (
        "import os, signal, sys\n"
        "from headway.sim.trials import on_all_cores\n"
        "def work(item):\n"
        "    os.write(int(sys.argv[1]), b'x')\n"
        "    signal.pause()\n"
        "list(on_all_cores(work, [1, 2], 2))\n"
    )
    ours, theirs = os.pipe()
    one = subprocess.Popen([sys.executable, "-c", script, str(theirs)], pass_fds=[theirs])
    os.close(theirs)
    begun = b""
    while len(begun) < 2:
        begun += os.read(ours, 2)
    one.send_signal(signal.SIGKILL)
    one.wait()
    assert os.read(ours, 1) == b""
    os.close(ours)
