"""Files of a site that does not share ours: what is said to be wrong with them, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headway.live.sites.frames import Folder, Seen
from headway.live.sites.front_files import answered
from headway.live.sites.site import Site
from headway.live.sites.staging import Staging
from headway.live.store.files import Declared
from tests.contracts.crew import Crew, flow

if TYPE_CHECKING:
    from headway.live.sites.frames import Control


class Far:
    """A site in the same file system, and the jobs a and b, each of which needs a file of its name."""

    def __init__(self, folder: Path) -> None:
        here, self.there = folder / "here", folder / "there"
        for one in (here, self.there):
            one.mkdir()
        workflow_of_two = flow("ab")
        workflow_of_two.directory = str(here)
        self.crew = Crew.on(str(folder / "store.db"), workflow_of_two)
        store, workflow = self.crew.store, self.crew.workflow
        jobs = {job.name: job.job for job in store.progress.jobs(workflow)}
        for name in jobs:
            (here / name).write_text(name)
        store.files.declare(workflow, [(number, Declared((name,))) for name, number in jobs.items()])
        self.crew.take(2)
        self._said: list[Control] = []
        self.staging = Staging(
            *(store, Site("far", directory=str(self.there)), folder, lambda workflow: str(self.there)),
            *(self._said.append, lambda workflow: None),
        )

    def blocked(self, name: str) -> Path:
        """A file that cannot be written there: its part is a link, through which nothing is written."""
        part = self.there / f"{name}.headway-part"
        part.symlink_to(self.there / "elsewhere")
        return part

    def send(self, *names: str) -> None:
        """Has what these jobs need sent, as far as that goes."""
        self.staging.hold_back([self.crew.leases[name] for name in names])
        while self._said:
            message = self._said.pop(0)
            if isinstance(message, Folder):
                continue
            answer = answered(message)  # type: ignore[arg-type]
            assert isinstance(answer, Seen)
            self.staging.copying.heard(answer.seen, answer)

    def ready(self) -> list[str]:
        return [lease.name for lease in self.staging.ready()]


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Far]:
    found = Far(tmp_path)
    yield found
    found.crew.store.close()


def test_a_file_that_cannot_be_sent_stays_told_though_others_can(far: Far) -> None:
    far.blocked("a")
    far.send("a", "b")
    assert far.ready() == ["b"]
    assert "Too many levels of symbolic links" in far.staging.trouble


def test_it_stays_told_while_its_job_goes_back_and_until_something_is_copied(far: Far) -> None:
    part = far.blocked("a")
    far.send("a")
    far.staging.copying.retry()
    (given_back,) = far.staging.failed()
    assert given_back[0] == far.crew.leases["a"].id
    assert "Too many levels of symbolic links" in far.staging.trouble
    part.unlink()
    far.send("a")
    assert far.ready() == ["a"] and not far.staging.trouble


def test_of_a_job_that_is_called_off_nothing_is_told_any_more(far: Far) -> None:
    far.blocked("a")
    far.send("a")
    far.staging.drop([far.crew.leases["a"].id])
    assert not far.staging.trouble
