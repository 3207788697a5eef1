"""Affinity: a job runs on the host of the one before it in its group, wherever else there is room."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.engine.explain import because
from headway.engine.ready import Room
from headway.live.store import SITES, Store, opened
from headway.model.messages import Finish, Lease, PlaceholderId, WorkflowId
from tests.contracts.crew import groups

PAIRS = "\n".join(f"mqsub -l {name} -c one\nmqsub -l {name} -c two -attr affinity=yes" for name in ("A", "B"))


class Hosts:
    """Two placeholders on two hosts."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.workflow: WorkflowId = store.submissions.add(groups(PAIRS), 1.0)
        self.there: dict[str, PlaceholderId] = {host: store.placeholders.enter(host, 1, 1.0) for host in ("one", "two")}

    def take(self, host: str, room: int = 1, ended: Lease | None = None) -> list[Lease]:
        ends = [] if ended is None else [Finish(ended.id, 0, 2.0, 3.0)]
        asked = Room(room, room, host=host)
        return self.store.leases.exchange(self.there[host], ends, asked, [self.workflow], 3.0).leases


@pytest.fixture(params=["sqlite", "postgresql"])
def hosts(request: pytest.FixtureRequest, tmp_path: Path) -> Hosts:
    if request.param == "postgresql":
        return Hosts(opened(str(request.getfixturevalue("postgres_url"))))
    (tmp_path / SITES).mkdir()
    return Hosts(opened(tmp_path / "store.db"))


def test_the_second_job_of_a_group_runs_where_the_first_did(hosts: Hosts) -> None:
    (first,) = hosts.take("one")
    assert first.name == "A"
    (other,) = hosts.take("two")
    assert other.name == "B"
    hosts.take("one", 0, first)
    assert hosts.take("two") == []
    assert [lease.name for lease in hosts.take("one")] == ["A#2"]
    assert [lease.name for lease in hosts.take("two", 1, other)] == ["B#2"]


def test_a_job_that_is_bound_elsewhere_holds_up_nobody(hosts: Hosts) -> None:
    (first,) = hosts.take("one")
    hosts.take("one", 0, first)
    assert [lease.name for lease in hosts.take("two", 4)] == ["B"]


def test_explain_says_where_it_must_run_and_what_to_do_when_that_host_is_gone(hosts: Hosts) -> None:
    (first,) = hosts.take("one")
    hosts.take("one", 0, first)
    place = hosts.store.places.place(hosts.workflow, "A#2")
    assert place is not None
    told = because(hosts.store.watching.facts(hosts.workflow, place, True), 4.0)
    assert "It must run on one, as A did (affinity)." in told
    hosts.store.placeholders.leave(hosts.there["one"], 5.0)
    told = because(hosts.store.watching.facts(hosts.workflow, place, True), 6.0)
    assert "No placeholder is there now. To run both elsewhere: headway redo A." in told
    hosts.store.steering.steer("redo", hosts.workflow, [(0, 1)])
    (again,) = (lease for lease in hosts.take("two", 4) if lease.name == "A")
    hosts.take("two", 0, again)
    assert "A#2" in [lease.name for lease in hosts.take("two", 4)]


def test_a_store_of_one_host_binds_nothing(tmp_path: Path) -> None:
    found = Hosts(opened(tmp_path / "store.db"))
    (first,) = found.take("one")
    found.take("one", 0, first)
    assert "A#2" in [lease.name for lease in found.take("two", 4)]
