"""When a run has ended a command runs, or a mail is sent, if that is wanted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from email import message_from_bytes
from email.policy import default
from pathlib import Path

from headway.live.runs.hooks import End, notified
from tests.cli.test_run import script
from tests.shell import headway

END = End("wörk", 3, 1, 2, 4.25, 3, "/somewhere")


def test_a_command_is_told_how_the_run_has_ended(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true\nmqsub -l B -c 'exit 1'\nmqsub -deps B -l C -c true\n")
    names = ("NAME", "DONE", "FAILED", "SKIPPED", "EXIT_CODE", "STORE")
    hook = "echo " + " ".join(f"$HEADWAY_{name}" for name in names) + f" > {tmp_path}/told; echo talk"
    done = headway("run", str(path), "--json", "--notify", hook)
    assert done.returncode == 3 and json.loads(done.stdout)["failed"] == 1
    assert (tmp_path / "told").read_text().split() == ["w", "1", "1", "1", "3", str(tmp_path / ".headway")]
    assert "talk" in done.stderr


def test_a_command_that_fails_is_a_warning(tmp_path: Path) -> None:
    done = headway("run", str(script(tmp_path, "mqsub -l A -c true\n")), "--notify", "exit 7")
    assert done.returncode == 0 and "warning: --notify: it ended with exit code 7." in done.stderr


def sendmail(folder: Path, text: str) -> dict[str, str]:
    """A sendmail program in a folder, and an environment in which it is the one."""
    program = folder / "sendmail"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}:/usr/bin:/bin"}


def test_a_mail_goes_through_sendmail(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true\n", "wörk.sh")
    environment = sendmail(tmp_path, f'echo "$@" > {tmp_path}/words; cat > {tmp_path}/mail')
    words = [sys.executable, "-m", "headway", "run", str(path), "--mail", "me@example.org"]
    subprocess.run(words, env=environment, check=True, capture_output=True)
    assert (tmp_path / "words").read_text() == "-i -- me@example.org\n"
    mail = message_from_bytes((tmp_path / "mail").read_bytes(), policy=default)
    assert (mail["To"], mail["Subject"]) == ("me@example.org", "headway: wörk: 1 done")
    body = mail.get_body()
    assert body is not None and body.get_content().endswith(f"exit code 0.\nStore: {tmp_path}/.headway\n")


def test_a_mail_that_cannot_be_sent_is_a_warning(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true\n")
    words = [sys.executable, "-m", "headway", "run", str(path), "--mail", "me@example.org"]
    environment = sendmail(tmp_path, "exit 75")
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "warning: --mail: it ended with exit code 75." in done.stderr


def test_an_address_that_is_an_option_is_refused(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true\n")
    for address in ("-oQ/tmp", "a b", "a\nBcc: b"):
        assert headway("run", str(path), f"--mail={address}").returncode == 2


def test_a_command_that_cannot_be_started_is_told() -> None:
    (problem,) = notified(END, "echo \0", None)
    assert problem.startswith("--notify: it cannot be started")
    assert list(notified(END, "test $HEADWAY_SECONDS = 4.250", None)) == []
