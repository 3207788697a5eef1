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
