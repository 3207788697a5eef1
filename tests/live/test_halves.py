"""What a job that fails has half-written is removed, where it declares its outputs; nothing else ever is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from headway.live.placeholder.partial_outputs import COARSE, keep_later, looks, remove_halves
from headway.live.store.spec import Spec
from tests.cli.test_run import run, script
from tests.live.ledger import kill, runner_of, until


def job(command: str, outputs: str = "out", more: str = "") -> str:
    return f"mqsub -l A -c '{command}' -attr outputs='{outputs}' {more}\n"


def test_half_a_file_of_a_failed_job_is_removed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    path = script(tmp_path, job("echo half > out; echo half > other; exit 1", more="-attr directory=sub"))
    run(path, code=3)
    assert [entry.name for entry in (tmp_path / "sub").iterdir()] == ["other"]


def test_a_file_that_a_failed_job_has_not_touched_stays(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("older")
    run(script(tmp_path, job("exit 1")), code=3)
    assert (tmp_path / "out").read_text() == "older"


def test_an_older_file_that_a_failed_job_has_changed_goes(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("older")
    run(script(tmp_path, job("echo half >> out; exit 1")), code=3)
    assert not (tmp_path / "out").exists()


def test_a_job_that_succeeds_keeps_what_it_wrote(tmp_path: Path) -> None:
    run(script(tmp_path, job("echo whole > out")))
    assert (tmp_path / "out").read_text() == "whole\n"


def test_directories_and_links_stay(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("older")
    run(script(tmp_path, job("mkdir d; touch d/x; ln -s real l; exit 1", "d l")), code=3)
    assert (tmp_path / "d/x").exists() and (tmp_path / "l").is_symlink() and (tmp_path / "real").exists()


def test_precious_outputs_stay(tmp_path: Path) -> None:
    run(script(tmp_path, job("echo half > out; exit 1", more="-attr precious=yes")), code=3)
    assert (tmp_path / "out").exists()


def test_a_retry_begins_without_the_half_of_the_try_before(tmp_path: Path) -> None:
    command = "echo x >> ledger; test ! -e out || exit 9; echo half > out; test $(wc -l < ledger) -ge 3"
    found = run(script(tmp_path, job(command, more="-attr retries=5")))
    assert (found["done"], found["attempts"]) == (1, 3)


def test_a_retry_finds_what_an_earlier_job_of_its_group_has_begun(tmp_path: Path) -> None:
    text = 'mqsub -l A -c "echo one > out"\n' + job(
        "echo two >> out; test -e go || { touch go; exit 1; }", more="-attr retries=1"
    )
    run(script(tmp_path, text))
    assert (tmp_path / "out").read_text().startswith("one\n")


def test_a_job_over_its_time_and_one_that_is_stopped_leave_no_half(tmp_path: Path) -> None:
    run(script(tmp_path, job("echo half > out; sleep 1000", more="-attr time=0.3")), code=3)
    assert not (tmp_path / "out").exists()
    path = script(tmp_path, job("echo half > out; touch begun; sleep 1000"), "v.sh")
    words = [sys.executable, "-m", "headway", "run", str(path)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        until(lambda: (tmp_path / "begun").exists())
        process.send_signal(signal.SIGTERM)
        assert process.stderr.readline().startswith("stopping")
        process.send_signal(signal.SIGTERM)
        assert process.stderr.readline() == "ending jobs.\n"
        assert process.wait(60) == 3
    assert not (tmp_path / "out").exists()


def test_what_lost_jobs_may_have_half_written_gets_another_name_before_they_run_again(tmp_path: Path) -> None:
    path = script(
        tmp_path, job("test ! -e out || touch seen; echo half > out; touch begun; test -e go || exec sleep 1000")
    )
    with subprocess.Popen([sys.executable, "-m", "headway", "run", str(path)], stderr=subprocess.DEVNULL) as process:
        until(lambda: (tmp_path / "begun").exists())
        runner = runner_of(tmp_path / ".headway")
        kill(process.pid)
        assert runner
        kill(runner)
    (tmp_path / ".headway/roster").unlink()  # so that nobody can go on with the job
    (tmp_path / "go").touch()
    run(path)
    assert not (tmp_path / "seen").exists() and (tmp_path / "out").read_text() == "half\n"
    assert (tmp_path / "out.headway-kept-1").read_text() == "half\n"


def test_the_target_of_a_recipe_goes_if_any_line_of_it_fails_unless_it_is_precious(tmp_path: Path) -> None:
    makefile = tmp_path / "Makefile"
    makefile.write_text("all: a b c\na b:\n\techo half > $@; false\n\ttrue\nc:\n\techo half > c; false\n.PRECIOUS: b\n")
    assert run(makefile, code=3)["failed"] == 3
    assert sorted(entry.name for entry in tmp_path.iterdir() if entry.name in "abc") == ["b"]


def test_of_a_job_of_which_only_a_time_is_known_later_files_get_another_name(tmp_path: Path) -> None:
    (tmp_path / "new").touch()
    (tmp_path / "old").symlink_to("new")
    (tmp_path / "folder").mkdir()
    now = time.time()
    spec = Spec("true", outputs=("old", "new", "folder", "gone"))
    assert keep_later(spec, str(tmp_path), now + 10) == []
    assert keep_later(spec, str(tmp_path), now - 10, until=now - 5) == []
    (said,) = keep_later(spec, str(tmp_path), now - 10)
    assert "new may be half-written" in said and "kept as new.headway-kept-1" in said
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder", "new.headway-kept-1", "old"]


def test_a_file_that_cannot_be_removed_is_no_reason_to_fail(tmp_path: Path) -> None:
    spec = Spec("true", outputs=("a\0b", "gone", "x" * 300))
    remove_halves(looks(spec, str(tmp_path)), again=False)


def crashed(folder: Path, command: str, outputs: str = "out") -> tuple[Path, list[str]]:
    """A run whose client and runner are killed once its job has begun; its file, and the words that run it again."""
    path = script(folder, job(command, outputs))
    words = [sys.executable, "-m", "headway", "run", str(path)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        until(lambda: (folder / "begun").exists())
        runner = runner_of(folder / ".headway")
        kill(process.pid)
        assert runner
        kill(runner)
    return path, words


def test_a_file_that_its_user_wrote_after_a_job_had_ended_without_its_runner_stays(tmp_path: Path) -> None:
    _, words = crashed(tmp_path, "echo half > out; touch begun; until test -e go; do sleep 0.01; done; exit 4")
    (tmp_path / "go").touch()
    keepers_gone(tmp_path)
    clock_of_files_passes(time.time() + COARSE, tmp_path / "probe")
    (tmp_path / "out").write_text("by hand")
    assert subprocess.run(words, capture_output=True, check=False).returncode == 3
    assert (tmp_path / "out").read_text() == "by hand"


def clock_of_files_passes(moment: float, probe: Path) -> None:
    """The clock of the file system is a little behind: waits until what is written now is later than a moment."""

    def is_later() -> bool:
        probe.touch()
        return probe.stat().st_ctime > moment

    until(is_later)


def keepers_gone(folder: Path) -> None:
    """Waits until the job of a dead runner has ended, and that is written down."""
    entries = Path("/proc").glob("[0-9]*/cmdline")
    text = str(folder).encode()

    def words(entry: Path) -> bytes:
        try:
            return entry.read_bytes()
        except OSError:
            return b""

    keepers = [entry for entry in entries if text in words(entry) and b"headway" in words(entry)]
    until(lambda: not any(words(keeper) for keeper in keepers))


def test_what_a_job_had_half_written_that_failed_without_its_runner_is_removed(tmp_path: Path) -> None:
    (tmp_path / "older").write_text("older")
    command = "echo half > out; touch begun; until test -e go; do sleep 0.01; done; exit 4"
    _, words = crashed(tmp_path, command, "out older")
    (tmp_path / "go").touch()
    assert subprocess.run(words, capture_output=True, check=False).returncode == 3
    assert not (tmp_path / "out").exists() and (tmp_path / "older").read_text() == "older"


def test_a_file_is_not_touched_if_its_job_had_not_begun_when_the_runner_died(tmp_path: Path) -> None:
    path = script(tmp_path, job("cat out > seen"))
    words = [sys.executable, "-m", "headway", "run", str(path)]
    failing = {**os.environ, "HEADWAY_FAILPOINT": "spawn.before:1"}
    subprocess.run(words, capture_output=True, check=False, env=failing)
    (tmp_path / "out").write_text("by hand")
    run(path)
    assert (tmp_path / "seen").read_text() == "by hand"


def test_a_file_of_which_nobody_knows_who_wrote_it_gets_another_name_and_the_run_says_so(tmp_path: Path) -> None:
    _, words = crashed(tmp_path, "touch begun; test -e go || exec sleep 1000; test ! -e out")
    (tmp_path / "out").write_text("by hand")
    (tmp_path / ".headway/roster").unlink()  # so that nobody can go on with the job
    (tmp_path / "go").touch()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and (tmp_path / "out.headway-kept-1").read_text() == "by hand"
    said = f"{tmp_path / 'out'} may be half-written by a job whose runner died. It is kept as out.headway-kept-1."
    assert f"warning: {said}" in done.stderr and said in (tmp_path / ".headway/runner.log").read_text()
