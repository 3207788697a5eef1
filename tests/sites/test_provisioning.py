"""What asks a queue, by itself."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from headway.live.sites.provisioning import Provisioning
from headway.live.sites.remote import Remote
from headway.live.sites.site import Site
from headway.live.store import opened
from headway.live.store.allocations import name_of


@pytest.mark.parametrize("is_there", [False, True])
def test_what_its_queue_has_put_back_is_cancelled_once_its_placeholder_has_left_and_no_longer_counts(
    is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path / "store.db")
    number, secret = store.allocations.ask("cluster", 2, 600, store.clock())
    store.allocations.queued(number, "12")
    assert store.allocations.admit(number, "cluster", secret, "its process", store.clock())
    for program, does in (
        ("squeue", f"echo '12|{name_of(store.id, number)}|PENDING|BeginTime'"),
        ("scancel", f'echo "$@" >> {tmp_path}/cancelled'),
    ):
        (tmp_path / program).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    site = Site("cluster", queue="slurm", look=4.0)
    owner = SimpleNamespace(site=site, store=store, remote=Remote(site), most=0, trouble="", wanted=list)
    owner.is_there = lambda asked: is_there and asked == number

    async def looks() -> None:
        asks = Provisioning(owner, [], 0, "")  # type: ignore[arg-type]
        await asks.look()
        await asks.look()  # at once, as when something has happened in the queue
        assert [one.id for one in store.allocations.open("cluster")] == [number]  # it may just be coming back
        await asyncio.sleep(2)
        await asks.look()
        await asks.look()

    asyncio.run(looks())
    (past,) = store.allocations.all()
    if is_there:
        assert past.ended is None and not (tmp_path / "cancelled").exists()
    else:
        assert past.reason == "put back into its queue" and (tmp_path / "cancelled").read_text() == "12\n"
    store.close()


@pytest.mark.parametrize("steps", range(5))
def test_a_process_that_is_told_to_end_while_something_happens_in_its_queue_ends(
    steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "squeue").write_text("#!/bin/sh\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    site = Site("cluster", queue="slurm", look=60.0)
    owner = SimpleNamespace(site=site, store=opened(tmp_path / "store.db"), remote=Remote(site), most=0, trouble="")
    owner.wanted = list

    async def ends() -> bool:
        asks = Provisioning(owner, [], 0, "")  # type: ignore[arg-type]
        life = asyncio.create_task(asks.run())
        while not asks.has_looked:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)  # it waits for something to happen
        asks.wake()
        for _ in range(steps):
            await asyncio.sleep(0)
        asks.end(life)
        return not (await asyncio.wait({life}, timeout=10))[1]

    assert asyncio.run(asyncio.wait_for(ends(), 60))
