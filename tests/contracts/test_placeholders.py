"""`headway submit` and `headway placeholder`: several on one store, come and go as they like, and nothing is lost."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from headway.live.doors.queue_looks import look
from headway.live.store import opened
from headway.model.states import State
from tests.live.ledger import is_alive, keeper_of, runner_of, until
from tests.shell import headway

pytestmark = pytest.mark.slow
Process = subprocess.Popen[str]


class Shop:
    """A store, workflows in it, and placeholders with a state folder of their own."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self.folder, self._url = folder, url
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder)}
        self.environment["HEADWAY_SILENCE"] = "3"
        self._begun: list[Process] = []

    @property
    def store(self) -> str:
        return self._url or str(self.folder / ".headway")

    def submit(self, name: str, *lines: str, options: tuple[str, ...] = ()) -> int:
        """Submits a script with these lines."""
        text = "\n".join(["from headway import Workflow", "w = Workflow()", *lines])
        (self.folder / name).write_text(text + "\n")
        done = headway(
            "submit", str(self.folder / name), "--store", self.store, "--json", *options, env=self.environment
        )
        assert done.returncode == 0, done.stderr
        return int(json.loads(done.stdout)["workflow"])

    def placeholder(self, *options: str, stderr: IO[str] | int | None = None) -> Process:
        command = [sys.executable, "-m", "headway", "placeholder", "--store", self.store, *options]
        found = subprocess.Popen(command, cwd=self.folder, env=self.environment, text=True, stderr=stderr)
        self._begun.append(found)
        return found

    def homes(self) -> list[Path]:
        return sorted((self.folder / "state/headway").glob("*-placeholder-*"))

    @property
    def ledger(self) -> Counter[str]:
        with contextlib.suppress(FileNotFoundError):
            return Counter((self.folder / "ledger").read_text().splitlines())
        return Counter()

    def states(self, workflow: int) -> Counter[State]:
        store = opened(self.store if self._url else self.folder / ".headway/store.db")
        found = store.progress.counts(workflow)  # type: ignore[arg-type]
        store.close()
        return Counter(found)

    def asked(self, *words: str) -> str:
        done = headway(*words, "--store", self.store, env=self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def close(self) -> None:
        for one in self._begun:
            one.kill()
            one.communicate()
        for home in self.homes():
            if runner := runner_of(home):
                with contextlib.suppress(ProcessLookupError):  # it goes by itself
                    os.kill(runner, signal.SIGTERM)


@pytest.fixture(params=["sqlite", "postgresql"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    found = Shop(tmp_path, None if request.param == "sqlite" else request.getfixturevalue("postgres_url"))
    yield found
    found.close()


JOBS = "for i in range({count}): w.job(f'j{{i}}', f'echo j{{i}} >> ledger; sleep {pause}')"
WAITS = "w.job({name!r}, 'echo {name} >> ledger; until test -e go; do sleep 0.02; done; echo end >> ledger')"


def test_placeholders_share_the_workflows_of_a_store(shop: Shop) -> None:
    for name in ("one.py", "two.py"):
        shop.submit(name, JOBS.format(count=12, pause=0.1))
    there = [shop.placeholder("--slots", "2", "--idle", "1s") for _ in range(3)]
    assert [one.wait(60) for one in there] == [0, 0, 0]
    assert shop.ledger == Counter({f"j{i}": 2 for i in range(12)})
    assert len(shop.homes()) == 3


def test_what_is_submitted_while_placeholders_wait_begins_at_once(shop: Shop) -> None:
    shop.submit("first.py", JOBS.format(count=1, pause=0))
    shop.placeholder()
    until(lambda: shop.ledger["j0"])
    shop.submit("second.py", WAITS.format(name="new"))
    until(lambda: shop.ledger["new"])
    assert "new" in shop.asked("status", "--json")
    (shop.folder / "go").touch()
    until(lambda: shop.ledger["end"])


def test_what_jobs_print_is_found_where_their_placeholder_keeps_it(shop: Shop) -> None:
    shop.submit("w.py", "w.job('talks', 'echo hello')")
    assert shop.placeholder("--idle", "0.2s").wait(60) == 0
    assert shop.asked("logs", "talks") == "hello\n"


def test_a_job_that_would_not_end_in_time_is_left_to_others_and_holds_up_nobody(shop: Shop) -> None:
    number = shop.submit(
        "w.py",
        "w.job('limit', 'echo limit >> ledger', time='2h')",
        "w.job('expected', 'echo expected >> ledger', seconds=7200)",
        "w.job('short', 'echo short >> ledger', seconds=1)",
        "w.job('unknown', 'echo unknown >> ledger')",
    )
    assert shop.placeholder("--until", "1h", "--unknown", "90m", "--idle", "0.5s").wait(60) == 0
    assert shop.ledger == {"short": 1}
    assert shop.states(number)[State.ELIGIBLE] == 3
    assert shop.placeholder("--idle", "0.5s").wait(60) == 0
    assert shop.ledger == {"short": 1, "limit": 1, "expected": 1, "unknown": 1}


def test_when_its_time_is_over_what_runs_is_ended_and_runs_elsewhere(shop: Shop) -> None:
    shop.submit("w.py", WAITS.format(name="slow"))
    assert shop.placeholder("--until", "2s").wait(60) == 0
    assert shop.ledger == {"slow": 1}
    assert "the time of its placeholder was over" in shop.asked("history", "--json")
    (shop.folder / "go").touch()
    assert shop.placeholder("--idle", "0.2s").wait(60) == 0
    assert shop.ledger == {"slow": 2, "end": 1}


def test_ctrl_c_lets_running_jobs_end_and_twice_ends_them(shop: Shop) -> None:
    number = shop.submit("w.py", *(WAITS.format(name=name) for name in "ab"))
    one = shop.placeholder("--slots", "1", stderr=subprocess.PIPE)
    until(lambda: shop.ledger["a"])
    one.send_signal(signal.SIGINT)
    assert one.stderr is not None
    until(lambda: "running jobs may end" in one.stderr.readline())  # type: ignore[union-attr]
    (shop.folder / "go").touch()
    assert one.wait(60) == 0
    assert shop.ledger == {"a": 1, "end": 1}
    (shop.folder / "go").unlink()
    two = shop.placeholder("--slots", "1", stderr=subprocess.PIPE)
    until(lambda: shop.ledger["b"])
    two.send_signal(signal.SIGINT)
    assert two.stderr is not None
    until(lambda: "running jobs may end" in two.stderr.readline())  # type: ignore[union-attr]
    two.send_signal(signal.SIGINT)
    assert two.wait(60) == 0
    assert shop.states(number) == {State.DONE: 1, State.ELIGIBLE: 1}
    assert "its placeholder was told to end" in shop.asked("history", "--json")


def test_a_placeholder_whose_foreground_is_killed_finishes_what_runs_and_begins_nothing(shop: Shop) -> None:
    number = shop.submit("w.py", *(WAITS.format(name=name) for name in "ab"))
    one = shop.placeholder("--slots", "1")
    until(lambda: shop.ledger["a"])
    runner = runner_of(shop.homes()[0])
    one.kill()
    (shop.folder / "go").touch()
    until(lambda: shop.states(number)[State.DONE] == 1)
    until(lambda: not is_alive(runner))
    assert shop.ledger == {"a": 1, "end": 1} and shop.states(number)[State.ELIGIBLE] == 1


def test_a_runner_that_is_killed_has_a_successor_that_goes_on_with_its_jobs(shop: Shop) -> None:
    shop.submit("w.py", *(WAITS.format(name=name) for name in "ab"))
    one = shop.placeholder("--slots", "2")
    until(lambda: shop.ledger["a"] and shop.ledger["b"])
    os.kill(runner_of(shop.homes()[0]), signal.SIGKILL)
    assert one.wait(60) == 1
    two = shop.placeholder("--slots", "2", "--idle", "1s")
    until(lambda: runner_of(shop.homes()[0]))
    (shop.folder / "go").touch()
    assert two.wait(60) == 0
    assert shop.ledger == {"a": 1, "b": 1, "end": 2} and len(shop.homes()) == 1


def test_a_queue_that_signals_jobs_and_placeholder_alike_makes_no_failures(shop: Shop) -> None:
    number = shop.submit("w.py", "w.job('a', 'echo $$ >> ledger; exec sleep 600')")
    shop.placeholder("--slots", "1")
    until(lambda: shop.ledger)
    (job,) = map(int, shop.ledger)
    os.killpg(job, signal.SIGTERM)
    os.kill(runner_of(shop.homes()[0]), signal.SIGTERM)
    until(lambda: shop.states(number) == {State.ELIGIBLE: 1})
    assert "its placeholder was told to end" in shop.asked("history", "--json")


def test_jobs_of_a_placeholder_that_is_gone_for_good_run_elsewhere(shop: Shop) -> None:
    shop.submit("w.py", WAITS.format(name="slow"))
    one = shop.placeholder("--slots", "1")
    until(lambda: shop.ledger["slow"])
    (home,) = shop.homes()
    runner = runner_of(home)
    keeper = keeper_of(runner)
    other = shop.placeholder("--slots", "1", "--idle", "2s")
    until(lambda: len(shop.homes()) == 2 and runner_of(shop.homes()[1]))
    for pid in (keeper, runner, one.pid):
        os.kill(pid, signal.SIGKILL)
    home.rename(home.with_name("gone"))  # as its host
    (shop.folder / "go").touch()
    assert other.wait(60) == 0
    assert shop.ledger["slow"] == 2


def test_a_submitted_workflow_is_watched_and_cancelled_without_a_runner_here(shop: Shop) -> None:
    number = shop.submit("w.py", *(WAITS.format(name=name) for name in "ab"))
    one = shop.placeholder("--slots", "1")
    until(lambda: shop.ledger["a"])
    shop.asked("cancel")
    assert shop.states(number) == {State.ELIGIBLE: 2}
    (shop.folder / "go").touch()
    shop.submit("w.py", *(WAITS.format(name=name) for name in "ab"))  # goes on with it
    watcher = headway("attach", "--store", shop.store, env=shop.environment)
    assert watcher.returncode == 0 and "2 of 2 jobs done" in watcher.stderr
    one.send_signal(signal.SIGTERM)
    assert one.wait(60) == 0


def test_a_workflow_for_another_site_is_not_touched(shop: Shop) -> None:
    (shop.folder / "headway.toml").write_text('[sites.far]\nhost = "nowhere"\nshared = true\n')
    (shop.folder / "headway").mkdir()
    (shop.folder / "headway.toml").rename(shop.folder / "headway/headway.toml")
    number = shop.submit("w.py", JOBS.format(count=1, pause=0), options=("--site", "far"))
    shop.submit("v.py", "w.job('mine', 'echo mine >> ledger')")
    assert shop.placeholder("--idle", "0.5s").wait(60) == 0
    assert shop.ledger == {"mine": 1} and shop.states(number) == {State.ELIGIBLE: 1}


def test_variables_that_are_exported_are_there_wherever_it_runs(shop: Shop) -> None:
    shop.environment["SAMPLE"] = "7"
    shop.submit("w.py", "w.job('a', 'echo $SAMPLE >> ledger')", options=("--export", "SAMPLE"))
    del shop.environment["SAMPLE"]
    assert shop.placeholder("--idle", "0.2s").wait(60) == 0
    assert shop.ledger == {"7": 1}


def test_without_a_store_the_nearest_one_is_served(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c 'touch done'\n")
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path)}
    assert headway("submit", "w.sh", cwd=tmp_path, env=environment).returncode == 0
    (tmp_path / "below").mkdir()
    assert headway("placeholder", "--idle", "0.2s", cwd=tmp_path / "below", env=environment).returncode == 0
    assert (tmp_path / "done").exists()


def test_named_resources_are_those_of_the_placeholder(shop: Shop) -> None:
    number = shop.submit("w.py", "w.job('a', 'echo a >> ledger', resources={'gpu': 1})")
    assert shop.placeholder("--idle", "0.5s").wait(60) == 0
    assert shop.states(number) == {State.ELIGIBLE: 1}
    assert shop.placeholder("--idle", "0.5s", "--resource", "gpu=1").wait(60) == 0
    assert shop.ledger == {"a": 1}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--until", "25:00"), "neither a time of day"),
        (("--until", "0"), "later than now"),
        (("--slots", "0"), "0 is not in the range"),
        (("--store", "/nowhere/at/all"), "there is no store"),
        (("--store", "mysql://host/db"), "no store that Headway knows"),
        (("--store", "postgresql://me:secret@host/db"), "there is a password"),
    ],
)
def test_bad_words_are_told_in_a_sentence(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = headway("placeholder", *words, cwd=tmp_path)
    assert done.returncode in (2, 4) and said in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_sub_dag_and_commands_of_headway_in_a_job_find_the_store_of_their_placeholder(shop: Shop) -> None:
    (shop.folder / "job.sub").write_text("executable = /bin/sh\narguments = \"-c 'echo inner >> ledger'\"\nqueue\n")
    (shop.folder / "inner.dag").write_text("JOB I job.sub\n")
    (shop.folder / "outer.dag").write_text("SUBDAG EXTERNAL S inner.dag\n")
    done = headway("submit", str(shop.folder / "outer.dag"), "--store", shop.store, env=shop.environment)
    assert done.returncode == 0, done.stderr
    shop.submit("w.py", f"w.job('ask', '{sys.executable} -m headway status > status')")
    assert shop.placeholder("--idle", "0.2s").wait(60) == 0
    assert shop.ledger == {"inner": 1}
    assert "ask" in (shop.folder / "status").read_text()


def test_a_job_that_is_too_long_by_what_earlier_ones_took_is_left_to_a_placeholder_with_more_time(shop: Shop) -> None:
    shop.submit("a.py", "w.job('a', 'sleep 3')")
    assert shop.placeholder("--idle", "0.1").wait(60) == 0
    number = shop.submit("b.py", "w.job('b', 'sleep 0.1')")  # of which only the program is looked at
    assert shop.placeholder("--until", "2s", "--idle", "0.1").wait(60) == 0
    assert shop.states(number) == {State.ELIGIBLE: 1}
    assert json.loads(shop.asked("history", "--workflow", str(number), "--json"))["attempts"] == []
    assert shop.placeholder("--until", "1m", "--idle", "0.1").wait(60) == 0
    assert shop.states(number) == {State.DONE: 1}


def test_one_whose_time_is_over_has_the_next_one_submitted_if_there_is_more_to_do(shop: Shop) -> None:
    again = ("--again", "echo more >> ledger")
    number = shop.submit("a.py", "w.job('a', 'sleep 60')")
    assert shop.placeholder("--until", "1s", *again).wait(60) == 0
    assert shop.ledger == {"more": 1}
    assert shop.states(number) == {State.ELIGIBLE: 1}  # it was given back
    shop.asked("done", "a")
    assert shop.placeholder("--until", "1s", *again).wait(60) == 0  # nothing is left
    assert shop.placeholder("--until", "1h", "--idle", "0.1", *again).wait(60) == 0  # its time is not over
    assert shop.ledger == {"more": 1}
    assert shop.placeholder(*again).wait(60) == 2


def test_a_script_that_is_gone_from_its_queue_is_noticed_by_a_placeholder_which_runs_its_job(shop: Shop) -> None:
    number = shop.submit("w.py", "w.job('a', 'echo a >> ledger')")
    caller = ("sched=process", "sched_id=somebody", "submit_host=localhost", "host=gone", f"store={shop.store}")
    given = headway(*caller, program="mqnextjob", env=shop.environment)
    assert given.returncode == 0, given.stderr
    there = subprocess.Popen(["sleep", "60"], env={**os.environ, "HEADWAY_PLACEHOLDER": "somebody"})
    store = opened(shop.store if "://" in shop.store else shop.folder / ".headway/store.db")
    until(lambda: look(store) or store.database.run("was_listed", key="listed process localhost"))
    store.close()
    there.kill()
    there.wait()
    shop.placeholder("--idle", "20s")
    until(lambda: shop.ledger["a"])
    until(lambda: shop.states(number) == {State.DONE: 1})
    late = headway(f"id={given.stdout.strip()}", f"store={shop.store}", program="mqdonejob", env=shop.environment)
    assert late.returncode == 4 and "does not count" in late.stderr
    assert "not in the list of process any more" in shop.asked("history", "--json")


def test_a_job_that_mqsub_adds_runs_at_once_and_what_it_waits_for_is_waited_for(shop: Shop) -> None:
    shop.submit("w.py", WAITS.format(name="slow"))
    shop.placeholder("--slots", "2")
    until(lambda: shop.ledger["slow"])
    shop.environment["HEADWAY_STORE"] = shop.store
    for words in (
        ("-l", "now", "-c", "echo now >> ledger"),
        ("-deps", "slow now", "-l", "then", "-c", "echo then >> ledger"),
    ):
        added = headway(*words, program="mqsub", cwd=shop.folder, env=shop.environment)
        assert added.returncode == 0, added.stderr
    until(lambda: shop.ledger["now"])
    assert not shop.ledger["then"]
    (shop.folder / "go").touch()
    until(lambda: shop.ledger["then"])
    assert shop.ledger == {"slow": 1, "now": 1, "end": 1, "then": 1}
