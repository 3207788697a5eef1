"""Where input comes from and output goes to: pipes, closed and full ones, other encodings, interrupts."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell import answer, headway

DAG = "PARENT A CHILD B\nJOB A a.sub\nJOB B a.sub\n"  # read in two passes: the first line names what comes later
INPUTS = {
    "dagman": DAG,
    "submit": "executable = /bin/true\nqueue 2\n",
    "makefile": "include more.mk\nall: A\nA: B\n\ttouch A\nB:\n\ttouch B $(MORE)\n",
    "flat": "mqsub -l A -c a\nmqsub -l B -c b\n",
    "description": "Levels = [['G', 1]]\ndef generateGroup(level, parent): return [[1], [2]]\n"
    "def getDependent(level, group, parent): return []\ndef getJobsExecutables(level, group): return ['x']\n",
    "python": "from headway import Workflow\nw = Workflow('w')\nw.job('A', 'a')\nw.job('B', 'b')\n",
}
LOOP = 'for i in 1 2; do mqsub -l "$i" -c x; done\n'


def piped(text: bytes, *words: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "headway", *words],
        input=text,
        cwd=cwd,
        capture_output=True,
        env={**os.environ, **variables},
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("path", ["-", "/dev/stdin"])
@pytest.mark.parametrize("format", [*INPUTS, "loop"])
def test_any_format_is_read_from_a_pipe(tmp_path: Path, format: str, path: str) -> None:
    (tmp_path / "more.mk").write_text("MORE = more\n")
    text = INPUTS.get(format, LOOP)
    done = piped(text.encode(), "show", path, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b'"jobs": 2' in done.stdout and (b'"format": "flat"' if format == "loop" else format.encode()) in done.stdout


def test_a_packed_workflow_is_read_from_a_pipe(tmp_path: Path) -> None:
    assert b'"jobs": 2' in piped(gzip.compress(DAG.encode()), "show", "-", "--json", cwd=tmp_path).stdout


def test_standard_input_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "more.mk").touch()
    (tmp_path / "w").write_text(INPUTS["makefile"])
    with (tmp_path / "w").open() as stream:
        words = [sys.executable, "-m", "headway", "show", "-", "--json"]
        done = subprocess.run(words, stdin=stream, cwd=tmp_path, capture_output=True, check=False)
    assert b'"jobs": 2' in done.stdout, done.stderr


def test_process_substitution_finds_the_submit_files_where_headway_was_called(tmp_path: Path) -> None:
    (tmp_path / "a.sub").write_text("executable = /bin/true\nqueue\n")
    (tmp_path / "x.dag").write_text(DAG)
    script = f"{sys.executable} -m headway convert <(cat x.dag) --to flat"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "/bin/true" in done.stdout, done.stderr


def test_a_named_pipe_can_be_read_again_later(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.dag")
    code = (
        "import headway, threading, pathlib\n"
        "for text in ('JOB A a\\n', 'JOB B b\\n'):\n"
        "    threading.Thread(target=pathlib.Path('pipe.dag').write_text, args=(text,)).start()\n"
        "    print(headway.read('pipe.dag').groups.groups[0].name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["A", "B"], done.stderr


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_a_device_without_end_or_content_is_an_error(path: str) -> None:
    done = headway("show", path)
    assert done.returncode == 2 and done.stderr.startswith(f"{path}:1: ")


def test_a_file_that_fails_while_it_is_read_is_named() -> None:
    done = headway("show", "/proc/self/mem")
    assert done.returncode == 2 and done.stderr.startswith("/proc/self/mem:1: cannot be read: ")


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "x.dag").write_bytes(b"\xef\xbb\xbfJOB A a.sub\r\nJOB B a.sub\r\nPARENT A CHILD B\r\n")
    assert answer("show", str(tmp_path / "x.dag"))["arcs"] == 1
    (tmp_path / "x.dag.gz").write_bytes(gzip.compress((tmp_path / "x.dag").read_bytes()))
    assert answer("show", str(tmp_path / "x.dag.gz"))["arcs"] == 1


# --- output ----------------------------------------------------------------------------------------------------


def shell(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    (cwd / "x.dag").write_text(DAG)
    command = script.replace("headway", f"{sys.executable} -m headway")
    return subprocess.run(["sh", "-c", command], cwd=cwd, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("words", ["show x.dag", "show x.dag --json", "convert x.dag --to dot", "--help", "formats"])
@pytest.mark.parametrize("where", [">&-", ">/dev/full"])
def test_output_that_goes_nowhere_is_an_error_and_no_traceback(tmp_path: Path, words: str, where: str) -> None:
    done = shell(f"headway {words} {where}", tmp_path)
    assert done.returncode == 1 and done.stderr.startswith("headway: ") and "Traceback" not in done.stderr


def test_closed_output_does_not_matter_to_who_writes_none(tmp_path: Path) -> None:
    assert shell("headway convert x.dag --to dot -o x.dot >&-", tmp_path).returncode == 0
    assert "digraph" in (tmp_path / "x.dot").read_text()
    assert shell("headway show nothing.dag 2>&-", tmp_path).returncode == 2


def test_a_terminal_without_unicode_gets_a_plain_drawing(tmp_path: Path) -> None:
    dag = "JOB A a\nJOB B a\nJOB ü a\nPARENT A CHILD B ü\n".encode()
    done = piped(dag, "show", "-", cwd=tmp_path, PYTHONIOENCODING="latin-1")
    assert done.returncode == 0 and b"+-+-+" in done.stdout and "ü".encode("latin-1") in done.stdout, done.stderr


def test_an_error_about_a_name_that_the_terminal_cannot_show_is_no_traceback(tmp_path: Path) -> None:
    for encoding in ("ascii", "latin-1"):
        done = piped(b"", "show", "n→o.dag", cwd=tmp_path, PYTHONIOENCODING=encoding)
        assert done.returncode == 2 and b"Traceback" not in done.stderr and b"cannot be read" in done.stderr


def test_names_from_a_file_command_no_terminal(tmp_path: Path) -> None:
    dag = b"JOB a\x1b[31m\x07 a.sub\n"
    for words in (["show", "-"], ["show", "-", "--job", "a\x1b[31m\x07"]):
        done = piped(dag, *words, cwd=tmp_path)
        assert done.returncode == 0 and b"\x1b" not in done.stdout and b"a\\x1b[31m\\x07" in done.stdout


def test_escape_sequences_in_a_command_are_kept_on_standard_output(tmp_path: Path) -> None:
    script = "mqsub -l A -c 'echo \x1b[31mred'\n"
    for words in ([], ["-o", "-"]):
        done = piped(script.encode(), "convert", "-", "--to", "flat", *words, cwd=tmp_path)
        assert b"\x1b[31mred" in done.stdout
    assert not (tmp_path / "-").exists()


def test_converted_text_is_utf_8_whatever_the_terminal(tmp_path: Path) -> None:
    script = "mqsub -l A -c 'echo → ü'\n".encode()
    done = piped(script, "convert", "-", "--to", "flat", cwd=tmp_path, PYTHONIOENCODING="latin-1")
    assert "echo → ü".encode() in done.stdout


def test_a_link_to_write_to_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    assert shell("headway convert x.dag --to dot -o link", tmp_path).returncode == 0
    assert (tmp_path / "link").is_symlink() and "digraph" in (tmp_path / "real").read_text()


def test_a_name_as_long_as_names_may_be_can_be_written(tmp_path: Path) -> None:
    assert shell(f"headway convert x.dag --to dot -o {'x' * 255}", tmp_path).returncode == 0


def test_an_interrupt_before_all_is_imported_is_no_traceback() -> None:
    code = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'click': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from headway.cli import main\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_bash_completes_commands_formats_and_files(tmp_path: Path) -> None:
    bin_folder = Path(sys.executable).parent
    script = (
        f'PATH={bin_folder}:$PATH; eval "$(headway completion bash)"; compopt() {{ echo "files: $1 $2"; }}\n'
        'try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _headway_completion headway; '
        'echo "${COMPREPLY[*]}"; }\n'
        "try headway sh; try headway show --format ma; try headway convert x --to me; try headway show x\n"
    )
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:4] == ["show", "makefile", "mermaid", "files: -o default"], done.stderr


@pytest.mark.parametrize("program", ["mqsub", "mqstat", "mqdump", "mqstatus"])
def test_help_that_nobody_can_take_is_no_traceback(program: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    ours, theirs = os.pipe()
    os.close(ours)
    for out, code, said in ((theirs, 141, ""), (os.open("/dev/full", os.O_WRONLY), 1, "No space left on device")):
        done = subprocess.run(
            [sys.executable, "-m", f"headway.cli.commands.{program}", "--help"],
            stdout=out, stderr=subprocess.PIPE, text=True, env=environment, check=False,
        )  # fmt: skip
        os.close(out)
        assert done.returncode == code and said in done.stderr
        assert "Traceback" not in done.stderr and "ignored" not in done.stderr
