"""HTCondor: condor_submit, condor_q, condor_rm."""

from __future__ import annotations

import json
from collections.abc import Sequence

from headway.live.sites.queues import Completed, Listed, Request, Status, refused, silent

NAME = "HTCondor"
_STATUS = {
    1: Status.QUEUED,
    2: Status.RUNNING,
    3: Status.ENDING,
    4: Status.ENDING,
    5: Status.HELD,
    6: Status.ENDING,  # its output is transferred
    7: Status.RUNNING,  # suspended
}


class HTCondor:
    """Keeps to queues.Queue."""

    def script(self, request: Request, command: Sequence[str]) -> str:
        """A submit description; what a word holds is quoted as HTCondor's own syntax wants it."""
        program, *arguments = command
        quoted = " ".join("'" + word.replace("'", "''").replace('"', '""') + "'" for word in arguments)
        lines = [
            "universe = vanilla",
            f"batch_name = {request.name}",
            f"executable = {program}",
            "transfer_executable = false",
            f'arguments = "{quoted}"',
            "should_transfer_files = NO",
            f"request_cpus = {request.cores}",
            f"output = {request.log}",
            f"error = {request.log}",
            f"allowed_job_duration = {request.seconds}",
            "kill_sig = SIGTERM",
            "on_exit_remove = true",
            *request.options,
            "queue",
        ]
        return "\n".join(lines) + "\n"

    def submit(self, script: str, request: Request) -> list[str]:
        return ["condor_submit", "-terse", script]

    def submitted(self, answer: Completed) -> str:
        # 12.0 - 12.0
        lines = [line.strip() for line in answer.out.splitlines() if line.strip()]
        number = lines[-1].partition(" ")[0].partition(".")[0] if lines else ""
        if answer.code != 0 or not number.isdigit():
            raise refused(NAME, answer)
        return number

    def listing(self) -> list[str]:
        return ["condor_q", "-json", "-attributes", "ClusterId,JobBatchName,JobStatus"]

    def listed(self, answer: Completed) -> list[Listed]:
        if answer.code != 0:
            raise silent(NAME, answer)
        try:
            said = json.loads(answer.out or "[]")  # nothing at all where there is no job
            return [
                Listed(str(one["ClusterId"]), str(one.get("JobBatchName", "")), _STATUS[one["JobStatus"]])
                for one in said
                if one.get("JobStatus") in _STATUS
            ]
        except (ValueError, KeyError, TypeError):
            raise silent(NAME, answer) from None

    def cancel(self, ids: Sequence[str]) -> list[str]:
        return ["condor_rm", *ids]


DIALECT = HTCondor()
