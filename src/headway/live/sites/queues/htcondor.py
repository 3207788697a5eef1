"""HTCondor: condor_submit, condor_q, condor_rm. The pool's machines must have the files of the one that submits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from shlex import join

from headway.live.sites.queues import Completed, Listed, Request, Status, refused, silent

NAME = "HTCondor"
NOTICE = 60  # seconds between SIGTERM and SIGKILL, if the pool allows as many
_STATUS = {
    1: Status.QUEUED,
    2: Status.RUNNING,
    3: Status.ENDING,  # removed
    4: Status.ENDING,  # completed
    5: Status.HELD,
    6: Status.ENDING,  # its output is transferred
    7: Status.RUNNING,  # suspended
}


class HTCondor:
    """Keeps to queues.Queue."""

    launcher: tuple[str, ...] = ()

    def script(self, request: Request, command: Sequence[str]) -> str:
        """A submit description. A job has hardly any environment there: a login shell gives it the host's."""
        too_long = f"JobStatus == 2 && time() - EnteredCurrentStatus > {request.seconds}"
        lines = [
            "universe = vanilla",
            f"batch_name = {request.name}",
            "executable = /bin/sh",
            "transfer_executable = false",
            f"arguments = {_arguments('-l', '-c', f'exec {join(command)}')}",
            "should_transfer_files = no",
            f"request_cpus = {request.cores}",
            f"output = {_plain(request.log)}",
            f"error = {_plain(request.log)}",
            "notification = never",
            "kill_sig = SIGTERM",
            "want_graceful_removal = true",
            f"job_max_vacate_time = {NOTICE}",
            f"periodic_remove = {too_long}",  # HTCondor itself knows no limit
            "queue",
        ]
        return "\n".join(lines) + "\n"

    def submit(self, script: str, request: Request) -> list[str]:
        return ["condor_submit", "-terse", *request.options, "-batch-name", request.name, script]

    def submitted(self, answer: Completed) -> str:
        # 12.0 - 12.0
        lines = [line.strip() for line in answer.out.splitlines() if line.strip()]
        number = lines[-1].partition(".")[0] if lines else ""
        if answer.code != 0 or not number.isdigit():  # what is wrong is said over several lines
            raise refused(NAME, Completed(answer.code, "", " ".join(f"{answer.said} {answer.out}".split())))
        return number

    def listing(self) -> list[str]:
        return ["condor_q", "-json", "-attributes", "ClusterId,JobBatchName,JobStatus,HoldReason"]

    def listed(self, answer: Completed) -> list[Listed]:
        if answer.code != 0:
            raise silent(NAME, answer)
        try:
            found = [
                (str(one["ClusterId"]), str(one.get("JobBatchName", "")), one["JobStatus"], _why(one.get("HoldReason")))
                for one in json.loads(answer.out.strip() or "[]")  # nothing at all where there is no job
            ]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise silent(NAME, answer) from None
        return [Listed(number, name, _STATUS[status], why) for number, name, status, why in found if status in _STATUS]

    def cancel(self, ids: Sequence[str]) -> list[str]:
        return ["condor_rm", *ids]


def _why(reason: object) -> str:
    """Why a job is held, as one line without a full stop."""
    return " ".join(str(reason or "").split()).rstrip(".")


def _arguments(*words: str) -> str:
    """Words as the value of `arguments`: in double quotes, each in single ones, and both doubled inside."""
    quoted = ("'" + word.replace("'", "''").replace('"', '""') + "'" for word in words)
    return _plain('"' + " ".join(quoted) + '"')


def _plain(text: str) -> str:
    """Text in which HTCondor finds no macro."""
    return text.replace("$", "$(DOLLAR)")


DIALECT = HTCondor()
