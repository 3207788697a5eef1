"""`headway run` on this computer: real processes, a real store."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.shell import headway


def script(folder: Path, text: str, name: str = "w.sh") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def run(path: Path, *words: str, code: int = 0) -> dict[str, Any]:
    done = headway("run", str(path), "--slots", "2", *words, "--json")
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ends(pid: int) -> bool:
    """Whether a process that was killed is soon gone; one that nobody has waited for is dead all the same."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_jobs_run_in_order_in_the_workflows_folder(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        'mqsub -l A -c "echo A >> ledger"\nmqsub -deps A -l B -c "echo B >> ledger"\n'
        'mqsub -deps B -l C -c "echo C >> ledger"\nmqsub -l C -c "echo C2 >> ledger"\n',
    )
    found = run(path)
    assert (found["schema"], found["done"], found["failed"], found["skipped"]) == (1, 4, 0, 0)
    assert (tmp_path / "ledger").read_text().split() == ["A", "B", "C", "C2"]


def test_a_failed_job_blocks_only_what_depends_on_it(tmp_path: Path) -> None:
    path = script(tmp_path, 'mqsub -l A -c "echo no; exit 3"\nmqsub -deps A -l B -c true\nmqsub -l C -c true\n')
    found = run(path, code=3)
    assert (found["done"], found["failed"], found["skipped"]) == (1, 1, 1)
    (failure,) = found["failures"]
    assert (failure["job"], failure["exit_code"]) == ("A", 3)
    assert Path(failure["log"]).read_text() == "no\n"


def test_run_again_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = script(tmp_path, 'mqsub -l A -c "echo A >> ledger"\nmqsub -deps A -l B -c "echo B >> ledger; test -e go"\n')
    run(path, code=3)
    run(path, code=3)
    assert (tmp_path / "ledger").read_text().split() == ["A", "B"]
    (tmp_path / "go").touch()
    assert run(path, "--retry")["done"] == 2
    assert (tmp_path / "ledger").read_text().split() == ["A", "B", "B"]
    assert run(path)["done"] == 2
    assert run(path, "--fresh")["done"] == 2
    assert (tmp_path / "ledger").read_text().split() == ["A", "B", "B", "A", "B"]


def test_an_edited_file_is_not_mixed_with_what_it_was(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true\n")
    run(path)
    path.write_text("mqsub -l A -c false\n")
    done = headway("run", str(path))
    assert done.returncode == 2 and "--fresh" in done.stderr


def test_retries_are_tried(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c 'echo x >> ledger; test $(wc -l < ledger) -ge 3' -attr retries=4\n")
    found = run(path, "--fail-fast")  # what is tried again has not failed yet
    assert (found["done"], found["failures"], found["attempts"]) == (1, [], 3)
    assert len((tmp_path / "ledger").read_text().split()) == 3


def test_fail_fast_starts_nothing_new(tmp_path: Path) -> None:
    lines = ["mqsub -l A -c false"] + [f'mqsub -l B{at} -c "sleep 0.05"' for at in range(50)]
    found = run(script(tmp_path, "\n".join(lines)), "--fail-fast", code=3)
    assert found["failed"] == 1 and found["skipped"] > 30


def test_a_job_gets_its_directory_environment_and_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/in").write_text("input")
    path = script(
        tmp_path,
        "mqsub -l A -c 'cat; echo \"$HEADWAY_JOB $HEADWAY_ATTEMPT $X\"; pwd; echo oops >&2' -attr directory=sub"
        " -attr stdin=in -attr stdout=out -attr stderr=err -attr env.X='a b'\n",
    )
    run(path)
    assert (tmp_path / "sub/out").read_text() == f"inputA 1 a b\n{tmp_path}/sub\n"
    assert (tmp_path / "sub/err").read_text() == "oops\n"


def test_a_time_limit_ends_a_job_and_all_it_started(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c 'sleep 1000 & echo $! > pid; wait' -attr time=0.3\n")
    assert run(path, code=3)["failed"] == 1
    assert ends(int((tmp_path / "pid").read_text()))


def test_what_a_job_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c 'sleep 1000 & echo $! > pid'\n")
    run(path)
    assert ends(int((tmp_path / "pid").read_text()))


def test_a_job_that_cannot_be_started_has_failed_and_says_why(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true -attr directory=nowhere\nmqsub -l B -c ./nothing\n")
    found = run(path, code=3)
    assert [failure["exit_code"] for failure in sorted(found["failures"], key=lambda one: one["job"])] == [127, 127]
    assert "nowhere" in Path(next(one["log"] for one in found["failures"] if one["job"] == "A")).read_text()


def test_wide_jobs_do_not_run_beside_others(tmp_path: Path) -> None:
    lines = [f'mqsub -l J{at} -c "echo + >> ledger; sleep 0.05; echo - >> ledger" -attr cores=2' for at in range(4)]
    run(script(tmp_path, "\n".join(lines)))
    assert (tmp_path / "ledger").read_text().split() == ["+", "-"] * 4


def test_a_makefile_and_a_dagman_file_run(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("b: a\n\tcat a a > b\na:\n\techo x > a\n")
    assert run(tmp_path / "Makefile")["done"] == 2
    assert (tmp_path / "b").read_text() == "x\nx\n"
    (tmp_path / "x.sub").write_text("executable = /bin/sh\narguments = \"-c 'echo $(n) >> ledger'\"\nqueue\n")
    (tmp_path / "x.dag").write_text('JOB A x.sub\nJOB B x.sub\nPARENT A CHILD B\nVARS A n="1"\nVARS B n="2"\n')
    assert run(tmp_path / "x.dag")["done"] == 2
    assert (tmp_path / "ledger").read_text().split() == ["1", "2"]


def test_what_cannot_be_honoured_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "x.sub").write_text("executable = /bin/touch\narguments = ran\nqueue\n")
    for text, word in (
        ("JOB A x.sub\nSAVE_POINT_FILE A\n", "x.dag:2: SAVE_POINT_FILE"),
        ("JOB A x.sub\nJOB B nowhere.sub\n", "x.dag:2:"),
        ("JOB A x.sub\nFINAL F nowhere.sub\n", "x.dag:2:"),
    ):
        (tmp_path / "x.dag").write_text(text)
        done = headway("run", str(tmp_path / "x.dag"))
        assert done.returncode == 2 and word in done.stderr
    assert not (tmp_path / "ran").exists()


def started(path: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "headway", "run", str(path), "--slots", "2", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def appears(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never appeared"
        time.sleep(0.01)


def test_ctrl_c_lets_running_jobs_end(tmp_path: Path) -> None:
    path = script(
        tmp_path, "mqsub -l A -c 'touch begun; sleep 0.5; echo A >> ledger'\nmqsub -deps A -l B -c 'echo B >> ledger'\n"
    )
    process = started(path)
    appears(tmp_path / "begun")
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate()
    assert process.returncode == 3 and "Traceback" not in talk
    assert (tmp_path / "ledger").read_text().split() == ["A"]
    assert run(path)["done"] == 2
    assert (tmp_path / "ledger").read_text().split() == ["A", "B"]


def test_ctrl_c_twice_ends_jobs_and_they_run_again(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c 'echo $$ > pid; test -e go || sleep 1000'\n")
    process = started(path)
    appears(tmp_path / "pid")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None and any("Ctrl-C again ends them" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    _, talk = process.communicate()
    assert process.returncode == 3 and "Traceback" not in talk
    (tmp_path / "go").touch()
    assert run(path)["done"] == 1


def test_a_job_that_prints_much_does_no_harm(tmp_path: Path) -> None:
    run(script(tmp_path, "mqsub -l A -c 'yes | head -c 50000000'\n"))
    log = next((tmp_path / ".headway/logs").rglob("*.log"))
    assert log.stat().st_size == 50_000_000


def test_a_file_that_is_not_there_leaves_nothing_behind(tmp_path: Path) -> None:
    done = headway("run", str(tmp_path / "nothing.dag"))
    assert done.returncode == 2 and "cannot be read" in done.stderr
    assert not list(tmp_path.iterdir())


def test_other_goals_of_a_makefile_are_another_workflow(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("a:\n\ttouch a\nclean:\n\trm -f a\n")
    assert run(tmp_path / "Makefile")["done"] == 1 and (tmp_path / "a").exists()
    assert run(tmp_path / "Makefile", "clean")["done"] == 1 and not (tmp_path / "a").exists()
    assert run(tmp_path / "Makefile")["attempts"] == 2  # the first one is known, and what it made is gone


def test_a_workflow_from_standard_input_runs_in_the_current_folder(tmp_path: Path) -> None:
    for text in ("mqsub -l A -c 'pwd >> ledger'\n", "mqsub -l B -c 'pwd >> ledger'\n"):
        done = subprocess.run(
            [sys.executable, "-m", "headway", "run", "-"], cwd=tmp_path, input=text, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "ledger").read_text().split() == [str(tmp_path)] * 2


# --- an edited file --------------------------------------------------------------------------------------------------


def test_an_edited_file_can_keep_what_is_done_or_rerun_what_has_changed(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        "mqsub -l A -c 'echo A >> ledger'\nmqsub -deps A -l B -c 'echo B >> ledger'\n"
        "mqsub -l C -c 'echo C >> ledger'\n",
    )
    run(path)
    path.write_text(path.read_text().replace("echo A >>", "echo A2 >>") + "mqsub -deps B -l D -c 'echo D >> ledger'\n")
    assert run(path, "--edited", "keep")["done"] == 4
    assert (tmp_path / "ledger").read_text().split()[3:] == ["D"]
    path.write_text(path.read_text().replace("echo A2 >>", "echo A3 >>"))
    assert run(path, "--edited", "rerun")["done"] == 4
    assert sorted((tmp_path / "ledger").read_text().split()[4:]) == ["A3", "B", "D"]
    assert run(path)["attempts"] == 3


def test_a_dry_run_tells_what_an_edited_file_would_run_again(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c 'echo A >> ledger'\nmqsub -deps A -l B -c true\nmqsub -l C -c true\n")
    run(path)
    path.write_text(path.read_text().replace("echo A", "echo A2") + "mqsub -l D -c true\n")
    for way, expected in (("keep", "done done done new"), ("rerun", "edited edited done new")):
        jobs = json.loads(headway("run", str(path), "--dry-run", "--edited", way, "--json").stdout)["jobs"]
        assert " ".join(job["why"] for job in jobs) == expected
    assert (tmp_path / "ledger").read_text().split() == ["A"]


@pytest.mark.parametrize("way", ["keep", "rerun"])
def test_what_is_disabled_stays_so_when_the_file_is_edited(tmp_path: Path, way: str) -> None:
    path = script(tmp_path, "mqsub -l A -c true\nmqsub -deps A -l B -c 'echo B >> ledger'\n")
    run(path, "--until", "A")
    headway("disable", "B", "--store", str(tmp_path / ".headway"))
    path.write_text(path.read_text() + "mqsub -l C -c 'echo C >> ledger'\n")
    assert headway("run", str(path), "--edited", way).returncode == 3
    assert (tmp_path / "ledger").read_text().split() == ["C"]
    headway("enable", "B", "--store", str(tmp_path / ".headway"))
    run(path)
    assert (tmp_path / "ledger").read_text().split() == ["C", "B"]


# --- what there is ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--memory", "lots"), ("--more-memory", "nan"), ("--resource", "gpu")])
def test_an_amount_that_is_none_is_refused_by_its_option(tmp_path: Path, words: tuple[str, str]) -> None:
    done = headway("run", str(script(tmp_path, "mqsub -l A -c true\n")), *words)
    assert done.returncode == 2 and words[0] in done.stderr and "Traceback" not in done.stderr


def test_named_resources_are_shared_out(tmp_path: Path) -> None:
    act = "mkdir busy || echo together >> ledger; sleep 0.05; rmdir busy; echo done >> ledger"
    path = script(tmp_path, "".join(f"mqsub -l A{n} -attr resource.licence=1 -c '{act}'\n" for n in range(4)))
    refused = headway("run", str(path), "--json")
    assert refused.returncode == 2 and "--resource licence=N" in refused.stderr
    run(path, "--resource", "licence=1")
    assert (tmp_path / "ledger").read_text().split() == ["done"] * 4


def test_memory_is_shared_out(tmp_path: Path) -> None:
    act = "mkdir busy || echo together >> ledger; sleep 0.05; rmdir busy; echo done >> ledger"
    path = script(tmp_path, "".join(f"mqsub -l A{n} -attr memory=600M -c '{act}'\n" for n in range(4)))
    run(path, "--memory", "1G")
    assert (tmp_path / "ledger").read_text().split() == ["done"] * 4


def test_a_kind_of_store_that_is_not_known_is_refused_and_makes_no_folder(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true\n")
    done = headway("run", str(path), "--store", "mysql://host/x", cwd=tmp_path)
    assert done.returncode == 2 and "mysql:// is no store" in done.stderr
    assert [found.name for found in tmp_path.iterdir()] == ["w.sh"]


def test_a_store_of_no_name_is_the_one_beside_the_workflow(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c true\n")
    here = tmp_path / "here"
    here.mkdir()
    assert headway("run", str(path), "--store", "", cwd=here).returncode == 0
    assert (tmp_path / ".headway" / "store.db").exists() and not list(here.iterdir())


def test_a_terminal_shows_how_far_it_is(tmp_path: Path) -> None:
    """A bar, what runs, an estimate, failures as they happen; and the last word stays."""
    hold = "while ! test -e go; do sleep 0.01; done"
    path = script(tmp_path, f"mqsub -l A -c true\nmqsub -l B -c false\nmqsub -deps A -l C -c '{hold}'\n")
    ours, theirs = os.openpty()
    process = subprocess.Popen([sys.executable, "-m", "headway", "run", str(path), "--slots", "2"], stderr=theirs)
    os.close(theirs)
    seen = ""
    with contextlib.suppress(OSError):  # how a terminal ends that nobody writes to any more
        while data := os.read(ours, 1 << 16):
            seen += data.decode(errors="replace")
            if "1 running: C" in seen:
                (tmp_path / "go").touch()
    assert process.wait() == 3
    lines = seen.replace("\r\n", "\n").split("\r\x1b[K")
    bar = next(line for line in lines if "1 running: C" in line)
    assert bar.startswith("━" * 8 + " ") and "1 of 3 done, about " in bar and " s left, " in bar
    failed = next(at for at, line in enumerate(lines) if line.startswith("failed: B (exit code 1), log: "))
    assert failed < lines.index(next(line for line in lines if line.startswith("2 of 3 jobs done, 1 failed, ")))
    assert lines[-1] == f"To retry the failed jobs: headway run {tmp_path / 'w.sh'} --retry\n"
