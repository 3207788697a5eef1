"""What earlier jobs have taken decides what a placeholder takes whose time is limited."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.engine.ready import Room, Within
from headway.live.store import SITES, Store, opened
from headway.model.messages import Finish, JobId
from tests.contracts.crew import groups


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "postgresql":
        return opened(str(request.getfixturevalue("postgres_url")))
    (tmp_path / SITES).mkdir()
    return opened(tmp_path / "store.db")


def ran(store: Store, site: str, seconds: float, size: int | None = None) -> None:
    """A job of the program `align` was done at a site."""
    workflow = store.submissions.add(groups("mqsub -l A -c 'bin/align x'"), 1.0)
    if size is not None:
        store.run_times.note(workflow, [(JobId(0), "align", size)])
    there = store.placeholders.enter("h", 1, 1.0, site=site)
    (lease,) = store.leases.exchange(there, [], Room(1, 1), [workflow], 2.0).leases
    store.leases.exchange(there, [Finish(lease.id, 0, 10.0, 10.0 + seconds)], Room(0, 0), [], 20.0)
    store.placeholders.leave(there, 30.0)


def test_what_was_done_is_learnt_site_by_site_and_by_input(store: Store) -> None:
    ran(store, "cluster", 100.0)
    ran(store, "lab", 20.0, size=1000)
    ran(store, "lab", 40.0, size=2000)
    known = store.run_times.learnt()
    assert known.expected("align", "cluster") == pytest.approx(100.0)
    assert known.expected("align", "lab", 1500) == pytest.approx(30.0)
    assert known.expected("sort", "lab") is None


def test_a_placeholder_takes_what_fits_by_what_is_expected_at_its_site(store: Store) -> None:
    workflow = store.submissions.add(groups("mqsub -l A -c 'align x'\nmqsub -l B -c 'align y' -attr seconds=5"), 1.0)
    store.run_times.expect(workflow, [(JobId(0), "cluster", 50.0), (JobId(1), "cluster", 500.0)])
    there = {site: store.placeholders.enter("h", 1, 1.0, site=site) for site in ("cluster", "lab")}
    within = Within(10.0)
    taken = store.leases.exchange(there["cluster"], [], Room(2, 2, within=within), [workflow], 2.0).leases
    assert [lease.name for lease in taken] == ["B"]  # what its file says counts before
    taken = store.leases.exchange(there["lab"], [], Room(2, 2, within=within), [workflow], 2.0).leases
    assert [lease.name for lease in taken] == ["A"]  # of which nothing is known here


def test_what_is_expected_anew_takes_the_place_of_all_that_was_expected(store: Store) -> None:
    workflow = store.submissions.add(groups("mqsub -l A -c 'align x'"), 1.0)
    store.run_times.expect(workflow, [(JobId(0), "cluster", 50.0)])
    store.run_times.expect(workflow, [])
    there = store.placeholders.enter("h", 1, 1.0, site="cluster")
    asked = Room(1, 1, within=Within(10.0))
    assert len(store.leases.exchange(there, [], asked, [workflow], 2.0).leases) == 1
