"""What happens when a run has ended, if its user wants that: a command runs, or a mail is sent."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

from headway.model.record import record

_USUAL = ("/usr/sbin/sendmail", "/usr/lib/sendmail")  # where it is if it is not on the path


@record
class End:
    """How a run has ended."""

    name: str
    done: int
    failed: int
    skipped: int
    seconds: float
    exit_code: int
    store: str

    def environment(self) -> dict[str, str]:
        """What a command finds beside what is there anyway."""
        return {
            "HEADWAY_NAME": self.name,
            "HEADWAY_DONE": str(self.done),
            "HEADWAY_FAILED": str(self.failed),
            "HEADWAY_SKIPPED": str(self.skipped),
            "HEADWAY_SECONDS": f"{self.seconds:.3f}",
            "HEADWAY_EXIT_CODE": str(self.exit_code),
            "HEADWAY_STORE": self.store,
        }

    def sentence(self) -> str:
        rest = f", {self.failed:,} failed" * bool(self.failed) + f", {self.skipped:,} not run" * bool(self.skipped)
        return f"{self.done:,} done{rest}"


def notified(end: End, command: str | None, address: str | None) -> Iterator[str]:
    """Runs the command and sends the mail; what went wrong with that, a sentence each: the run has ended as it has."""
    if command is not None and (problem := _ran(end, ["/bin/sh", "-c", command])):
        yield f"--notify: {problem}"
    if address is not None:
        program = shutil.which("sendmail") or next(filter(os.path.exists, _USUAL), None)
        if program is None:
            yield "--mail: there is no sendmail program here. Install one, or use --notify."
        elif problem := _ran(end, [program, "-i", "--", address], _mail(end, address)):
            yield f"--mail: {problem}"


def _ran(end: End, words: list[str], text: bytes = b"") -> str:
    """Runs a program, which may talk but not on standard output; why it failed, if it did."""
    try:
        # Not stdin=DEVNULL for no text: an empty pipe is at its end as well.
        done = subprocess.run(
            words, input=text, stdout=sys.stderr.fileno(), env=os.environ | end.environment(), check=False
        )
    except (OSError, ValueError) as error:
        return f"it cannot be started: {getattr(error, 'strerror', None) or error}."
    return f"it ended with exit code {done.returncode}." if done.returncode else ""


def _mail(end: End, address: str) -> bytes:
    from email.message import EmailMessage
    from email.policy import SMTP

    message = EmailMessage(SMTP.clone(linesep="\n", cte_type="8bit", utf8=True))
    name = "".join(c if c.isprintable() else "?" for c in end.name.encode("utf-8", "replace").decode())
    message["To"] = address
    message["Subject"] = f"headway: {name}: {end.sentence()}"
    lines = [f"{name}: {end.sentence()}, {end.seconds:.0f} s, exit code {end.exit_code}.", f"Store: {end.store}"]
    message.set_content("\n".join(lines) + "\n")
    return message.as_bytes()
