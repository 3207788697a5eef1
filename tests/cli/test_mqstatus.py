"""`mqstatus`: what a running job says of itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.cli.commands.mqstatus import say
from headway.live.store.sqlite import SqliteDatabase
from headway.model.errors import NotFoundError, UsageError
from headway.model.states import Kind
from headway.model.workflow import Workflow
from tests.contracts.crew import Crew, flow, submission
from tests.shell import headway


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    crew = Crew.on(str(tmp_path), flow("ab"))
    crew.take()
    return crew


def environment(crew: Crew, name: str = "a") -> dict[str, str]:
    database = crew.store.database
    assert isinstance(database, SqliteDatabase) and database.path is not None
    return {
        "HEADWAY_STORE": str(database.path.parent),
        "HEADWAY_LEASE": f"{crew.store.id}-1f.{crew.leases[name].id}",
    }


def said(crew: Crew) -> list[str]:
    return [job.status for job in crew.store.watching.running()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["half", "done"], "half done"),
        (["Step=3", "of=7"], "Step=3 of=7"),
        (["status=well so far"], "well so far"),
        (["h\udcf6lf"], "h\udcf6lf"),
        ([""], ""),
    ],
)
def test_words_and_pairs_are_kept(crew: Crew, words: list[str], expected: str) -> None:
    say(words, environment(crew))
    assert said(crew) == [expected]
    crew.store.steering.say(crew.leases["a"].id, expected)  # the other way to the same
    assert said(crew) == [expected]


def test_the_papers_id_names_the_lease(crew: Crew) -> None:
    lease = crew.leases["a"].id
    say([f"id={lease}", "status=x"], {"HEADWAY_STORE": environment(crew)["HEADWAY_STORE"]})
    assert said(crew) == ["x"]


def test_without_a_job_it_is_said_what_is_missing(crew: Crew) -> None:
    known = environment(crew)
    for given, missing in (
        ({"HEADWAY_STORE": known["HEADWAY_STORE"]}, "which job"),
        ({"HEADWAY_LEASE": known["HEADWAY_LEASE"]}, "its store"),
        ({**known, "HEADWAY_LEASE": "no.thing"}, "which job"),
    ):
        with pytest.raises(UsageError, match=missing):
            say(["x"], given)
    with pytest.raises(UsageError, match="nothing is said"):
        say([], known)


def test_who_has_ended_or_is_of_another_store_says_nothing(crew: Crew) -> None:
    known = environment(crew)
    lease = known["HEADWAY_LEASE"].rpartition(".")[2]
    for other in (f"0123456789abcdef-1f.{lease}", f"{crew.store.id}.99", "1" * 40, f"{crew.store.id}.{'9' * 40}"):
        with pytest.raises((NotFoundError, UsageError)):
            say(["x"], {**known, "HEADWAY_LEASE": other})
    assert said(crew) == [""]
    crew.end("a")
    with pytest.raises(NotFoundError, match="has the lease"):
        say(["x"], known)


@pytest.mark.parametrize("word", ["ProvisionerState=2", "provisionerstate=ready"])
def test_a_provisioner_that_is_ready_lets_the_rest_start(tmp_path: Path, word: str) -> None:
    workflow = Workflow()
    workflow.job("a", "true")
    crew = Crew.on(str(tmp_path), submission(workflow, (Kind.PROVISIONER, "p")))
    assert crew.take(2) == ["p"]
    say(["ProvisionerState=1"], environment(crew, "p"))
    assert crew.take() == []
    say([word], environment(crew, "p"))
    assert said(crew) == [word] and crew.take() == ["a"]


def test_errors_are_sentences_with_exit_codes(tmp_path: Path) -> None:
    env = {**os.environ, "HEADWAY_STORE": str(tmp_path), "HEADWAY_LEASE": "x.1"}
    (tmp_path / "store.db").write_text("no store at all")
    done = subprocess.run(
        [sys.executable, "-m", "headway.cli.commands.mqstatus", "x"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and done.stderr.startswith("mqstatus: ") and "Traceback" not in done.stderr
    assert headway("--help", program="mqstatus").stdout.startswith("Usage: mqstatus")


def test_it_imports_little(crew: Crew) -> None:
    code = (
        "import os, sys\nfrom headway.cli.commands.mqstatus import main\n"
        "dear = {'click', 'dataclasses', 'inspect', 'socket', 'headway.live.store.sqlite'}\n"
        "end = os._exit\n"
        "def told(code):\n    print(sorted(dear & set(sys.modules)), flush=True)\n    end(code)\n"
        "os._exit = told\nmain(['x'])"
    )
    env = {**os.environ, **environment(crew)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n" and said(crew) == ["x"]


def test_a_job_speaks_through_its_runner_and_needs_no_way_to_the_store(tmp_path: Path) -> None:
    speak = f"HEADWAY_STORE=/no/such/place {sys.executable} -m headway.cli.commands.mqstatus half done"
    (tmp_path / "w.sh").write_text(f"mqsub -l A -c '{speak} && {sys.executable} -m headway status --json > status'\n")
    done = headway("run", str(tmp_path / "w.sh"))
    assert done.returncode == 0, done.stderr
    assert '"half done"' in (tmp_path / "status").read_text()


def test_a_word_for_another_store_is_not_kept_by_the_runner_of_this_one(tmp_path: Path, crew: Crew) -> None:
    there = environment(crew)
    speak = f"HEADWAY_STORE={there['HEADWAY_STORE']} HEADWAY_LEASE={there['HEADWAY_LEASE']}"
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "w.sh").write_text(
        f"mqsub -l A -c '{speak} {sys.executable} -m headway.cli.commands.mqstatus from afar'\n"
    )
    done = headway("run", str(folder / "w.sh"))
    assert done.returncode == 0, done.stderr
    assert "from afar" in said(crew)
