"""A job as a script for sh: what a placeholder runs that is a script itself, on a host without Headway."""

from __future__ import annotations

from shlex import quote

from headway.live.store.spec import Spec
from headway.model.messages import Lease

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "HEADWAY_FOLDER"  # where jobs run if it is set, instead of the folder of their workflow
GRACE = 5  # seconds between asking a job to end whose time is over and ending it


def environment_of(lease: Lease, id: str, spec: Spec, given: Mapping[str, str]) -> dict[str, str]:
    """What a job finds in its environment beside what its placeholder has."""
    own = {"HEADWAY_LEASE": id, "HEADWAY_JOB": lease.name, "HEADWAY_ATTEMPT": str(lease.attempt)}
    return {**given, **dict(spec.environment), **own}


def script(lease: Lease, id: str, directory: str, given: Mapping[str, str]) -> str:
    """Runs the job as Headway would: in its folder, with its environment, connected to its files, for its time."""
    spec = Spec.read(lease.spec)
    lines = ["#!/bin/sh", f"folder={quote(directory)}", f'cd "${{{FOLDER}:-$folder}}"{_inside(spec)} || exit 127']
    pairs = environment_of(lease, id, spec, given).items()
    words = ["env", *(quote(f"{name}={value}") for name, value in pairs), "/bin/sh", "-c", quote(spec.command)]
    streams = f"<{quote(spec.stdin or '/dev/null')}"
    if spec.stdout:
        streams += f" >{quote(spec.stdout)}"
    if spec.stderr and spec.stderr == spec.stdout:
        streams += " 2>&1"
    elif spec.stderr:
        streams += f" 2>{quote(spec.stderr)}"
    line = f"{' '.join(words)} {streams}"
    if lease.time is not None:
        limit = f"exec timeout -k {GRACE} {max(1, round(lease.time))}"
        lines.append(f"command -v timeout >/dev/null && {limit} {line}")
    return "\n".join([*lines, f"exec {line}", ""])


def _inside(spec: Spec) -> str:
    return f" && cd {quote(spec.directory)}" if spec.directory else ""
