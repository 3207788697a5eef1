"""Submit files as they are run: numbers of submissions, the environment, chance, the disk, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.live.runs.writers import shared_outputs
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job, Setting
from tests.cli.test_run import run
from tests.shell import answer, headway

SH = "executable = /bin/sh\ntransfer_executable = false\n"


def sub(folder: Path, text: str, command: str = "true", queue: str = "queue", name: str = "a.sub") -> Path:
    """A submit file whose job is a line for sh."""
    path = folder / name
    path.write_text(f"{SH}arguments = \"-c '{command}'\"\n{text}\n{queue}\n")
    return path


def dag(folder: Path, *lines: str) -> Path:
    path = folder / "w.dag"
    path.write_text("\n".join(lines) + "\n")
    return path


def written(folder: Path, pattern: str) -> list[str]:
    return sorted(path.read_text().strip() for path in folder.glob(pattern))


# --- numbers of submissions --------------------------------------------------------------------------------------


def test_a_node_that_failed_has_another_number_when_it_is_retried(tmp_path: Path) -> None:
    """It had the same one, and its output overwrote the first."""
    sub(tmp_path, "output = out.$(Cluster)", "echo $(Cluster) >> trace; exit 1")
    dag(tmp_path, "JOB A a.sub")
    assert [headway("run", "w.dag", *more, cwd=tmp_path).returncode for more in ([], ["--retry"])] == [3, 3]
    numbers = (tmp_path / "trace").read_text().split()
    assert len(set(numbers)) == 2 and {path.suffix[1:] for path in tmp_path.glob("out.*")} == set(numbers)


def test_three_nodes_that_write_to_a_file_named_after_their_cluster_write_three_files(tmp_path: Path) -> None:
    sub(tmp_path, "output = out.$(Cluster)", "echo $(JOB) $(ClusterId)")
    run(dag(tmp_path, *(f"JOB {node} a.sub" for node in "ABC")))
    files = {path.read_text().split()[0]: path for path in tmp_path.glob("out.*")}
    assert sorted(files) == ["A", "B", "C"]
    for path in files.values():
        assert path.read_text().split()[1] == path.suffix[1:]


def test_processes_and_scripts_of_a_node_share_its_number_and_a_retry_gets_another(tmp_path: Path) -> None:
    sub(tmp_path, "output = out.$(Cluster).$(Process)", "echo $(JobId); test -e post", "queue 2")
    (tmp_path / "post.sh").write_text("#!/bin/sh\necho $1 >> posts\ntest -e post || { touch post; exit 1; }\n")
    (tmp_path / "post.sh").chmod(0o755)
    run(dag(tmp_path, "JOB A a.sub", "RETRY A 1", "SCRIPT POST A post.sh $JOBID"))
    posts = (tmp_path / "posts").read_text().split()
    assert len(set(posts)) == 2
    last = posts[1].removesuffix(".0")
    assert written(tmp_path, f"out.{last}.*") == [f"{last}.0", f"{last}.1"]
    assert len(list(tmp_path.glob("out.*"))) in (3, 4)  # the first to fail may call the other off


def test_a_submit_file_that_is_run_twice_is_submitted_twice(tmp_path: Path) -> None:
    path = sub(tmp_path, "output = out.$(Cluster).$(Process)", "echo $(Cluster)", "queue 2")
    run(path)
    run(path, "--fresh")
    assert sorted(one.name for one in tmp_path.glob("out.*")) == ["out.1.0", "out.1.1", "out.2.0", "out.2.1"]
    run(path)
    assert len(list(tmp_path.glob("out.*"))) == 4  # done already: nothing is submitted


def test_logs_and_status_know_the_number(tmp_path: Path) -> None:
    sub(tmp_path, "output = out.$(Cluster)", "echo $(Cluster)")
    run(dag(tmp_path, "JOB A a.sub", "JOB B a.sub"))
    numbers = [headway("logs", node, cwd=tmp_path).stdout.strip() for node in "AB"]
    assert sorted(f"out.{number}" for number in numbers) == sorted(one.name for one in tmp_path.glob("out.*"))


# --- the environment ---------------------------------------------------------------------------------------------


def test_env_is_the_real_environment(tmp_path: Path) -> None:
    sub(tmp_path, "output = out", "echo $ENV(FRUIT) $ENV(NOTHING_OF_THE_KIND:else) $ENV(NOTHING_OF_THE_KIND)")
    words = [sys.executable, "-m", "headway", "run", str(dag(tmp_path, "JOB A a.sub"))]
    environment = {**os.environ, "FRUIT": "pear"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and (tmp_path / "out").read_text() == "pear else UNDEFINED\n"
    assert "a.sub:3: $ENV(NOTHING_OF_THE_KIND) is not set" in done.stderr


# --- chance ------------------------------------------------------------------------------------------------------


def test_what_is_random_is_drawn_for_each_attempt_and_kept_with_it(tmp_path: Path) -> None:
    text = 'number = $RANDOM_INTEGER(0, 900000, 100)\noutput = out.$(number)\nenvironment = "N=$(number)"'
    sub(tmp_path, text, "echo $(number) $N $RANDOM_CHOICE(red,green,blue); exit 1")
    run(dag(tmp_path, "JOB A a.sub", "JOB B a.sub", "RETRY A 2", "RETRY B 2"), code=3)
    found = [path.read_text().split() for path in tmp_path.glob("out.*")]
    assert len(found) == 6  # of 9,001 numbers; that two of them are the same is less likely than 1 in 600
    for number, same, colour in found:
        assert number == same and int(number) % 100 == 0 and colour in ("red", "green", "blue")
    last = headway("logs", "A", cwd=tmp_path).stdout.split()
    assert headway("logs", "A", cwd=tmp_path).stdout.split() == last and last in found
    run(tmp_path / "w.dag", code=3)  # and is no reason to take the file for edited


def test_what_is_random_cannot_say_how_many(tmp_path: Path) -> None:
    sub(tmp_path, "request_cpus = $RANDOM_INTEGER(1,2)")
    done = headway("run", str(dag(tmp_path, "JOB A a.sub")))
    assert done.returncode == 2 and "a.sub:4: request_cpus would be known only when the job starts." in done.stderr


# --- files that several jobs write -------------------------------------------------------------------------------


def warnings(path: Path, code: int = 0) -> list[str]:
    return list(run(path, code=code)["warnings"])


def test_two_jobs_without_an_order_that_write_one_file_are_warned_of(tmp_path: Path) -> None:
    sub(tmp_path, "output = x/../out\nlog = all.log\nerror = /dev/null")
    (tmp_path / "x").mkdir()
    path = dag(tmp_path, "JOB A a.sub", "JOB B a.sub", "JOB C a.sub", "PARENT A CHILD B C")
    assert warnings(path) == ['"B" and "C" both write "out", and neither waits for the other: the last to end wins.']
    done = headway("run", str(path), "--fresh")
    assert 'warning: "B" and "C" both write "out"' in done.stderr
    assert '"B" and "C" both write "out"' in answer("run", str(path), "--dry-run")["warnings"][0]


def test_a_service_that_writes_the_file_of_another_node_is_warned_of(tmp_path: Path) -> None:
    """It runs beside all others, and nothing was said."""
    sub(tmp_path, "output = out")
    lines = ["JOB A a.sub", "SERVICE S a.sub", "PROVISIONER P a.sub", "FINAL F a.sub"]
    (said,) = warnings(dag(tmp_path, *lines))
    assert said == '"P" and "S" both write "out", and neither waits for the other: the last to end wins.'
    (said,) = run(dag(tmp_path, *lines[:2]), "--fresh")["warnings"]
    assert said == '"S" and "A" both write "out", and neither waits for the other: the last to end wins.'
    assert run(dag(tmp_path, lines[0], lines[3]), "--fresh")["warnings"] == []


def test_jobs_in_order_may_write_one_file(tmp_path: Path) -> None:
    sub(tmp_path, "output = out")
    lines = ["PARENT A CHILD B", "PARENT B CHILD C"]
    assert warnings(dag(tmp_path, *(f"JOB {node} a.sub" for node in "CBA"), *lines)) == []


def test_processes_that_write_one_file_are_warned_of(tmp_path: Path) -> None:
    sub(tmp_path, "output = out.$(Cluster)", queue="queue 2")
    first, second = warnings(dag(tmp_path, "JOB A a.sub", "JOB B a.sub", "PARENT A CHILD B"))
    assert first.startswith('the processes of "A" all write "out.$(Cluster)"') and "$(Process)" in first
    assert second.startswith('the processes of "B" all write')


def test_a_hundred_thousand_jobs_that_write_one_file_in_order_are_looked_at(tmp_path: Path) -> None:
    size = 100_000
    chain = Dag([str(node) for node in range(size)], list(range(size - 1)), list(range(1, size)))
    jobs = [Job("true", setting=Setting(stdout="out")) for _ in range(size)]
    assert shared_outputs(Flat(chain, jobs, frozenset())) == []
    apart = Dag([str(node) for node in range(size)], [], [])
    (said,) = shared_outputs(Flat(apart, jobs, frozenset()))
    assert said.startswith('"0" and "1" both write')


# --- the disk, universes, holds ----------------------------------------------------------------------------------


def test_a_request_for_disk_is_held_against_what_is_free(tmp_path: Path) -> None:
    sub(tmp_path, "request_disk = 1 KB")
    assert run(dag(tmp_path, "JOB A a.sub"))["done"] == 1
    sub(tmp_path, "request_disk = 900000 T")
    for words in (["run", str(tmp_path / "w.dag"), "--fresh"], ["run", str(tmp_path / "a.sub")]):
        done = headway(*words)
        assert done.returncode == 2 and "wants 900,000 TB of disk (request_disk)" in done.stderr


@pytest.mark.parametrize("universe", ["docker", "container", "vm", "java", "grid", "parallel", "Docker", "standard"])
def test_other_universes_are_not_run_on_the_host(tmp_path: Path, universe: str) -> None:
    sub(tmp_path, f"universe = {universe}", "touch begun")
    for path in (dag(tmp_path, "JOB A a.sub"), tmp_path / "a.sub"):
        done = headway("run", str(path))
        assert done.returncode == 2 and f'a.sub:4: universe "{universe.lower()}" is not run here' in done.stderr
    assert not (tmp_path / "begun").exists()
    assert headway("show", str(tmp_path / "w.dag"), "--job", "A").returncode == 0


def test_an_image_is_not_left_out_in_silence(tmp_path: Path) -> None:
    sub(tmp_path, "container_image = debian.sif", "touch begun")
    done = headway("run", str(dag(tmp_path, "JOB A a.sub")))
    assert done.returncode == 2 and "a.sub:4: container_image is not run here" in done.stderr


def test_a_job_submitted_on_hold_is_refused(tmp_path: Path) -> None:
    sub(tmp_path, "hold = True", "touch begun")
    done = headway("run", str(dag(tmp_path, "JOB A a.sub")))
    assert done.returncode == 2 and "a.sub:4: hold would keep the job from ever starting" in done.stderr
    sub(tmp_path, "hold = False")
    assert run(tmp_path / "w.dag")["done"] == 1


def test_what_submit_files_are_warned_of_is_shown_by_run_and_in_its_json(tmp_path: Path) -> None:
    sub(tmp_path, "request_cpus = Target.Cpus\nperiodic_hold = NumJobStarts > 3")
    path = dag(tmp_path, "JOB A a.sub")
    first, second = warnings(path)
    assert first.endswith("a.sub:5: periodic_hold is an expression for HTCondor, and not evaluated here.")
    assert "a.sub:4: request_cpus" in second
    shown = headway("run", str(path), "--fresh").stderr
    assert f"warning: {first}" in shown and f"warning: {second}" in shown


@pytest.mark.parametrize(
    "line", ['+SingularityImage = "docker://debian"', "+WantDocker = true", 'MY.DockerImage = "a"', "+JobUniverse = 9"]
)
def test_an_image_or_universe_named_by_an_attribute_is_refused_by_line(tmp_path: Path, line: str) -> None:
    """It ran on the host in silence, and was done."""
    sub(tmp_path, line, "touch ran")
    done = headway("run", str(dag(tmp_path, "JOB A a.sub")), cwd=tmp_path)
    assert done.returncode == 2 and "a.sub:4: " in done.stderr and "is not run here" in done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("on_exit_remove = false", "on_exit_remove is false: the job would be run again and again"),
        ("deferral_time = 1900000000", "deferral_time says when the job is to start"),
        ("cron_hour = 3", "cron_hour says when the job is to start"),
        ("Requirements = FALSE", "Requirements is never true"),
        ('transfer_output_remaps = "ran = away"', "transfer_output_remaps renames files after the job"),
    ],
)
def test_a_command_that_cannot_be_honoured_is_refused_before_anything_runs(
    tmp_path: Path, line: str, said: str
) -> None:
    """The job ran as if the line were not there."""
    sub(tmp_path, line, "touch ran")
    for path in (dag(tmp_path, "JOB A a.sub"), tmp_path / "a.sub"):
        done = headway("run", str(path))
        assert done.returncode == 2 and f"a.sub:4: {said}" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_job_that_does_nothing_fails_if_its_file_says_so(tmp_path: Path) -> None:
    sub(tmp_path, "noop_job = true\nnoop_job_exit_code = 4")
    assert run(dag(tmp_path, "JOB A a.sub"), code=3)["failed"] == 1


@pytest.mark.parametrize("command", ["input", "output"])
def test_a_file_that_a_job_cannot_be_connected_to_is_named(tmp_path: Path, command: str) -> None:
    """The message was that there is no /bin/sh."""
    sub(tmp_path, f"{command} = no/file")
    done = headway("run", str(dag(tmp_path, "JOB A a.sub")))
    assert done.returncode == 3 and "No such file or directory: 'no/file'" in done.stderr
