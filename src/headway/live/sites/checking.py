"""Whether a site can be used: a job is really run there, that looks whether it finds our files."""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from headway.live.sites.site import Site
from headway.model.errors import HeadwayError
from headway.model.record import record

PATIENCE = 60.0  # seconds that one host may take
QUEUEING = 300.0  # seconds that a queue may let a placeholder wait
INSISTING = 20.0  # seconds after which what is wrong will not pass by itself
LOOK = 1.0  # seconds between two looks at what the run has said


@record
class Checked:
    """What came of it."""

    ok: bool
    problem: str = ""  # and what to do


def checked(site: Site) -> Checked:
    """Runs one job at a site, in a store of its own; what is wrong, if it does not come to its end."""
    try:
        mark = tempfile.NamedTemporaryFile(prefix=".headway-check-", dir=".", delete=False)  # noqa: SIM115 - looked for
    except OSError as error:
        what = f"no file can be made in this folder, for a job at the site to find: {error.strerror}."
        raise HeadwayError(what, "Go to a folder of yours, and check from there.") from None
    mark.close()
    name = Path(mark.name).name
    look = ["true", "{}"] if site.directory else ["test", "-e", "{}"]
    patience = QUEUEING if site.queue else PATIENCE
    try:
        with tempfile.TemporaryDirectory(prefix="headway-check-", ignore_cleanup_errors=True) as folder:
            words = [
                sys.executable,
                "-P",
                "-m",
                "headway",
                "run",
                "--array",
                "-",
                "--store",
                f"{folder}/store",
                "--json",
            ]
            words += ["--site", site.name, "--", *look]
            environment = {key: value for key, value in os.environ.items() if not key.startswith("HEADWAY_")}
            done = _run(words, f"{name}\n", environment, patience)
    except subprocess.TimeoutExpired as late:
        said = late.stderr.decode(errors="replace") if isinstance(late.stderr, bytes) else late.stderr or ""
        return Checked(False, _last(said, site) or _late(site, patience))
    finally:
        with contextlib.suppress(OSError):
            Path(mark.name).unlink()
    if done.returncode == 0:
        return Checked(True)
    with contextlib.suppress(ValueError, KeyError, IndexError):
        if json.loads(done.stdout)["failures"][0]["exit_code"] == 1:
            way = f"Write directory = … for site {site.name}, not shared = true."
            return Checked(False, f"it does not have the files of this folder. {way}")
    problem = _last(done.stderr, site) or _end_of(done.stderr) or f"headway run ended with {done.returncode}."
    return Checked(False, problem)


def _run(
    words: Sequence[str], given: str | None, environment: Mapping[str, str], patience: float
) -> subprocess.CompletedProcess[str]:
    """A run to its end. TimeoutExpired: it takes too long, or waits for what will not come."""
    pipe, deadline, since = subprocess.PIPE, time.monotonic() + patience, math.inf
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)
    try:
        while True:
            try:
                out, said = process.communicate(given, LOOK)
            except subprocess.TimeoutExpired as late:
                given, now = None, time.monotonic()  # it has it by now
                is_waiting = isinstance(late.stderr, bytes) and _is_waiting(late.stderr.decode(errors="replace"))
                since = min(since, now) if is_waiting else math.inf
                if now >= deadline or now >= since + INSISTING:
                    raise
            else:
                return subprocess.CompletedProcess(words, process.returncode, out, said)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def _is_waiting(said: str) -> bool:
    """Whether a run has said last that it waits for something to be mended."""
    lines = [line for line in said.splitlines() if line.startswith(("waiting: ", "going on."))]
    return bool(lines) and lines[-1].startswith("waiting: ")


def _last(said: str, site: Site) -> str:
    """The last sentence that says what is wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    wrong = [line for line in lines if line.startswith(("headway: ", "waiting: ", f"site {site.name}: "))]
    return wrong[-1].partition(": ")[2] if wrong else ""


def _end_of(said: str) -> str:
    """What a run that failed has said last; of the log of a site's process that it shows, the sentence alone."""
    lines = said.strip().splitlines()
    return lines[-1].rpartition(" ends with: ")[2].removeprefix("headway: ") if lines else ""


def _late(site: Site, patience: float) -> str:
    if not site.queue:
        return f"nothing came of it for {patience:.0f} s. Try again, or look there yourself."
    from headway.live.sites.queues import WHY

    why = (
        f"What {WHY[site.queue]} tells there may be the reason: no cores, or a site of more cores or time than it has."
    )
    return f"its queue let a placeholder wait for {patience:.0f} s. {why}"
