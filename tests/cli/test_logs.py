"""`headway logs`: what jobs printed, and what they print."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headway.live.home.folder import Home
from headway.live.store import opened
from headway.live.store.submission import Submission
from headway.model.dag import Dag
from headway.model.flatten import Flat
from headway.model.job import Job, Rules, Script
from headway.model.messages import WorkflowId
from tests.contracts.crew import Crew
from tests.live.ledger import Site, until
from tests.shell import answer, headway

WAIT = "while ! test -e {go}; do sleep 0.01; done"


def process(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "headway", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def under_way(folder: Path, text: str, begun: str = "begun") -> Iterator[subprocess.Popen[str]]:
    """A run whose jobs have begun."""
    (folder / "slow.sh").write_text(text)
    run = process(folder, "run", "slow.sh", "--slots", "2")
    until((folder / begun).exists)
    yield run
    run.communicate(timeout=60)


def test_the_last_attempt_is_shown_and_any_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c 'echo try $HEADWAY_ATTEMPT; exit 1' -attr retries=1\n")
    headway("run", "w.sh", cwd=tmp_path)
    assert headway("logs", "A", cwd=tmp_path).stdout == "try 2\n"
    assert headway("logs", "A", "--attempt", "1", cwd=tmp_path).stdout == "try 1\n"
    assert headway("logs", "A", "-f", cwd=tmp_path).stdout == "try 2\n"
    done = headway("logs", "A", "--attempt", "3", cwd=tmp_path)
    assert done.returncode == 4 and "There were 1 (main), 2 (main)." in done.stderr


def test_a_job_that_printed_nothing_and_one_that_has_not_run_are_said_so(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c true\nmqsub -l B -c false\nmqsub -deps B -l C -c true\n")
    headway("run", "w.sh", cwd=tmp_path)
    for job, said in (("A", "printed nothing (attempt 1, exit code 0)"), ("C", "has not run yet")):
        done = headway("logs", job, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, "") and said in done.stderr
    done = headway("logs", "C", "-f", cwd=tmp_path)
    assert done.returncode == 0 and "its workflow has ended" in done.stderr


def test_files_that_a_job_names_are_shown_and_the_log_beside_them(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c 'echo out; echo err >&2' -attr stdout=a.out\n")
    headway("run", "w.sh", cwd=tmp_path)
    done = headway("logs", "A", cwd=tmp_path)
    assert done.stdout == "out\nerr\n" and "a.out <==" in done.stderr


def test_a_running_job_is_shown_so_far_and_no_other_job_s_output_with_it(tmp_path: Path) -> None:
    jobs = [f"mqsub -l {name} -c 'echo I am {name}; touch begun-{name}; {WAIT.format(go='go')}'" for name in "AB"]
    with under_way(tmp_path, "\n".join(jobs), "begun-A"):
        until((tmp_path / "begun-B").exists)
        for name in "AB":
            assert headway("logs", name, cwd=tmp_path).stdout == f"I am {name}\n"
        (tmp_path / "go").touch()


def test_following_goes_on_until_the_job_ends(tmp_path: Path) -> None:
    text = f"mqsub -l A -c 'echo one; touch begun; {WAIT.format(go='go')}; echo two'\n"
    with under_way(tmp_path, text):
        logs = process(tmp_path, "logs", "A", "-f")
        assert logs.stdout is not None and logs.stdout.readline() == "one\n"
        (tmp_path / "go").touch()
        out, talk = logs.communicate(timeout=60)
        assert out == "two\n" and "done after 1 attempt." in talk and logs.returncode == 0


def test_following_waits_for_a_job_that_has_not_begun_and_goes_through_its_retries(tmp_path: Path) -> None:
    text = (
        f"mqsub -l A -c 'touch begun; {WAIT.format(go='go')}'\n"
        "mqsub -deps A -l B -c 'echo try $HEADWAY_ATTEMPT; test $HEADWAY_ATTEMPT = 3' -attr retries=5\n"
    )
    with under_way(tmp_path, text):
        logs = process(tmp_path, "logs", "B", "-f")
        assert logs.stderr is not None and "waits for other jobs" in logs.stderr.readline()
        (tmp_path / "go").touch()
        out, talk = logs.communicate(timeout=60)
        assert out == "try 1\ntry 2\ntry 3\n" and "done after 3 attempts." in talk


def test_following_files_that_a_job_names_shows_nothing_of_an_earlier_attempt(tmp_path: Path) -> None:
    (tmp_path / "a.out").write_text("from long ago\n")
    text = f"mqsub -l A -c 'echo new; touch begun; {WAIT.format(go='go')}; echo end' -attr stdout=a.out\n"
    with under_way(tmp_path, text):
        logs = process(tmp_path, "logs", "A", "-f")
        assert logs.stdout is not None and logs.stdout.readline() == "new\n"
        (tmp_path / "go").touch()
        assert logs.communicate(timeout=60)[0] == "end\n"


def test_a_silent_job_that_is_followed_shows_nothing_of_the_next(tmp_path: Path) -> None:
    text = (
        f"mqsub -l A -c 'touch begun; {WAIT.format(go='go')}'\n"
        f"mqsub -deps A -l B -c 'echo B; touch b; {WAIT.format(go='end')}'\n"
    )
    with under_way(tmp_path, text):
        logs = process(tmp_path, "logs", "A", "-f")
        running = Path("/proc", str(logs.pid), "fd")
        until(lambda: any("logs/running/" in os.path.realpath(link) for link in running.iterdir()))
        (tmp_path / "go").touch()
        out, talk = logs.communicate(timeout=60)
        assert out == "" and "done after 1 attempt." in talk
        until((tmp_path / "b").exists)
        assert headway("logs", "B", cwd=tmp_path).stdout == "B\n"
        (tmp_path / "end").touch()


def test_the_runner_does_not_mind_the_signal_that_somebody_opens_an_output(tmp_path: Path) -> None:
    text = f"mqsub -l A -c 'touch begun; {WAIT.format(go='go')}'\nmqsub -deps A -l B -c 'kill -IO $$'\n"
    with under_way(tmp_path, text) as run:
        os.kill(Site(tmp_path).runner(), signal.SIGIO)
        (tmp_path / "go").touch()
        run.wait(60)
    ends = [
        (attempt.name, attempt.exit_code) for attempt in opened(tmp_path / ".headway").history.attempts(WorkflowId(1))
    ]
    assert ends == [("A", 0), ("B", -signal.SIGIO)]  # jobs have it as it was


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A folder where a node with two processes and scripts has run, and one whose POST script failed."""
    home = Home(tmp_path / ".headway")
    rules = Rules(pre=Script("before"), post=Script("after"))
    jobs = [Job(None, rules=rules, parts=(Job("p"), Job("q"))), Job("z", rules=rules)]
    flat = Flat(Dag(["N", "Z"], [0], [1]), jobs, frozenset())
    crew = Crew.on(str(home.folder), Submission("w", "/w.dag", str(tmp_path), flat, [0, 0]))
    for name, code in (("N", 0), ("N/0", 0), ("N/1", 0), ("N", 0), ("Z", 0), ("Z", 0), ("Z", 1)):
        crew.take()
        lease = crew.leases[name]
        log = Path(home.log(crew.workflow, lease.job, lease.attempt))
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"{name} {lease.attempt}\n")
        crew.end(name, exit_code=code)
    crew.store.close()
    return tmp_path


def test_a_node_s_scripts_and_processes_have_outputs_of_their_own(node: Path) -> None:
    def printed(*words: str) -> str:
        return headway("logs", *words, cwd=node).stdout

    assert printed("N") == "N/0 1\nN/1 1\n"
    assert printed("N/1") == "N/1 1\n"
    assert printed("N", "--step", "pre") == "N 1\n" and printed("N", "--step", "post") == "N 2\n"
    assert printed("Z") == "Z 2\n" and printed("Z", "--step", "pre") == "Z 1\n"
    assert "its POST script failed: --step post" in headway("logs", "Z", cwd=node).stderr
    done = headway("logs", "N", "-f", cwd=node)
    assert done.returncode == 2 and 'has 2 processes. Follow one: "N/0"' in done.stderr
    assert headway("logs", "N/0", "--step", "pre", cwd=node).returncode == 4


def test_a_script_is_told_from_its_job_in_history(node: Path) -> None:
    found = [(one["job"], one["step"]) for one in answer("history", "N", "N/0", cwd=node)["attempts"]]
    assert found == [("N", "pre"), ("N/0", "main"), ("N", "post")]
    assert "N (pre)" in headway("history", cwd=node).stdout


def test_logs_answer_in_json(node: Path, tmp_path: Path) -> None:
    (entry,) = answer("logs", "Z", cwd=node)["logs"]
    assert {key: entry[key] for key in ("job", "attempt", "exit_code", "site", "text")} == {
        "job": "Z",
        "attempt": 2,
        "exit_code": 0,
        "site": "local",
        "text": "Z 2\n",
    }
    assert Path(entry["path"]).read_text() == "Z 2\n"
    assert [(one["job"], one["text"]) for one in answer("logs", "N", "Z", cwd=node)["logs"]] == [
        ("N/0", "N/0 1\n"),
        ("N/1", "N/1 1\n"),
        ("Z", "Z 2\n"),
    ]
    (post,) = answer("logs", "Z", "--step", "post", cwd=node)["logs"]
    assert (post["step"], post["exit_code"], post["text"]) == ("post", 1, "Z 3\n")
    done = headway("logs", "N/0", "-f", "--json", cwd=node)
    assert done.returncode == 2 and not done.stdout


def test_a_log_that_is_no_utf8_is_json_that_every_parser_reads(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c 'printf \"caf\\351 \\360\\237\\216\\211\\n\"'\n")
    assert headway("run", "w.sh", cwd=tmp_path).returncode == 0
    (log,) = answer("logs", "A", cwd=tmp_path)["logs"]
    assert log["text"] == "caf\ufffd \N{PARTY POPPER}\n"
    assert log["text"].encode()  # a lone surrogate is in no UTF-8


def test_without_a_job_all_that_were_begun_are_shown(tmp_path: Path) -> None:
    lines = ["mqsub -l A -c 'echo a'", "mqsub -l B -c 'printf \"\\377\"; exit 7' -attr stdout=b.out"]
    text = "\n".join([*lines, "mqsub -deps B -l C -c true", ""])
    (tmp_path / "w.sh").write_text(text)
    headway("run", "w.sh", cwd=tmp_path)
    found = {one["job"]: one for one in answer("logs", cwd=tmp_path)["logs"]}
    assert sorted(found) == ["A", "B"] and found["A"]["text"] == "a\n"
    assert (found["B"]["exit_code"], found["B"]["text"]) == (7, "\ufffd")
    assert found["B"]["path"] == str(tmp_path / "b.out")
    (unbegun,) = answer("logs", "C", cwd=tmp_path)["logs"]
    assert (unbegun["attempt"], unbegun["path"], unbegun["text"]) == (None, None, "")
    done = headway("logs", cwd=tmp_path)
    assert "a\n" in done.stdout and "A:" in done.stderr and "B:" in done.stderr
