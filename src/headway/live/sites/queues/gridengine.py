"""Grid Engine (Sun, Univa, Son of): qsub, qstat, qdel."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import join

from headway.live.sites.queues import Completed, Listed, Request, Status, refused, silent

NAME = "Grid Engine"
ENVIRONMENT = "smp"  # the parallel environment for several cores of one host; an option -pe in `options` counts instead


class GridEngine:
    """Keeps to queues.Queue."""

    launcher: tuple[str, ...] = ()

    def script(self, request: Request, command: Sequence[str]) -> str:
        lines = [
            "#!/bin/sh",
            "#$ -S /bin/sh",
            f"#$ -N {request.name}",
            "#$ -j y",
            f"#$ -o {request.log}",
            f"#$ -l h_rt={request.seconds}",
            "#$ -r n",
            "#$ -notify",  # SIGUSR2 some time before SIGKILL
            f"exec {join(command)}",
        ]
        if request.cores > 1 and "-pe" not in request.options:
            lines.insert(6, f"#$ -pe {ENVIRONMENT} {request.cores}")
        return "\n".join(lines) + "\n"

    def submit(self, script: str, request: Request) -> list[str]:
        return ["qsub", "-terse", *request.options, "-N", request.name, script]

    def submitted(self, answer: Completed) -> str:
        lines = [line.strip() for line in answer.out.splitlines() if line.strip()]
        if answer.code != 0 or not lines or not lines[-1].partition(".")[0].isdigit():
            raise refused(NAME, answer)
        return lines[-1].partition(".")[0]

    def listing(self) -> list[str]:
        return ["qstat", "-xml", "-u", "*"]

    def listed(self, answer: Completed) -> list[Listed]:
        from xml.etree import ElementTree

        if answer.code != 0:
            raise silent(NAME, answer)
        try:
            tree = ElementTree.fromstring(answer.out)  # noqa: S314 - the user's own queue says it
        except ElementTree.ParseError:
            raise silent(NAME, answer) from None
        found = list[Listed]()
        for job in tree.iter("job_list"):
            number, name, state = (job.findtext(key, "") for key in ("JB_job_number", "JB_name", "state"))
            if number.isdigit():
                found.append(Listed(number, name, _status(state)))
        return found

    def cancel(self, ids: Sequence[str]) -> list[str]:
        return ["qdel", *ids]


def _status(state: str) -> Status:
    """Letters: d deleted, E error, h held, q queued, w waiting, r running, t transferring, s S T suspended.

    What runs may be held as well: that counts once it is put back.
    """
    if "d" in state:
        return Status.ENDING
    if "E" in state or ("h" in state and "q" in state):
        return Status.HELD
    return Status.QUEUED if "q" in state else Status.RUNNING


DIALECT = GridEngine()
