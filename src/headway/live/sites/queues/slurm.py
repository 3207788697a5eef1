"""Slurm: sbatch, squeue, scancel."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import join, quote

from headway.live.sites.queues import Completed, Listed, Request, Status, refused, silent

NAME = "Slurm"
NOTICE = 20  # seconds before the end of its time that the placeholder is told
_STATUS = {
    "PENDING": Status.QUEUED,
    "REQUEUED": Status.QUEUED,
    "REQUEUE_FED": Status.QUEUED,
    "REQUEUE_HOLD": Status.HELD,
    "SPECIAL_EXIT": Status.HELD,
    "RESV_DEL_HOLD": Status.HELD,
    "CONFIGURING": Status.RUNNING,
    "RUNNING": Status.RUNNING,
    "SUSPENDED": Status.RUNNING,
    "STOPPED": Status.RUNNING,
    "RESIZING": Status.RUNNING,
    "SIGNALING": Status.RUNNING,
    "STAGE_OUT": Status.ENDING,
    "COMPLETING": Status.ENDING,
}
# Listed where SQUEUE_STATES says so. A state that nobody here knows is one of an allocation that is not over, and may
# run: else it could be cancelled as one that was put back.
_OVER = frozenset(
    [
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
    ]
)
_HELD = ("JobHeld", "JobHold")  # what the reasons of held ones begin with: JobHeldUser, JobHoldMaxRequeue


class Slurm:
    """Keeps to queues.Queue."""

    # Where one of them fails, all end.
    launcher = (
        *("srun", "--nodes={nodes}", "--ntasks={nodes}", "--ntasks-per-node=1", "--cpus-per-task={cores}"),
        "--kill-on-bad-exit=1",
    )

    def script(self, request: Request, command: Sequence[str]) -> str:
        minutes = max(1, -(-request.seconds // 60))  # its limits are whole minutes, and 0 is none at all
        lines = [
            "#!/bin/sh",
            f"#SBATCH --job-name={request.name}",
            f"#SBATCH --nodes={request.nodes} --ntasks-per-node=1",
            f"#SBATCH --cpus-per-task={request.cores}",
            f"#SBATCH --time={minutes}",
            f"#SBATCH --output={quote(request.log.replace('%', '%%'))}",
            "#SBATCH --no-requeue",
            f"#SBATCH --signal=B:TERM@{NOTICE}",
            f"exec {join(command)}",
        ]
        return "\n".join(lines) + "\n"

    def submit(self, script: str, request: Request) -> list[str]:
        return ["sbatch", "--parsable", *request.options, f"--job-name={request.name}", script]

    def submitted(self, answer: Completed) -> str:
        # 123, or 123;cluster; sites print other things before it.
        lines = [line.strip().partition(";")[0] for line in answer.out.splitlines() if line.strip()]
        if answer.code != 0 or not lines or not lines[-1].isdigit():
            raise refused(NAME, answer)
        return lines[-1]

    def listing(self) -> list[str]:
        return ["squeue", "--me", "--noheader", "--format=%A|%j|%T|%r"]

    def listed(self, answer: Completed) -> list[Listed]:
        if answer.code != 0:
            raise silent(NAME, answer)
        found = list[Listed]()
        for line in answer.out.splitlines():
            parts = line.strip().split("|")
            if len(parts) == 4 and parts[0].isdigit() and parts[2] not in _OVER:
                number, name, state, reason = parts
                why = reason if state == "PENDING" and reason != "None" else ""
                status = Status.HELD if why.startswith(_HELD) else _STATUS.get(state, Status.RUNNING)
                found.append(Listed(number, name, status, why))
        return found

    def cancel(self, ids: Sequence[str]) -> list[str]:
        return ["scancel", *ids]


DIALECT = Slurm()
