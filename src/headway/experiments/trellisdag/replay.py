"""One run of the experiment on real placeholders: each is a process that takes one job at a time from one store."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from headway.experiments.trellisdag.crews import Crew, local
from headway.live.client.following import Following
from headway.live.store import opened
from headway.model.errors import HeadwayError
from headway.model.messages import WorkflowId
from headway.model.record import record
from headway.model.states import State

SCRIPT = Path(__file__).parent / "four_versus_three.py"
_LOOK = 0.2  # seconds between two looks at how far a run is


@record
class Times:
    """When each job ran, by its name, in seconds."""

    spans: Mapping[str, tuple[float, float]]

    @property
    def makespan(self) -> float:
        """From the start of the first job to the end of the last."""
        return max(end for _, end in self.spans.values()) - min(start for start, _ in self.spans.values())

    def seconds(self) -> dict[str, float]:
        """How long each job took."""
        return {name: end - start for name, (start, end) in self.spans.items()}


def run(
    folder: Path,
    arguments: list[str],
    placeholders: int,
    done: Callable[[float], None],
    crew: Crew = local,
    server: str | None = None,
) -> Times:
    """Submits the workflow, first come first served, for so many placeholders; `done` is called for each job.

    `server`: where its store is; without one it is a file in the folder.
    """
    folder.mkdir(parents=True)
    script = folder / SCRIPT.name
    shutil.copyfile(SCRIPT, script)
    store = server or str(folder / ".headway")
    command = [sys.executable, "-m", "headway", "submit", str(script), *arguments]
    submitted = subprocess.run(  # noqa: S603
        [*command, "--store", store, "--order", "fifo", "--json"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if submitted.returncode:
        raise HeadwayError(f"the workflow cannot be submitted: {submitted.stderr.strip()}")
    workflow = WorkflowId(json.loads(submitted.stdout)["workflow"])
    database = opened(server or str(folder / ".headway/store.db"))
    with contextlib.closing(database), crew(store, placeholders, folder, [str(script), *arguments]):
        following, told = Following(database, workflow), 0
        while True:
            counts = following.look()
            done(counts[State.DONE] - told)
            told = counts[State.DONE]
            if counts[State.FAILED]:
                raise HeadwayError("a job of the experiment has failed.", f"See headway logs --store {store}.")
            if told and told == counts.total():
                break
            time.sleep(_LOOK)
        attempts = database.history.attempts(workflow)
    return Times({one.name: (one.started, one.ended) for one in attempts if one.started and one.ended})
