"""What holds for all tests: answers count, not how long one takes; no process stays; nohup changes nothing."""

import signal
from pathlib import Path

import pytest
from hypothesis import settings

from tests.infra import leftovers
from tests.infra.leftovers import pytest_sessionfinish, pytest_terminal_summary, pytest_testnodedown

__all__ = ["pytest_collection_modifyitems", "pytest_sessionfinish", "pytest_terminal_summary", "pytest_testnodedown"]

HERE = Path(__file__).parent
# The second part of scripts/test: whole systems, crashes, the papers' figures, compiled kernels, all small dags.
SLOW = [
    *(
        "examples",
        "experiments",
        "htcondor",
        "papers",
        "sim",
        "policies/prio",
        "policies/test_installed_orders.py",
        "tui",
    ),
    *("live/test_crashes.py", "live/test_crashes_and_company.py", "cli/test_simulate.py", "cli/test_simulate_sites.py"),
    *("cli/test_simulate_queue.py", "cli/test_simulate_peers.py"),
    *("live/test_adoption.py", "live/test_runner_survives.py", "live/test_lost_folders.py", "live/test_strangers.py"),
    *("live/test_messages.py", "live/test_dagman_semantics.py", "live/test_limits.py", "live/test_moved_folders.py"),
    "live/test_beside_dagman.py",
    *(
        "live/test_uptodate.py",
        "cli/test_read_only.py",
        "cli/test_prio.py",
        "formats/test_fuzz.py",
        "journeys",
        "worlds",
    ),
    *("test_session.py", "contracts/test_crashes_on_postgres.py", "contracts/test_store_machine.py"),
    *("contracts/test_several_runners.py", "contracts/test_run_on_postgres.py", "contracts/test_passwords.py"),
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = [HERE / place for place in SLOW]
    for item in items:
        if any(item.path.is_relative_to(place) for place in places):
            item.add_marker(pytest.mark.slow)


settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
leftovers.mark()
for _signal in (signal.SIGINT, signal.SIGHUP):
    # Under nohup, or in the background of a script. Whom tests start would ignore it too, and a test that sends one
    # would wait for ever. A handler is not inherited; this one goes on ignoring the signal here.
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, lambda number, frame: None)
