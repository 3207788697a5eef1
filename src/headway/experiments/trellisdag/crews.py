"""Where the placeholders of a run are: on this computer, as scripts, in a batch queue, or at a site of headway.toml."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from fnmatch import fnmatchcase
from pathlib import Path
from shlex import join
from typing import Protocol

from headway.live import placeholder
from headway.live.home.settings import settings
from headway.live.sites.named import named_sites
from headway.live.sites.site import Site
from headway.model.errors import HeadwayError
from headway.model.record import record

_END = 30.0  # seconds for placeholders to leave
_HEAD = {
    "slurm": ["#SBATCH --job-name={name}", "#SBATCH --ntasks=1", "#SBATCH --time=60", "#SBATCH --output=/dev/null"],
    "gridengine": ["#$ -N {name}", "#$ -S /bin/sh", "#$ -V", "#$ -j y", "#$ -o /dev/null", "#$ -r n"],
}
_SUBMIT = {"slurm": ["sbatch", "--parsable"], "gridengine": ["qsub", "-terse"]}
_CANCEL = {"slurm": ["scancel", "--name={name}"], "gridengine": ["qdel", "{name}"]}


class Crew(Protocol):
    """Placeholders somewhere, for as long as this lasts."""

    def __call__(self, store: str, count: int, folder: Path, script: Sequence[str]) -> AbstractContextManager[None]:
        """`folder`: for what they keep; `script`: the workflow's file, which was submitted, and its arguments."""


@record
class Place:
    """A crew, and how a report calls it."""

    crew: Crew
    said: str  # "{count}" stands for how many there are


def place(name: str) -> Place:
    """The crew of that name; what is none of ours is a site of headway.toml, or a pattern that fits some (lab-*)."""
    here = "{count} placeholders of one slot on this computer"
    if name == "local":
        return Place(local, here)
    if name == "scripts":
        return Place(scripts, "{count} times placeholder.sh on this computer")
    queue, _, kind = name.rpartition("-")
    if kind == "scripts" and queue in _SUBMIT:
        return Place(in_queue(queue), f"{{count}} times placeholder.sh in {queue}, one job each and submitted again")
    sites = named_sites([known for known in settings().sites if fnmatchcase(known, name)] or [name])
    return Place(at_sites(sites), _said(sites, name))


@contextlib.contextmanager
def local(store: str, count: int, folder: Path, script: Sequence[str]) -> Iterator[None]:
    """So many placeholders of one slot on this computer, as `headway placeholder` starts them."""
    command = [sys.executable, "-m", "headway", "placeholder", "--store", store, "--slots", "1"]
    with _begun([command] * count, folder):
        yield


@contextlib.contextmanager
def scripts(store: str, count: int, folder: Path, script: Sequence[str]) -> Iterator[None]:
    """The same as scripts, which call the services for each job."""
    with _begun([_script(store, folder)] * count, folder):
        yield


def in_queue(queue: str) -> Crew:
    """Scripts in a batch queue: each takes one job and submits itself again, as in the paper."""

    @contextlib.contextmanager
    def crew(store: str, count: int, folder: Path, script: Sequence[str]) -> Iterator[None]:
        name = f"headway-{os.getpid()}-{folder.name}"
        job = folder / "placeholder.job"
        submit = [*_SUBMIT[queue], str(job)]
        head = [line.format(name=name) for line in _HEAD[queue]]
        words = join([*_script(store, folder), "-r", join(submit)])
        job.write_text("\n".join(["#!/bin/sh", *head, f"exec {words} 2>>{folder}/placeholders.log", ""]))
        try:
            for _ in range(count):
                done = subprocess.run(submit, capture_output=True, text=True, check=False)  # noqa: S603
                if done.returncode:
                    raise HeadwayError(f"{queue} refuses a placeholder: {done.stderr.strip()}")
            yield
        finally:
            cancel = [word.format(name=name) for word in _CANCEL[queue]]
            subprocess.run(cancel, capture_output=True, check=False)  # noqa: S603

    return crew


def at_sites(sites: Sequence[Site]) -> Crew:
    """Placeholders that Headway starts at sites, for a run that waits for them here."""

    @contextlib.contextmanager
    def crew(store: str, count: int, folder: Path, script: Sequence[str]) -> Iterator[None]:
        words = ["run", *script, "--store", store, "--order", "fifo"]
        words += [word for site in sites for word in ("--site", site.name)]
        with _begun([[sys.executable, "-m", "headway", *words]], folder):
            yield

    return crew


def _said(sites: Sequence[Site], name: str) -> str:
    """How many placeholders there may be, and of how many slots."""
    first = sites[0]
    if first.queue:
        many, slots, where = first.allocations, first.cores, f"one in each allocation of the site {name}"
    else:
        many, slots, where = len(sites), first.slots, f"one at each of the sites {name}"
    if many == 1:
        return f"One placeholder of {_slots(slots)} at the site {name}"
    return f"{many} placeholders of {_slots(slots)}, {where}"


def _slots(count: int) -> str:
    return {0: "a slot for each core", 1: "one slot"}.get(count, f"{count} slots")


def _script(store: str, folder: Path) -> list[str]:
    file = Path(placeholder.__path__[0], "placeholder.sh")
    services = Path(sys.executable).parent
    return ["sh", str(file), "-b", str(services), "-p", store, "-l", str(folder / "own"), "-w", "1", "-k", "0"]


@contextlib.contextmanager
def _begun(commands: Sequence[Sequence[str]], folder: Path, **more: str) -> Iterator[None]:
    """Processes that are asked to leave at the end."""
    around: Mapping[str, str] = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), **more}
    begun = []
    with (folder / "placeholders.log").open("w") as log:
        try:
            for command in commands:
                begun.append(
                    subprocess.Popen(  # noqa: S603
                        command, env=around, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                    )
                )
            yield
        finally:
            for one in begun:
                with contextlib.suppress(ProcessLookupError):
                    one.send_signal(signal.SIGTERM)  # SIGINT is ignored by what a script has put into the background
            for one in begun:
                try:
                    one.wait(_END)
                except subprocess.TimeoutExpired:
                    one.kill()
                    one.wait()
