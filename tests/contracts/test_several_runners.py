"""Several runners at one workflow on a PostgreSQL server: as on several hosts, here in folders of their own."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.postgres import Server, throw_away
from tests.live.crew_of_runners import Crew
from tests.live.ledger import is_alive, until

QUICK = {"HEADWAY_SILENCE": "1.5"}  # seconds


def test_runs_that_begin_at_once_submit_the_workflow_once(tmp_path: Path, postgres_url: str) -> None:
    crew = Crew(tmp_path, postgres_url, [f"mqsub -l J{n} -c 'echo J{n} >> ledger'" for n in range(400)])
    runs = [crew.start(n) for n in range(5)]
    answers = [crew.ended(run) for run in runs]
    assert [code for code, _ in answers] == [0] * 5
    assert len(crew.workflows()) == 1
    assert sorted((tmp_path / "ledger").read_text().split()) == sorted(f"J{n}" for n in range(400))


def test_fresh_runs_that_begin_at_once_are_runs_of_their_own(tmp_path: Path, postgres_url: str) -> None:
    crew = Crew(tmp_path, postgres_url, ["mqsub -l J -c 'echo J >> ledger'"])
    runs = [crew.start(n, "--fresh") for n in range(3)]
    assert [crew.ended(run)[0] for run in runs] == [0] * 3 and len(crew.workflows()) == 3


def test_who_joins_late_stays_until_all_is_done_and_says_the_same(tmp_path: Path, postgres_url: str) -> None:
    wait = "touch begun; until test -e go; do sleep 0.02; done"
    crew = Crew(tmp_path, postgres_url, [f"mqsub -l A -c '{wait}'", "mqsub -deps A -l B -c 'exit 3'"])
    first = crew.start(0)
    until((tmp_path / "begun").exists)
    second = crew.start(1)
    until(lambda: crew.runner(1))
    until(lambda: crew.workflow_is_known_to(1))
    assert second.poll() is None
    (tmp_path / "go").touch()
    answers = [crew.ended(run) for run in (first, second)]
    assert [code for code, _ in answers] == [3, 3]
    for _, answer in answers:
        assert (answer["done"], answer["failed"], [one["job"] for one in answer["failures"]]) == (1, 1, ["B"])


def test_work_that_becomes_eligible_anywhere_begins_at_any_free_slot(tmp_path: Path, postgres_url: str) -> None:
    """Two jobs that wait for each other are begun by two runners with one slot each, though only one ended theirs."""
    meet = "touch {0}; until test -e {1}; do sleep 0.02; done"
    crew = Crew(
        tmp_path,
        postgres_url,
        [
            "mqsub -l A -c 'until test -e go; do sleep 0.02; done'",
            f"mqsub -deps A -l B -c '{meet.format('b', 'c')}'",
            f"mqsub -deps A -l C -c '{meet.format('c', 'b')}'",
        ],
    )
    runs = [crew.start(n, "--slots", "1") for n in range(2)]
    until(lambda: crew.workflow_is_known_to(0) and crew.workflow_is_known_to(1))
    (tmp_path / "go").touch()
    assert [crew.ended(run)[0] for run in runs] == [0, 0]
    attempts = json.loads(crew.ask("history", "--json"))["attempts"]
    started = {one["job"]: one["started"] for one in attempts}
    ended = {one["job"]: one["ended"] for one in attempts}
    assert max(started["B"], started["C"]) < min(ended["B"], ended["C"])


def test_what_one_user_steers_reaches_the_runner_that_has_it(tmp_path: Path, postgres_url: str) -> None:
    crew = Crew(tmp_path, postgres_url, ["mqsub -l A -c 'touch begun; sleep 600'", "mqsub -l B -c true"])
    run = crew.start(0)
    until((tmp_path / "begun").exists)
    away = tmp_path / "elsewhere"
    away.mkdir()
    crew.ask("stop", "A", folder=away)  # no runner is found from there: only the store can tell it
    assert crew.ended(run)[0] == 3
    assert [one["job"] for one in json.loads(crew.ask("history", "--json"))["attempts"] if one["exit_code"] == 0] == [
        "B"
    ]


@pytest.mark.parametrize("runners", [2, 5])
def test_runners_that_are_killed_stopped_and_continued_lose_nothing(
    tmp_path: Path, postgres_url: str, runners: int
) -> None:
    crew = Crew.of_layers(tmp_path, postgres_url, layers=4, width=2 * runners, environment=QUICK, pause=0.15)
    crew.harass(random.Random(runners), runners, rounds=6)
    crew.finish()
    assert crew.violations() == []


def test_a_runner_that_comes_back_late_ends_what_it_has_lost(tmp_path: Path, postgres_url: str) -> None:
    begin, end = (f"echo {word} $HEADWAY_ATTEMPT $$ >> ledger" for word in ("begin", "end"))
    line = f"mqsub -l A -c '{begin}; until test -e go; do sleep 0.02; done; {end}'"
    crew = Crew(tmp_path, postgres_url, [line], QUICK)
    runs = [crew.start(0)]
    until(lambda: "begin 1" in crew.ledger())
    runs.append(crew.start(1))
    os.kill(crew.runner(0), signal.SIGSTOP)
    until(lambda: "begin 2" in crew.ledger())
    lost = int(crew.ledger().split()[2])
    assert is_alive(lost)
    os.kill(crew.runner(0), signal.SIGCONT)
    until(lambda: not is_alive(lost))
    (tmp_path / "go").touch()
    assert [crew.ended(run)[0] for run in runs] == [0, 0]
    assert crew.ledger().count("end 2") == 1 and "end 1" not in crew.ledger()


def test_an_end_that_is_told_late_counts_if_nobody_else_has_the_job(tmp_path: Path, postgres_url: str) -> None:
    crew = Crew(
        tmp_path,
        postgres_url,
        [
            "mqsub -l A -c 'echo A >> ledger; until test -e a; do sleep 0.02; done; touch a-ended'",
            "mqsub -l B -c 'echo B >> ledger; until test -e b; do sleep 0.02; done'",
        ],
        QUICK,
    )
    first = crew.start(0, "--slots", "1")
    until(lambda: "A" in crew.ledger())
    second = crew.start(1, "--slots", "1")
    until(lambda: "B" in crew.ledger())  # so that nobody has room for A
    os.kill(crew.runner(0), signal.SIGSTOP)
    (tmp_path / "a").touch()
    until((tmp_path / "a-ended").exists)
    until(lambda: "reclaimed" in crew.events())
    os.kill(crew.runner(0), signal.SIGCONT)
    until(lambda: json.loads(crew.ask("status", "--json"))["workflows"][0]["done"] == 1)
    (tmp_path / "b").touch()
    assert [crew.ended(run)[0] for run in (first, second)] == [0, 0]
    assert sorted(crew.ledger().split()) == ["A", "B"]


def test_a_host_whose_clock_is_two_minutes_off_loses_nothing(tmp_path: Path, postgres_url: str) -> None:
    """One runner's clock is two minutes ahead, another's two minutes behind: jobs run once, in time with each other."""
    crew = Crew.of_layers(tmp_path, postgres_url, layers=3, width=4)
    runs = []
    for number, ahead in enumerate((120, -120)):
        folder = tmp_path / f"clock{number}"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(
            f"import time\nreal = time.time\ntime.time = lambda: real() + {ahead}\n"
        )
        runs.append(crew.start(number, "--slots", "2", environment={"PYTHONPATH": str(folder)}))
    assert [crew.ended(run)[0] for run in runs] == [0, 0]
    assert crew.violations() == [] and crew.reruns() == 0
    times = [(one["started"], one["ended"]) for one in json.loads(crew.ask("history", "--json"))["attempts"]]
    assert max(end for _, end in times) - min(start for start, _ in times) < 100
    assert all(0 < end - start < 60 for start, end in times)


# --- outages --------------------------------------------------------------------------------------------------------


@pytest.fixture
def server() -> Iterator[Server]:
    with throw_away() as server:
        yield server


def test_after_an_outage_of_the_server_nothing_runs_twice(tmp_path: Path, server: Server) -> None:
    """The server is away for longer than the silence that is allowed; jobs run on and end meanwhile."""
    job = "echo {0} >> ledger; until test -e {0}; do sleep 0.02; done"
    jobs = [f"mqsub -l {name} -c '{job.format(name)}'" for name in "ABCD"]
    silence = 6.0  # long enough for a busy machine to speak in a quarter of it
    environment = {"HEADWAY_SILENCE": str(silence)}
    crew = Crew(tmp_path, server.url, [*jobs, "mqsub -deps 'A B C D' -l E -c 'echo E >> ledger'"], environment)
    runs = [crew.start(n, "--slots", "2") for n in range(2)]
    until(lambda: sorted(crew.ledger().split()) == list("ABCD"))
    server.stop()
    for name in "AC":
        (tmp_path / name).touch()
    until(lambda: all("waiting" in crew.said(run) for run in runs))
    time.sleep(silence + 1)  # what is tested is the length of the outage
    server.start()
    for name in "BD":
        (tmp_path / name).touch()
    assert [crew.ended(run)[0] for run in runs] == [0, 0]
    assert sorted(crew.ledger().split()) == list("ABCDE")
    assert crew.events() == []


def test_ctrl_c_ends_a_client_while_its_server_is_away(tmp_path: Path, server: Server) -> None:
    crew = Crew(tmp_path, server.url, ["mqsub -l A -c 'touch begun; until test -e go; do sleep 0.02; done'"])
    run = crew.start(0)
    until((tmp_path / "begun").exists)
    server.stop()
    (tmp_path / "go").touch()
    until(lambda: "waiting" in crew.said(run))
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=60) == 130
    server.start()
    until(lambda: crew.runner(0) == 0)  # which has told how the job ended, and left
    assert json.loads(crew.ask("status", "--json"))["workflows"][0]["done"] == 1


def test_ctrl_c_ends_a_client_whose_server_hangs(tmp_path: Path, server: Server) -> None:
    crew = Crew(tmp_path, server.url, ["mqsub -l A -c true"])
    assert crew.ended(crew.start(0))[0] == 0
    server.freeze()
    try:
        run = crew.start(1)
        until(lambda: crew.runner(1))  # which cannot get through to the server; nor can its client
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=60) == 130
    finally:
        server.thaw()
    until(lambda: not crew.runner(1))  # it has nothing to do
