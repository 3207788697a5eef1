"""What holds for all tests: answers count, not how long one takes; no process stays; nohup changes nothing."""

import signal

from hypothesis import settings

from tests.infra import leftovers
from tests.infra.leftovers import pytest_sessionfinish, pytest_terminal_summary, pytest_testnodedown

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary", "pytest_testnodedown"]

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
leftovers.mark()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Under nohup, or in the background of a script. Whom tests start would ignore SIGINT too, and a test that sends one
    # would wait for ever. A handler is not inherited; this one goes on ignoring the signal here.
    signal.signal(signal.SIGINT, lambda number, frame: None)
