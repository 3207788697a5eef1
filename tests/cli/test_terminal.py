"""Names, commands and messages from a workflow are shown so that they command no terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from headway.cli.display.terminal import harmless, one_line
from tests.shell import headway

# A colour, the title of a window, the one-byte form of ESC [, the direction of text, other ends of lines.
EVIL = "a\x1b[31mb\x1b]0;owned\x07c\x9b2Jd\u202ee\u2066f\u200fg\u061ch\u2028i\u2029j\rk\x7fl"
SHOWN = (
    r"a\x1b[31mb\x1b]0;owned\x07c\x9b2Jd\u202ee\u2066f\u200fg\u061ch\u2028i\u2029j\x0dk\x7fl"  # what people see of it
)


def commands_a_terminal(text: str) -> list[str]:
    """What in a text a terminal would obey, would order its text by, or would not show at all."""
    kinds = ("Cc", "Cf", "Zl", "Zp")
    return [c for c in text if unicodedata.category(c) in kinds and c not in "\n\t\u200c\u200d"]


def test_what_controls_a_terminal_is_escaped() -> None:
    assert harmless(EVIL) == SHOWN and one_line(f"{EVIL}\nx") == f"{SHOWN} x"
    assert harmless("naïve – 名前 עברית العربية 👩\u200d💻\ttab\n") == "naïve – 名前 עברית العربية 👩\u200d💻\ttab\n"
    every = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    assert not commands_a_terminal(harmless(every))


@pytest.mark.parametrize(
    ("hidden", "seen"),
    [
        ("\ufeff", r"\ufeff"),
        ("\u00ad\u180e\u200b\u2060", r"\xad\u180e\u200b\u2060"),
        ("\U000e0001\U000e0068\U000e0069\U000e007f", r"\U000e0001\U000e0068\U000e0069\U000e007f"),
        ("\ufe00\U000e0100\U000e01ef", r"\ufe00\U000e0100\U000e01ef"),
        ("\u034f\u115f\u1160\u3164\uffa0", r"\u034f\u115f\u1160\u3164\uffa0"),
    ],
    ids=["byte order mark", "spaces of no width", "tags", "variation selectors", "fillers"],
)
def test_what_nobody_sees_is_escaped(hidden: str, seen: str, tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text(f"mqsub -l 'A{hidden}' -c 'true'\n")
    assert f"A{seen}" in headway("show", "w.sh", cwd=tmp_path).stdout


@pytest.mark.parametrize("text", ["❤\ufe0f\u200d🔥", "☎\ufe0e", "می\u200cخواهم", "क्\u200dष", "1\u00a0kg\u3000名前"])
def test_what_ordinary_text_needs_is_not(text: str) -> None:
    assert harmless(text) == text


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workflow all of whose names and texts are hostile; it has run, and one of its jobs has failed."""
    folder = tmp_path_factory.mktemp("evil")
    script = f"""\
from headway import Workflow
evil = {EVIL!r}
workflow = Workflow(evil)
quoted = "'" + evil + "'"
one = workflow.job(evil, "echo " + quoted, outputs=[evil + ".out"], stdout=evil + ".txt", environment={{"E": evil}})
group = workflow.group("group " + evil, after=one)
group.job("fails " + evil, "echo " + quoted + "; false # " + evil)
workflow.job("after " + evil, "true # " + evil, after=group)
"""
    (folder / "w.py").write_text(script)
    done = headway("run", "w.py", cwd=folder)
    assert done.returncode == 3, done.stderr
    assert not commands_a_terminal(done.stdout + done.stderr)
    assert SHOWN[:20] in done.stderr
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["show", "w.py"],
        ["show", "w.py", "--job", EVIL],
        ["show", "w.py", "--job", f"no {EVIL}"],
        ["order", "w.py", "--by", EVIL],
        ["run", "w.py"],
        ["run", "w.py", "--retry"],
        ["run", "w.py", "--dry-run"],
        ["run", "w.py", "--until", EVIL],
        ["run", "w.py", "--until", f"no {EVIL}"],
        ["run", f"{EVIL}.dag"],
        ["run", "--array", "evil.txt", "--", "false"],
        ["status"],
        ["status", "--store", EVIL],
        ["explain", f"after {EVIL}"],
        ["explain", f"group {EVIL}/fails {EVIL}"],
        ["explain", EVIL],
        ["explain", f"no {EVIL}"],
        ["history"],
        ["history", "--workflow", EVIL],
        ["logs", f"no {EVIL}"],
        ["logs", f"after {EVIL}"],
        ["runs"],
        ["clean", "--dry-run"],
        ["attach"],
        ["disable", f"after {EVIL}"],
        ["enable", f"after {EVIL}"],
        ["redo", f"no {EVIL}"],
        ["stop", f"after {EVIL}"],
        ["simulate", "grid", "w.py", "--runs", "2"],
        ["convert", "w.py", "--to", "dagman", "-o", "out.dag"],
        ["show", "evil.dag"],
        ["run", "evil.dag"],
        ["prio", "evil.dag"],
        ["prio", "good.dag"],
        [EVIL],
        ["show", f"--{EVIL}"],
        ["run", "w.py", "--slots", EVIL],
        ["run", "w.py", "--resource", EVIL],
    ],
    ids=lambda words: " ".join(words).replace(EVIL, "EVIL"),
)
def test_every_command_shows_hostile_names_escaped(ran: Path, words: list[str]) -> None:
    (ran / "evil.dag").write_text(f"JOB {EVIL.replace(' ', '')} a.sub\nPARENT x CHILD {EVIL}\n{EVIL}\n")
    (ran / "good.dag").write_text("JOB \x1b[31mA\u202e a.sub\n")
    (ran / "evil.txt").write_text(f"{EVIL}\n")
    done = headway(*words, cwd=ran)
    assert done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert not commands_a_terminal(done.stdout + done.stderr), (done.stdout, done.stderr)


def test_so_does_logs_of_all_jobs_though_a_pipe_gets_what_they_printed(ran: Path) -> None:
    done = headway("logs", "--workflow", "1", cwd=ran)
    assert SHOWN in done.stderr and not commands_a_terminal(done.stderr)
    assert EVIL.replace("\r", "\n") in done.stdout


@pytest.mark.parametrize("program", ["mqstat", "mqdump", "mqstatus", "mqtranslate", "mqsub"])
def test_so_do_the_commands_by_their_old_names(ran: Path, program: str) -> None:
    for words in ([], [EVIL], ["w.py"], ["-l", EVIL]):
        done = headway(*words, cwd=ran, program=program)
        assert not commands_a_terminal(done.stdout + done.stderr), (words, done.stdout, done.stderr)


def at_a_terminal(*words: str, cwd: Path) -> str:
    """What a terminal gets to read."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "headway", *words], cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    found = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        found += piece
    os.close(ours)
    process.wait()
    return found.decode().replace("\r\n", "\n")


def test_what_is_data_is_escaped_at_a_terminal_and_as_it_is_elsewhere(ran: Path) -> None:
    for words in (["order", "w.py"], ["convert", "w.py", "--to", "flat"], ["prio", "good.dag", "--dry-run"]):
        (ran / "good.dag").write_text("JOB \x1b[31mA\u202e a.sub\n")
        (ran / "a.sub").write_text("executable = /bin/true\nqueue\n")
        assert commands_a_terminal(headway(*words, cwd=ran).stdout), words
        assert not commands_a_terminal(at_a_terminal(*words, cwd=ran)), words


def everything(terminal: int) -> bytes:
    """What was printed to a terminal that its last writer has closed."""
    found = b""
    with contextlib.suppress(OSError):  # which is how its end is told
        while part := os.read(terminal, 65536):
            found += part
    return found


def test_logs_are_the_bytes_of_the_job_and_at_a_terminal_only_colours_are_obeyed(tmp_path: Path) -> None:
    printed = b"\x1b[1;31mred\x1b[0m \xff 10%\r20%\n\x1b]0;owned\x07\x1b[2J\xe2\x80\xaebidi\x1b"
    (tmp_path / "printed").write_bytes(printed)
    (tmp_path / "w.sh").write_text("mqsub -l A -c 'cat printed'\n")
    assert headway("run", "w.sh", cwd=tmp_path).returncode == 0
    words = [sys.executable, "-m", "headway", "logs", "A"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout == printed
    ours, theirs = pty.openpty()
    subprocess.run(words, cwd=tmp_path, stdout=theirs, stdin=subprocess.DEVNULL, check=True)
    os.close(theirs)
    shown = everything(ours)
    os.close(ours)
    expected = b"\x1b[1;31mred\x1b[0m \xff 10%\r20%\r\n\\x1b]0;owned\\x07\\x1b[2J\\u202ebidi\\x1b\x1b[m"
    assert shown == expected


def test_json_stays_json(ran: Path) -> None:
    done = headway("show", "w.py", "--job", EVIL, "--json", cwd=ran)
    assert json.loads(done.stdout)["job"] == EVIL
