"""The services of TrellisDAG as programs: what they print, how they exit, and that a bad call changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.live.store import opened
from headway.model.messages import WorkflowId
from headway.model.states import State
from tests.shell import headway

CALLER = ("sched=none", "sched_id=7", "submit_host=brule", "host=node1")
ALL = ("mqnextjob", "mqgetjobcommand", "mqgetjobattribute", "mqdonejob")


class Desk:
    """A folder with a workflow that was submitted, and the services called in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
        self.environment["XDG_CONFIG_HOME"] = str(folder)
        (folder / "w.sh").write_text("mqsub -l A -c 'echo \"a  b\"'\nmqsub -deps A -l B -c ./b -attr slice=2100\n")
        assert headway("submit", "w.sh", cwd=folder, env=self.environment).returncode == 0

    def __call__(self, name: str, *words: str, cwd: Path | None = None, **more: str) -> tuple[int, str, str]:
        done = headway(*words, program=name, cwd=cwd or self.folder, env={**self.environment, **more})
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    def next(self) -> str:
        code, out, _ = self("mqnextjob", *CALLER)
        assert code == 0 and out.count("\n") == 1
        return out.strip()

    def rows(self) -> list[object]:
        store = opened(self.folder / ".headway/store.db")
        found = [store.database.run("standing", first=0, last=9), store.history.attempts(WorkflowId(1))]
        store.close()
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_placeholder_runs_a_workflow_with_them(desk: Desk) -> None:
    first = desk.next()
    assert desk("mqnextjob", "sched=none", "sched_id=8", *CALLER[2:]) == (10, "", "")
    assert desk("mqgetjobcommand", f"id={first}") == (0, 'echo "a  b"\n', "")
    assert desk("mqgetjobattribute", f"id={first}", "attribute=dir") == (0, f"{desk.folder}\n", "")
    assert desk("mqstatus", f"id={first}", "half", "done", HEADWAY_STORE=str(desk.folder)) == (0, "", "")
    shown = desk("mqstat")[1]
    assert "node1" in shown and "half done" in shown
    assert desk("mqdonejob", f"id={first}") == (0, "", "") == desk("mqdonejob", f"id={first}")
    second = desk.next()
    assert desk("mqgetjobattribute", f"id={second}", "attribute=slice") == (0, "2100\n", "")
    assert desk("mqdonejob", f"id={second}", "exit_code=3", "started=100", "ended=190", "now=200")[0] == 0
    assert desk("mqnextjob", *CALLER) == (11, "", "")
    assert desk("mqgetjobattribute", "job=B", "attribute=exit_code") == (0, "3\n", "")
    assert desk("mqgetjobattribute", "job=A", "attribute=host")[1] == "node1\n"
    start, end = (float(desk("mqgetjobattribute", "job=B", f"attribute={name}")[1]) for name in ("start", "end"))
    assert end - start == pytest.approx(90)
    assert desk("mqgetjobattribute", "job=B", "attribute=state")[1] == "failed\n"


def test_the_script_of_a_job_runs_it(desk: Desk) -> None:
    id = desk.next()
    script = desk("mqgetjobattribute", f"id={id}", "attribute=script")[1]
    done = subprocess.run(["dash"], input=script, capture_output=True, text=True, cwd="/", check=True)
    assert done.stdout == "a  b\n"


@pytest.mark.parametrize("breaks", [False, True])
def test_the_placeholder_of_the_documents_tells_no_end_of_a_job_that_never_came(desk: Desk, breaks: bool) -> None:
    text = Path(__file__).parents[2].joinpath("docs/hosts.md").read_text()
    (lines,) = [block for block in text.split("```")[1::2] if block.startswith("\nid=$(ssh submit mqnextjob")]
    ssh = desk.folder / "ssh"
    at_once = 'case "$*" in *mqgetjobattribute*) echo "Connection reset" >&2; exit 255;; esac\n' if breaks else ""
    ssh.write_text(f'#!/bin/sh\nshift\n{at_once}exec sh -c "$*"\n')
    ssh.chmod(0o755)
    path = f"{desk.folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**desk.environment, "PATH": path, "SLURM_JOB_ID": "5", "TMPDIR": str(desk.folder)}
    done = subprocess.run(["sh", "-c", lines], cwd=desk.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == (255 if breaks else 0), done.stderr
    assert desk("mqgetjobattribute", "job=A", "attribute=state")[1] == ("running\n" if breaks else "done\n")
    assert done.stdout == ("" if breaks else "a  b\n")


@pytest.mark.parametrize(
    ("name", "words", "code", "said"),
    [
        ("mqnextjob", ("sched=none", "sched_id=7", "host=h"), 2, "submit_host is missing"),
        ("mqnextjob", (*CALLER, "sched_ids=7"), 2, 'there is no key "sched_ids". Did you mean sched_id?'),
        ("mqnextjob", (*CALLER, "host=again"), 2, "host is given twice"),
        ("mqnextjob", (*CALLER, "cores=0"), 2, 'cores="0" does not fit'),
        ("mqnextjob", (*CALLER, "time=soon"), 2, 'time="soon" does not fit'),
        ("mqnextjob", ("sched=pbs", *CALLER[1:]), 2, 'there is no sched "pbs"'),
        ("mqnextjob", ("sched=none", "sched_id=7", "submit_host=-oProxyCommand=x", "host=h"), 2, "does not fit"),
        ("mqnextjob", ("7",), 2, '"7" is not KEY=VALUE'),
        ("mqgetjobcommand", (), 2, "id is missing"),
        ("mqgetjobcommand", ("id=x",), 2, '"x" is no id'),
        ("mqgetjobcommand", ("id=../1",), 2, "is no id"),
        ("mqgetjobcommand", ("id=0123456789abcdef.1",), 4, "is the id of another store"),
        ("mqgetjobcommand", ("id=99",), 4, "no job was ever given the id"),
        ("mqgetjobattribute", ("id=1",), 2, "attribute is missing"),
        ("mqgetjobattribute", ("id=1", "attribute=slize"), 4, 'has no attribute "slize"'),
        ("mqgetjobattribute", ("job=C", "attribute=dir"), 4, 'there is no job "C"'),
        ("mqgetjobattribute", ("attribute=dir",), 2, "which job is not said"),
        ("mqdonejob", ("id=1", "exit_code=one"), 2, 'exit_code="one" does not fit'),
        ("mqdonejob", ("id=1", "exit_code=300"), 2, "from -64 to 255"),
        ("mqdonejob", ("id=1", "exit_code=0", "back=x"), 2, "has an exit code, or is given back"),
        ("mqdonejob", ("id=1", "started=yesterday"), 2, "does not fit"),
        ("mqdonejob", ("id=0123456789abcdef.1",), 4, "another store"),
        ("mqdonejob", ("id=1", "cpu_seconds=1h 0m1.5s"), 2, "does not fit"),
        ("mqdonejob", ("id=1", "cpu_seconds=s"), 2, "does not fit"),
        ("mqnextjob", (*CALLER, "cores=000001000000000000000000000"), 2, "does not fit"),
        ("mqstatus", ("id=1x", "half done"), 2, '"1x" is no id'),
        ("mqstatus", ("id=١", "half done"), 2, "is no id"),
        ("mqstatus", ("id=",), 2, "nothing is said"),
        ("mqstatus", ("id=99", "half done"), 4, 'has the lease "99" now'),
        ("mqstatus", ("id=0123456789abcdef.1", "half done"), 4, 'has the lease "1" now'),
        ("mqstatus", ("id=1", "store=/nowhere", "half done"), 4, "there is no store"),
    ],
)
def test_a_bad_call_is_told_in_a_line_and_changes_nothing(
    desk: Desk, name: str, words: tuple[str, ...], code: int, said: str
) -> None:
    desk.next()
    before = desk.rows()
    found, out, talk = desk(name, *words)
    assert (found, out) == (code, "") and said in talk
    assert talk.startswith(f"{name}: ") and talk.count("\n") == 1
    assert desk.rows() == before


def test_an_id_that_is_good_no_more_is_refused_by_all_of_them(desk: Desk) -> None:
    old = desk.next()
    assert desk("mqdonejob", f"id={old}", "back=told to end")[0] == 0
    new = desk.next()
    before = desk.rows()
    for name, words in (("mqgetjobcommand", ()), ("mqgetjobattribute", ("attribute=dir",)), ("mqdonejob", ())):
        code, out, talk = desk(name, f"id={old}", *words)
        assert (code, out) == (4, "") and "not good any more" in talk and talk.count("\n") == 1
    assert desk.rows() == before
    assert desk("mqdonejob", f"id={new}")[0] == 0


@pytest.mark.parametrize("name", ALL)
def test_without_a_store_they_exit_4(tmp_path: Path, name: str) -> None:
    words = CALLER if name == "mqnextjob" else ("id=1", *(("attribute=dir",) if "attribute" in name else ()))
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HEADWAY_")}
    done = headway(*words, program=name, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout) == (4, "") and "there is no store" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_store_is_where_the_environment_or_headway_toml_says(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "below"
    elsewhere.mkdir(parents=True)
    (elsewhere.parent / ".headway").mkdir()  # no store, and not the nearest one that counts either
    assert desk("mqnextjob", *CALLER, cwd=Path("/"), HEADWAY_STORE=str(desk.folder))[0] == 0
    assert desk("mqnextjob", *CALLER, f"store={desk.folder}", cwd=Path("/"))[0] == 0
    (elsewhere / "headway.toml").write_text(f'store = "{desk.folder}"\n')
    assert desk("mqnextjob", *CALLER, cwd=elsewhere)[0] == 0


def test_cpu_time_is_told_as_a_number_or_as_shells_print_it(desk: Desk) -> None:
    assert desk("mqdonejob", f"id={desk.next()}", "cpu_seconds=1.5") == (0, "", "")
    assert desk("mqgetjobattribute", "job=A", "attribute=cpu_seconds")[1] == "1.5\n"
    assert desk("mqdonejob", f"id={desk.next()}", "cpu_seconds=1m2.25s 00m00.50s") == (0, "", "")
    assert desk("mqgetjobattribute", "job=B", "attribute=cpu_seconds")[1] == "62.75\n"


def test_mqstatus_finds_the_store_as_the_others_do(desk: Desk) -> None:
    id = desk.next()
    assert desk("mqstatus", f"id={id}", "one third") == (0, "", "")
    assert "one third" in desk("mqstat")[1]
    assert desk("mqstatus", f"id={id}", f"store={desk.folder}", "status=two", "thirds", cwd=Path("/")) == (0, "", "")
    assert " two thirds\n" in desk("mqstat")[1]


def test_a_job_that_headway_runs_itself_reads_its_attributes_and_ends_by_itself(desk: Desk) -> None:
    services = [f"mqgetjobattribute id=$HEADWAY_LEASE attribute={name}" for name in ("name", "color")]
    job = "; ".join([*services, "mqdonejob id=$HEADWAY_LEASE", "mqdonejob id=$HEADWAY_LEASE back=x", "false"])
    (desk.folder / "own.sh").write_text(f"mqsub -l C -c '{job}' -attr color=red\n")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = headway("run", "own.sh", cwd=desk.folder, env={**desk.environment, "PATH": path})
    assert done.returncode == 3
    said = headway("logs", "C", cwd=desk.folder, env=desk.environment).stdout
    assert said.startswith("C\nred\n") and said.count("Headway runs this job itself") == 2
    assert desk("mqgetjobattribute", "job=C", "attribute=state")[1] == "failed\n"


def test_what_a_failed_job_printed_comes_with_its_end(desk: Desk) -> None:
    id = desk.next()
    words = [sys.executable, "-m", "headway.cli.commands.mqdonejob", f"id={id}", "exit_code=1", "tail=-"]
    subprocess.run(words, input=b"why\xff\n", cwd=desk.folder, env=desk.environment, check=True)
    (attempt,) = opened(desk.folder / ".headway/store.db").history.attempts(WorkflowId(1))
    assert attempt.tail == "why\ufffd\n" and attempt.exit_code == 1


@pytest.mark.parametrize("name", ALL)
def test_help_shows_every_key(name: str) -> None:
    from importlib import import_module

    module = import_module(f"headway.cli.commands.{name}")
    shown = headway("--help", program=name).stdout
    assert shown.startswith(f"Usage: {name} ")
    assert all(f"{key}=" in shown for key in getattr(module, "KEYS", ("id", "store")))


def test_they_start_without_the_command_line_framework() -> None:
    for name in ALL:
        code = f"import sys, headway.cli.commands.{name}; sys.exit(bool({{'click', 'numpy'}} & sys.modules.keys()))"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_states_are_what_the_services_have_made_of_them(desk: Desk) -> None:
    desk("mqdonejob", f"id={desk.next()}")
    store = opened(desk.folder / ".headway/store.db")
    assert store.progress.counts(WorkflowId(1)) == {State.DONE: 1, State.ELIGIBLE: 1}
    assert store.placeholders.wanted("local") == [1]
