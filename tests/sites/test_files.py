"""Sites with a folder of their own: what jobs need is there before they begin, what they leave comes home."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headway.live.sites.copying import Copying
from headway.live.sites.frames import Look, Put, Seal
from headway.live.sites.front_files import answered
from headway.model.errors import HeadwayError
from tests.infra.root import needs_root
from tests.live.ledger import until
from tests.shell import headway
from tests.sites.bench import Bench

if TYPE_CHECKING:
    from headway.live.sites.frames import Control

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ssh")]


@pytest.fixture
def apart(bench: Bench) -> Bench:
    """Both sites keep files of their own."""
    text = (bench.folder / "headway.toml").read_text()
    for name in "ab":
        text = text.replace("shared = true", f'directory = "{bench.folder}/there/{name}"', 1)
    (bench.folder / "headway.toml").write_text(text)
    for folder in ("bin", "in", "out"):
        (bench.folder / folder).mkdir()
    program = bench.folder / "bin/join"
    program.write_text('#!/bin/sh\ncat "$@"\n')
    program.chmod(0o755)
    return bench


def note(text: str, bench: Bench) -> str:
    """A command that writes something down here, wherever it runs: all hosts see this folder by its path."""
    return f"echo {text} >> {bench.folder}/ledger"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def places(bench: Bench, name: str) -> list[Path]:
    return sorted(one for one in (bench.folder / "there" / name).iterdir() if one.name != ".headway")


def test_files_go_there_and_come_home_and_from_site_to_site(apart: Bench) -> None:
    (apart.folder / "in/one").write_text("1\n")
    (apart.folder / "in/two").write_text("2\n")
    apart.script(
        "first = workflow.job('first', 'bin/join in/one in/two > out/three', inputs=['in/one', 'in/two'],"
        " outputs=['out/three'])",
        "workflow.job('then', 'bin/join out/three in/one > out/four', inputs=['out/three', 'in/one'],"
        " outputs=['out/four'], after=first)",
    )
    apart("run", "w.py", "--site", "a", "--until", "first")
    assert (apart.folder / "out/three").read_text() == "1\n2\n"
    apart("run", "w.py", "--site", "b")
    assert (apart.folder / "out/four").read_text() == "1\n2\n1\n"
    assert [one["site"] for one in apart.json("history")["attempts"]] == ["a", "b"]
    (there,) = places(apart, "b")
    assert (there / "bin/join").stat().st_mode & 0o111 and not (there / "in/two").exists()


def test_a_file_is_sent_once_a_site_and_again_when_it_has_changed(apart: Bench) -> None:
    (apart.folder / "in/data").write_text("old\n")
    command = "cat in/data > out/$HEADWAY_JOB"
    apart.script(
        "before = []",
        "for n in range(3):",
        f"    before = workflow.job(f'j{{n}}', {command!r}, inputs=['in/data'], outputs=[f'out/j{{n}}'], after=before)",
    )
    apart("run", "w.py", "--site", "a", "--until", "j1")
    (there,) = places(apart, "a")
    since = (there / "in/data").stat().st_mtime_ns
    apart("run", "w.py", "--site", "a", "--until", "j1", "--fresh")
    assert [(place / "in/data").read_text() for place in places(apart, "a")] == ["old\n"] * 2
    assert (there / "in/data").stat().st_mtime_ns == since
    (apart.folder / "in/data").write_text("new\n")
    apart("run", "w.py", "--site", "a")
    assert (apart.folder / "out/j2").read_text() == "new\n" and (apart.folder / "out/j1").read_text() == "old\n"


def test_folders_that_all_jobs_need_are_staged_and_who_declares_nothing_is_told_beforehand(apart: Bench) -> None:
    (apart.folder / "in/deep").mkdir()
    (apart.folder / "in/deep/data").write_text("deep\n")
    apart.script("workflow.job('a', 'cat in/deep/data > out/a', outputs=['out/a'])", "workflow.job('b', 'ls')")
    said = apart("run", "w.py", "--site", "a", code=3).stderr
    assert "b declares no files: at site a it runs in a folder without those of this computer" in said
    text = (apart.folder / "headway.toml").read_text()
    (apart.folder / "headway.toml").write_text(text.replace('host = "h1"', 'host = "h1"\nstage = ["in", "bin"]'))
    said = apart("run", "w.py", "--site", "a", "--retry").stderr
    assert (apart.folder / "out/a").read_text() == "deep\n" and "declares" not in said


def test_an_output_in_whose_place_is_a_folder_here_comes_home_once_that_is_gone(apart: Bench) -> None:
    apart.script("workflow.job('a', 'echo 1 > out/a', outputs=['out/a'])")
    (apart.folder / "out/a").mkdir()
    run = apart.begin("run", "w.py", "--site", "a")
    assert run.stderr is not None
    said = run.stderr.readline()
    assert f'"{apart.folder}/out/a" cannot be copied: Is a directory. It is tried again: make room, or' in said
    (apart.folder / "out/a").rmdir()
    assert run.wait(60) == 0 and (apart.folder / "out/a").read_text() == "1\n"
    assert [one["outcome"] for one in apart.json("history")["attempts"]] == ["done"]


def test_a_misspelt_name_in_stage_is_told_beforehand(apart: Bench) -> None:
    text = (apart.folder / "headway.toml").read_text()
    (apart.folder / "headway.toml").write_text(text.replace('host = "h1"', 'host = "h1"\nstage = ["inn", "bin"]'))
    apart.script("workflow.job('a', 'true')")
    said = apart("run", "w.py", "--site", "a").stderr
    assert f'stage of site a names "inn", which is not in "{apart.folder}": jobs there do not find it.' in said
    assert '"bin"' not in said


def test_a_directory_where_nothing_can_be_made_is_named_with_its_host_and_the_way_out(apart: Bench) -> None:
    apart.script("workflow.job('a', 'true')")
    (apart.folder / "headway.toml").write_text('[sites.a]\nhost = "h1"\ndirectory = "/proc/x"\n')
    said = apart("run", "w.py", "--site", "a", code=1).stderr
    assert "on vm: " in said.replace(os.uname().nodename, "vm") and "/proc/x/" in said
    assert "Name another directory for this site in headway.toml." in said and "--store" not in said


def test_a_workflow_does_not_look_edited_because_its_files_were_declared(apart: Bench) -> None:
    (apart.folder / "in/x").write_text("x")
    apart.script("workflow.job('a', 'cp in/x out/x', inputs=['in/x'], outputs=['out/x'])", "workflow.job('b', 'ls')")
    apart("run", "w.py", "--until", "a")
    apart("run", "w.py", "--site", "a")
    assert [one["attempt"] for one in apart.json("history")["attempts"]] == [1, 1]


def test_an_input_that_nobody_has_is_for_the_job_to_complain_about(apart: Bench) -> None:
    apart.script("workflow.job('a', 'cat in/nothing', inputs=['in/nothing'])")
    apart("run", "w.py", "--site", "a", code=3)
    assert "in/nothing" in apart("logs", "a").stdout


def test_a_folder_that_is_an_output_comes_home_whole(apart: Bench) -> None:
    command = "mkdir -p out/tree/sub && echo 1 > out/tree/a && echo 2 > out/tree/sub/b"
    apart.script(f"workflow.job('a', {command!r}, outputs=['out/tree'])")
    apart("run", "w.py", "--site", "a")
    assert (apart.folder / "out/tree/sub/b").read_text() == "2\n" and (apart.folder / "out/tree/a").read_text() == "1\n"


def test_large_files_arrive_whole_though_the_connection_breaks_again_and_again(apart: Bench) -> None:
    (apart.folder / "in/large").write_bytes(os.urandom(48 << 20))
    command = f"{note('begin', apart)}; cp in/large out/copy; {note('end', apart)}"
    apart.script(f"workflow.job('a', {command!r}, inputs=['in/large'], outputs=['out/copy'])")
    run = apart.begin("run", "w.py", "--site", "a")

    def part(folder: Path, name: str) -> bool:
        return any(one.stat().st_size > 1 << 20 for one in folder.rglob(f"{name}.headway-part"))

    until(lambda: part(apart.folder / "there", "large") or run.poll() is not None)
    apart.kill(apart.connections())
    until(lambda: part(apart.folder / "out", "copy") or run.poll() is not None)
    if run.poll() is None:
        apart.kill(apart.connections())
    assert run.wait(120) == 0, apart.logs()
    assert digest(apart.folder / "out/copy") == digest(apart.folder / "in/large")
    assert apart.ledger == {"begin": 1, "end": 1}
    assert not [*apart.folder.rglob("*.headway-part")]


def _moved(connection: int, what: str) -> int:
    """The bytes that an ssh has read ("rchar") or written ("wchar") so far: from one side of it to the other."""
    lines = Path(f"/proc/{connection}/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what))


def test_when_a_connection_breaks_only_what_is_missing_goes_over_the_next_one(apart: Bench) -> None:
    size = 96 << 20
    (apart.folder / "in/large").write_bytes(os.urandom(size))
    command = f"{note('begin', apart)}; cp in/large out/copy; {note('end', apart)}"
    apart.script(
        f"first = workflow.job('a', {command!r}, inputs=['in/large'], outputs=['out/copy'])",
        f"workflow.job('b', {note('home', apart)!r} + '; until test -e {apart.folder}/go; do sleep 0.1; done',"
        " after=first)",
    )
    run = apart.begin("run", "w.py", "--site", "a")

    def part(folder: Path, name: str) -> int:
        found = [one.stat().st_size for one in folder.rglob(f"{name}.headway-part")]
        return found[0] if found and found[0] > size // 4 else 0

    def cut(folder: Path, name: str) -> int:
        """Breaks the connection in the middle of a file. How many bytes of it may go over the next one."""
        until(lambda: part(folder, name))
        missing = size - part(folder, name)
        apart.kill(apart.connections())
        return missing * 4 // 3 + (2 << 20)  # in base64, with all else that is said

    most = cut(apart.folder / "there", "large")
    apart.wait_for("begin")
    (connection,) = apart.connections()
    assert 0 < _moved(connection, "rchar") < most < size * 4 // 3
    most = cut(apart.folder / "out", "copy")
    apart.wait_for("home")
    (connection,) = apart.connections()
    assert 0 < _moved(connection, "wchar") < most < size * 4 // 3
    (apart.folder / "go").touch()
    assert run.wait(60) == 0, apart.logs()
    assert digest(apart.folder / "out/copy") == digest(apart.folder / "in/large")


def test_an_end_whose_files_are_on_their_way_is_not_lost_with_the_channel(apart: Bench) -> None:
    command = f"{note('begin', apart)}; head -c 64000000 /dev/urandom > out/large; {note('end', apart)}"
    apart.script(f"workflow.job('a', {command!r}, outputs=['out/large'])", "workflow.job('b', 'true', after='a')")
    run = apart.begin("run", "w.py", "--site", "a")
    journal = apart.folder / ".headway/sites/a/ended"
    until(lambda: (journal.exists() and journal.read_text()) or run.poll() is not None)
    assert run.poll() is None, run.communicate()
    apart.kill([*apart.channels(), *apart.runners()])
    run.wait(60)
    apart("run", "w.py", "--site", "a")
    (there,) = places(apart, "a")
    assert digest(apart.folder / "out/large") == digest(there / "out/large")
    assert apart.ledger == {"begin": 1, "end": 1}


@pytest.fixture
def small_disk(bench: Bench) -> Iterator[Path]:
    needs_root("mounting a small disk")
    place = bench.folder / "there/a"
    place.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", place], check=True)
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_there_is_told_and_what_did_not_fit_runs_when_there_is_room(small_disk: Path, apart: Bench) -> None:
    (apart.folder / "in/large").write_bytes(os.urandom(4 << 20))
    apart.script("workflow.job('a', 'cp in/large out/copy', inputs=['in/large'], outputs=['out/copy'])")
    run = apart.begin("run", "w.py", "--site", "a")
    assert run.stderr is not None
    until(lambda: "No space left on device" in run.stderr.readline())  # type: ignore[union-attr]
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    assert run.wait(60) == 0
    assert digest(apart.folder / "out/copy") == digest(apart.folder / "in/large")


@pytest.fixture
def crowded(bench: Bench) -> Iterator[Path]:
    """The disk of the host on which the far runner keeps its folders, and jobs write: small."""
    needs_root("mounting a small disk")
    place = bench.folder / "far"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,nr_inodes=400", "none", place], check=True)
    bench.hosts.set(XDG_STATE_HOME=f"{place}/state")
    yield place
    bench.hosts.set()
    bench.close()
    for pid in _users(place):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: not _users(place))
    subprocess.run(["umount", "-l", place], check=True)


def _users(place: Path) -> list[int]:
    """Processes that have files open below a folder."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if any(str(handle.readlink()).startswith(f"{place}/") for handle in (one / "fd").iterdir()):
                found.append(int(one.name))
    return found


def test_a_disk_that_jobs_there_fill_with_the_runners_own_files_on_it_loses_no_job_and_is_told(
    crowded: Path, bench: Bench
) -> None:
    fill = f"mkdir {crowded}/filled; cd {crowded}/filled; head -c 100000000 /dev/zero > large"
    fill += "; n=0; while touch $n; do n=$((n + 1)); done; true"
    bench.script(
        f"first = workflow.job('filler', {note('filler', bench)!r} + {f'; {fill}'!r})",
        f"for n in range(12): workflow.job(f'j{{n}}', 'echo $HEADWAY_JOB >> {bench.folder}/ledger', after=first)",
    )
    run = bench.begin("run", "w.py", "--site", "a")
    assert run.stderr is not None
    said = run.stderr.readline()
    assert "site a" in said and "No space left on device" in said, said + bench.logs()
    shutil.rmtree(crowded / "filled")
    assert run.wait(120) == 0, bench.logs()
    assert bench.ledger == {"filler": 1, **{f"j{number}": 1 for number in range(12)}}
    attempts = bench.json("history")["attempts"]
    assert sorted(one["job"] for one in attempts if one["exit_code"] == 0) == sorted(bench.ledger)


def test_a_pipe_or_an_endless_device_among_the_outputs_does_not_hold_up_the_site(apart: Bench) -> None:
    make = "mkdir out; echo 1 > out/one; mkfifo out/pipe; ln -s /dev/zero out/zero; ln -s nowhere out/gone"
    apart.script(f"workflow.job('all', {make!r}, outputs=['out'])", "workflow.job('next', 'true')")
    apart("run", "w.py", "--site", "a")
    assert [one.name for one in (apart.folder / "out").iterdir()] == ["one"]


def test_files_whose_names_are_as_long_as_names_can_be_are_copied(apart: Bench) -> None:
    longest, other = "n" * 255, "é" * 127
    (apart.folder / longest).write_text("1\n")
    apart.script(f"workflow.job('copy', 'cat {longest} > {other}', inputs=[{longest!r}], outputs=[{other!r}])")
    apart("run", "w.py", "--site", "a")
    assert (apart.folder / other).read_text() == "1\n"
    assert not [*apart.folder.rglob("*.headway-part")]


def test_an_input_that_cannot_be_written_there_is_not_tried_hundreds_of_times_a_second(apart: Bench) -> None:
    (apart.folder / "in/one").write_text("1\n")
    apart.script(
        "first = workflow.job('first', 'rm -rf in; mkdir -p in/one/below')",  # a folder, where a file shall be
        "workflow.job('then', 'cat in/one', inputs=['in/one'], after=first)",
        f"workflow.job('mend', {note('mend', apart)!r} + '; sleep 3; rm -r in/one', after=first)",
    )
    done = apart("run", "w.py", "--site", "a")
    assert "Is a directory" in done.stderr
    attempts = [one for one in apart.json("history")["attempts"] if one["job"] == "then"]
    assert attempts[-1]["exit_code"] == 0
    assert all("Is a directory" in one["reason"] for one in attempts[:-1])
    assert 1 < len(attempts) < 10


def test_a_file_that_grows_while_it_is_copied_is_named_as_such(apart: Bench) -> None:
    """The message must not send its user to look for room on the far disk."""
    source, there = apart.folder / "in/one", str(apart.folder / "there/one")
    source.write_text("1\n")
    said: list[Control] = []
    copying, ended = Copying(said.append), list[HeadwayError | None]()
    copying.there([(str(source), there)], [], ended.append)
    while not ended:
        message = said.pop(0)
        assert isinstance(message, (Look, Put, Seal))
        source.write_text("other\n")
        copying.heard(message.number, answered(message))
    assert "changes while it is copied" in str(ended[0])


def test_a_directory_in_the_home_of_nobody_is_named(apart: Bench) -> None:
    config = apart.folder / "headway.toml"
    config.write_text(config.read_text().replace(f"{apart.folder}/there/a", "~nobody-of-that-name/x"))
    apart.script("workflow.job('a', 'true')")
    done = apart("run", "w.py", "--site", "a", code=1)
    assert '"~nobody-of-that-name/x"' in done.stderr and "headway.toml" in done.stderr


def test_a_sub_dag_is_refused_at_a_site_where_headway_is_not(bench: Bench) -> None:
    (bench.folder / "job.sub").write_text("executable = /bin/true\nqueue\n")
    (bench.folder / "inner.dag").write_text("JOB I job.sub\n")
    (bench.folder / "outer.dag").write_text("JOB A job.sub\nSUBDAG EXTERNAL S inner.dag\n")
    done = bench("run", "outer.dag", "--site", "a", code=2)
    assert "S is a sub-DAG" in done.stderr and "SPLICE" in done.stderr
    bench("run", "outer.dag")


def test_a_check_tells_why_a_site_cannot_be_used(bench: Bench) -> None:
    with (bench.folder / "headway.toml").open("a") as config:
        config.write('\n[sites.c]\nhost = "h1"\nshared = true\npython = "/nowhere/python3"\n')
    (problem,) = [
        one["problem"] for one in json.loads(bench("sites", "--check", "c", "--json", code=1).stdout)["sites"]
    ]
    assert "the python of this site cannot be started on h1" in problem and "/nowhere/python3" in problem


def test_a_check_in_a_folder_where_nothing_can_be_written_says_so() -> None:
    done = headway("sites", "--check", "local", cwd=Path("/proc"))
    assert done.returncode == 1 and "no file can be made in this folder" in done.stderr
