"""What a PROVISIONER node calls to say that it is ready: HTCondor's condor_chirp, as far as that can be had here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from headway.live.home.folder import Home
from headway.model.errors import InputError
from headway.model.workflow import Workflow

# In the path of jobs; with a path of its own, or through Python, only HTCondor's can be meant, which needs HTCondor.
_OWN = re.compile(r"/condor_chirp\b|\bhtchirp\b")
_MOST = 1 << 20  # characters of a script that are looked at
_CHIRP = """\
#!/bin/sh
# Stands in for HTCondor's program of this name: what a job says of itself goes to Headway.
case $1 in
set_job_attr | set_job_attr_delayed)
    [ $# = 3 ] && exec mqstatus "$2=$3"
    ;;
esac
echo "condor_chirp: only set_job_attr NAME VALUE can be done here, not: $*" >&2
exit 1
"""


def chirping(home: Home) -> str:
    """The folder with a condor_chirp that works here."""
    folder = home.folder / "bin"
    folder.mkdir(0o700, exist_ok=True)
    program = folder / "condor_chirp"
    if not program.exists() or program.read_text() != _CHIRP:
        program.write_text(_CHIRP)
        program.chmod(0o700)
    return str(folder)


def refuse_own_chirp(workflow: Workflow, line: int) -> None:
    """Refuses a provisioner that calls what only HTCondor has: the rest of the DAG would wait for it for ever."""
    assert workflow.provisioner is not None
    job = workflow.provisioner.jobs[0]
    for path, number, text in _lines(workflow, job.command or "", job.setting.directory, line):
        if _OWN.search(text):
            what = f"the provisioner calls {_OWN.search(text)[0].lstrip('/')} of HTCondor itself, which is not there."  # type: ignore[index]
            fix = "Call condor_chirp without a path, or write: mqstatus ProvisionerState=2"
            raise InputError(path, number, what, fix)


def _lines(workflow: Workflow, command: str, directory: str | None, line: int) -> Iterator[tuple[str, int, str]]:
    """The lines of what a command runs: its own, and those of the scripts that it names."""
    yield workflow.source, line, command
    folder = Path(workflow.source).parent / (directory or "")
    try:
        words = shlex.split(command)
    except ValueError:
        return
    for word in words:
        try:
            with (folder / word).open("rb") as stream:
                if stream.read(2) != b"#!":
                    continue
                text = stream.read(_MOST).decode(errors="replace")
        except (OSError, ValueError):
            continue
        for number, script_line in enumerate(text.split("\n"), 1):
            yield str(folder / word), number, script_line.partition("#")[0] if number > 1 else ""
