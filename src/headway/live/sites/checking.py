"""Whether a site can be used: a job is really run there, that looks whether it finds our files."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from headway.live.sites.site import Site
from headway.model.errors import HeadwayError
from headway.model.record import record

PATIENCE = 60.0  # seconds that one host may take
QUEUEING = 300.0  # seconds that a queue may let a placeholder wait


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
            done = subprocess.run(
                words, input=f"{name}\n", capture_output=True, text=True, timeout=patience, env=environment, check=False
            )
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
    return Checked(False, _last(done.stderr, site) or f"headway run ended with {done.returncode}.")


def _last(said: str, site: Site) -> str:
    """The last sentence that says what is wrong."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    wrong = [line for line in lines if line.startswith(("headway: ", "waiting: ", f"site {site.name}: "))]
    return wrong[-1].partition(": ")[2] if wrong else ""


def _late(site: Site, patience: float) -> str:
    what = "its queue let a placeholder wait" if site.queue else "nothing came of it"
    return f"{what} for {patience:.0f} s. Try again, or look there yourself."
