"""Shell scripts that are more than lines of mqsub, run by sh with an mqsub that notes its calls."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headway import read
from headway.live.reading.collect import collect
from headway.model.errors import InputError
from tests.shell import headway


def script(folder: Path, text: str, name: str = "w.sh") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_loops_variables_and_arguments_work(tmp_path: Path) -> None:
    path = script(
        tmp_path, 'before=\nfor i in "$@"; do\n\tbefore=$(mqsub -deps "$before" -l "g$i" -c "./$i.sh")\ndone\n'
    )
    workflow = read(path, "1", "2", "3")
    assert workflow.format == "flat"
    assert [group.jobs[0].command for group in workflow.groups] == ["./1.sh", "./2.sh", "./3.sh"]
    assert workflow.groups.parents_of() == {"g2": ["g1"], "g3": ["g2"]}


def test_a_script_is_known_by_its_first_line_whatever_its_name_and_indentation(tmp_path: Path) -> None:
    path = script(tmp_path, "#!/bin/sh\nfor i in 1 2; do\n\tmqsub -l $i -c x\ndone\n", "submit")
    assert read(path).format == "flat"


def test_a_plain_script_is_not_run_even_with_arguments(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c 'touch ran'\n")
    assert len(read(path, "x").groups) == 1
    assert list(tmp_path.iterdir()) == [Path(path)]


def test_the_script_runs_in_its_own_folder_as_the_program_it_is(tmp_path: Path) -> None:
    script(tmp_path, "mqsub -l part -c part", "part.sh")
    path = script(tmp_path, '. ./part.sh; mqsub -l "$(basename "$0")" -c "$(pwd)"\n')
    workflow = read(path)
    assert [group.name for group in workflow.groups] == ["part", "w.sh"]
    assert workflow.groups.groups[1].jobs[0].command == str(tmp_path)


def test_words_reach_the_workflow_byte_for_byte(tmp_path: Path) -> None:
    nasty = 'it\'s "so" \\ $HOME é\n\ttwo \\0 %s -n'
    path = tmp_path / "w.sh"
    path.write_bytes(b"x=1\nmqsub -l A -c '" + nasty.replace("'", "'\\''").encode() + b"\xff'\n")
    assert read(path).groups.groups[0].jobs[0].command == nasty + "\udcff"


def test_calls_of_other_programs_are_noted_too_in_order_and_whole(tmp_path: Path) -> None:
    long = "x" * 100_000
    rules = "".join(f"g{i}:\n\t@mqsub -l g{i} -c 'echo {long}'\n" for i in range(40))
    script(tmp_path, f"all: {' '.join(f'g{i}' for i in range(40))}\n{rules}", "rules.mk")
    path = script(tmp_path, "make -s -j 8 -f rules.mk\nfor i in 1 2 3 4 5; do mqsub -l last -c $i; done\n")
    workflow = read(path)
    assert {group.name for group in workflow.groups} == {*(f"g{i}" for i in range(40)), "last"}
    assert all(group.jobs[0].command == f"echo {long}" for group in workflow.groups.groups[:-1])
    assert [job.command for job in workflow.groups.groups[-1].jobs] == ["1", "2", "3", "4", "5"]


def test_calls_in_the_background_are_waited_for(tmp_path: Path) -> None:
    path = script(tmp_path, "for i in 1 2 3; do mqsub -l $i -c x & done\n")
    assert {group.name for group in read(path).groups} == {"1", "2", "3"}


def test_the_real_mqsub_called_by_its_path_is_noted(tmp_path: Path) -> None:
    path = script(
        tmp_path, f"x=1\n{sys.executable} -m headway.cli.commands.mqsub -l A -c 'a b'\nmqsub -deps A -l B -c b\n"
    )
    assert [group.jobs[0].command for group in read(path).groups] == ["a b", "b"]


def test_a_packed_script_is_run_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "w.sh.gz"
    path.write_bytes(gzip.compress(b'x="$1"\nmqsub -l "$x" -c a\n'))
    assert [group.name for group in read(path, "A").groups] == ["A"]


def test_the_shell_that_the_first_line_asks_for_is_used(tmp_path: Path) -> None:
    path = script(tmp_path, "#!/usr/bin/env bash\nfor ((i = 0; i < 2; i++)); do mqsub -l $i -c x; done\n")
    assert [group.name for group in read(path).groups] == ["0", "1"]


def test_what_the_script_prints_never_reaches_our_stdout(tmp_path: Path) -> None:
    path = script(tmp_path, "echo noise\necho talk >&2\nmqsub -l A -c a\n")
    done = headway("show", path, "--json")
    assert done.stdout.startswith("{")
    assert "noise" not in done.stdout
    assert "talk" in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x=1\n\nmqsbu -l A -c a\n", ':3: there is no command "mqsbu". Correct its name, or install it.'),
        ("x=$(mqsbu -l A)\nexit 0\n", ':1: there is no command "mqsbu".'),
        ("#!/bin/bash\nx=1\nmqsbu -l A\n", ':3: there is no command "mqsbu".'),
        ("x=1\nmqsub -l $x -c a\nexit 3\n", ":1: the script fails (exit status 3)."),
        ("x=1\necho 'no disk' >&2\nexit 1\n", ':1: the script fails (exit status 1): "no disk".'),
        ("#!/usr/bin/perl\nsystem('mqsub -l A');\n", ':1: its first line asks for "perl", which is no shell.'),
        ("#!/usr/bin/env python3\nimport os  # mqsub\n", ':1: its first line asks for "python3", which is no shell.'),
        ("kill -9 $$\n", ":1: the script fails (signal SIGKILL)."),
        ("x=1\nmqsub -l $x -q\n", ':2: mqsub has no option "-q".'),
        ("x=1\nmqsub\n", ":2: -l is missing"),
        ("x=1\nmqsub ''\n", ':2: mqsub has no option ""'),
        ("x=1\n", ":1: the script submits nothing."),
    ],
)
def test_what_goes_wrong_is_told(tmp_path: Path, text: str, said: str) -> None:
    path = script(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(path + said)


@pytest.mark.parametrize("text", ["touch ran; x='1\nmqsub -l A -c a\n", "touch ran\nif true; then\nmqsub -l A -c a\n"])
def test_a_script_that_sh_cannot_read_is_not_run_at_all(tmp_path: Path, text: str) -> None:
    path = script(tmp_path, text)
    with pytest.raises(InputError):
        read(path)
    assert not (tmp_path / "ran").exists()


def test_an_argument_that_no_program_can_get_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be started"):
        collect(script(tmp_path, "mqsub -l $1 -c a\n"), ["a\0b"])


def test_a_script_that_talks_without_end_is_ended(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has printed 64 MB and goes on"):
        read(script(tmp_path, "yes >&2\n"))


def test_an_interrupt_ends_a_script_that_hangs_and_all_it_started(tmp_path: Path) -> None:
    path = script(tmp_path, "mkfifo pipe\necho started >&2\nexec 2>&1\necho $$ >pid\ncat pipe\n")
    process = subprocess.Popen([sys.executable, "-m", "headway", "show", path], stderr=subprocess.PIPE)
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text().strip()):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted" in said
    assert not Path(f"/proc/{pid.read_text().strip()}/cmdline").exists()


def test_env_with_s_names_the_shell_too(tmp_path: Path) -> None:
    path = script(tmp_path, "#!/usr/bin/env -S bash -e\n[[ 1 ]] && mqsub -l A -c a\n")
    assert [group.name for group in read(path).groups] == ["A"]


def test_what_a_script_leaves_in_the_background_is_neither_waited_for_nor_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.live.reading.child.PATIENCE", 0.1)
    path = script(tmp_path, "tail -f /dev/null &\necho $! >pid\nmqsub -l A -c a\n")
    assert len(read(path).groups) == 1
    assert not is_running((tmp_path / "pid").read_text())


def test_calls_in_the_background_count(tmp_path: Path) -> None:
    path = script(tmp_path, "for i in 1 2 3 4; do mqsub -l $i -c a & done\n")
    assert sorted(group.name for group in read(path).groups) == ["1", "2", "3", "4"]


WAITING = {
    "w.sh": "echo $$ >pid.new; mv pid.new pid\nmqsub -l A -c a\ntail -f /dev/null\n",
    "w.py": "import os\nos.system('echo $PPID >pid.new; mv pid.new pid; tail -f /dev/null')\n",
    "outer.sh": f"{sys.executable} -m headway show inner.sh\nmqsub -l A -c a\n",
    "Makefile": "X := $(shell echo $$PPID >pid.new; mv pid.new pid; tail -f /dev/null)\nall:\n\techo\n",
}


@pytest.mark.parametrize("name", WAITING)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_when_headway_is_ended_nothing_of_it_stays(tmp_path: Path, name: str, number: signal.Signals) -> None:
    script(tmp_path, WAITING["w.sh"], "inner.sh")
    path, aside = script(tmp_path, WAITING[name], name), tmp_path / "aside"
    aside.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "headway", "show", path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(aside)},
    )
    pid = tmp_path / "pid"
    while not pid.exists():
        assert process.poll() is None
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert b"Traceback" not in said
    assert not is_running(pid.read_text())
    assert list(aside.iterdir()) == []


def is_running(pid: str) -> bool:
    """Whether a process is there and no zombie, which is gone but for its name."""
    try:
        return Path(f"/proc/{pid.strip()}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
