"""A PostgreSQL server that demands a password: the runner has it, jobs do not; commands inside jobs ask the runner."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.contracts.conftest import emptied
from tests.infra.postgres import server
from tests.live.ledger import until
from tests.shell import headway

SECRET = "corréct horse"


@pytest.fixture(scope="module")
def strict_server() -> Iterator[str]:
    """The URL of a server that wants a password from everybody."""
    with server() as url:
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("SET password_encryption TO 'scram-sha-256'")
            db.execute(f"ALTER ROLE postgres PASSWORD '{SECRET}'")
            (rules,) = db.execute("SHOW hba_file").fetchone() or ("",)
            Path(rules).write_text("host all all 127.0.0.1/32 scram-sha-256\n")
            db.execute("SELECT pg_reload_conf()")
        until(lambda: demands_password(url))
        yield url


def demands_password(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError as error:
        return error.pgconn is not None and bool(error.pgconn.needs_password)
    return False


@pytest.fixture
def url(strict_server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    monkeypatch.setenv("HOME", str(tmp_path))  # no .pgpass of whoever runs the tests
    monkeypatch.setenv("PGPASSWORD", SECRET)
    emptied(strict_server)
    monkeypatch.delenv("PGPASSWORD")
    return strict_server


def run(folder: Path, url: str, *words: str, file: str = "w.sh", secret: str | None = SECRET) -> dict[str, object]:
    environment = {**os.environ, "PYTHON": sys.executable, **({"PGPASSWORD": secret} if secret else {})}
    command = [sys.executable, "-m", "headway", "run", str(folder / file), "--store", url, "--json", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr + "".join(log.read_text() for log in folder.glob("**/*.log"))
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_the_password_of_the_client_reaches_the_runner_and_no_job(tmp_path: Path, url: str) -> None:
    look = "env > env; cat /proc/*/cmdline > cmdlines 2> /dev/null; touch begun"
    (tmp_path / "w.sh").write_text(f"mqsub -l A -c '{look}'\nmqsub -deps A -l B -c true\n")
    assert run(tmp_path, url)["done"] == 2
    assert "HEADWAY_STORE=postgresql://" in (tmp_path / "env").read_text()
    assert "PGPASSWORD" not in (tmp_path / "env").read_text() and SECRET not in (tmp_path / "env").read_text()
    assert SECRET.encode() not in (tmp_path / "cmdlines").read_bytes()
    for path in (tmp_path / ".headway").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes(), path


def test_commands_of_headway_inside_a_job_ask_the_runner(tmp_path: Path, url: str) -> None:
    (tmp_path / "w.sh").write_text(
        "mqsub -l A -c '"
        "$PYTHON -m headway.cli.commands.mqstatus half done && "
        "$PYTHON -m headway status --json > status && "
        "$PYTHON -m headway.cli.commands.mqstat > mqstat'\n"
    )
    run(tmp_path, url)
    (running,) = json.loads((tmp_path / "status").read_text())["running"]
    assert (running["job"], running["status"]) == ("A", "half done")
    assert "half done" in (tmp_path / "mqstat").read_text()


def test_a_sub_dag_runs_on_a_server_with_a_password(tmp_path: Path, url: str) -> None:
    head = "SUBMIT-DESCRIPTION sh {\n shell = echo $(JOB) >> ledger; env >> env\n queue\n}\n"
    (tmp_path / "x.dag").write_text(head + "JOB A sh\nSUBDAG EXTERNAL S inner.dag\nPARENT A CHILD S\n")
    (tmp_path / "inner.dag").write_text(head + "JOB I sh\n")
    run(tmp_path, url, "--slots", "1", file="x.dag")
    assert (tmp_path / "ledger").read_text().split() == ["A", "I"]
    assert "PGPASSWORD" not in (tmp_path / "env").read_text()


def test_a_file_of_passwords_does(tmp_path: Path, url: str) -> None:
    port = url.rpartition(":")[2].partition("/")[0]
    (tmp_path / ".pgpass").write_text(f"127.0.0.1:{port}:*:postgres:{SECRET}\n")
    (tmp_path / ".pgpass").chmod(0o600)
    (tmp_path / "w.sh").write_text("mqsub -l A -c '$PYTHON -m headway.cli.commands.mqstatus hello'\n")
    assert run(tmp_path, url, secret=None)["done"] == 1


def test_without_a_password_the_way_out_is_said(tmp_path: Path, url: str) -> None:
    done = headway("status", "--store", url)
    assert done.returncode == 1 and done.stderr.startswith(
        "the PostgreSQL store wants a password. Put it into ~/.pgpass"
    )
    (tmp_path / "w.sh").write_text("mqsub -l A -c true\n")
    begun = headway("run", str(tmp_path / "w.sh"), "--store", url)
    assert begun.returncode == 1 and "wants a password" in begun.stderr and "Traceback" not in begun.stderr


def test_a_wrong_password_is_not_repeated(tmp_path: Path, url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "headway", "status", "--store", url],
        env={**os.environ, "PGPASSWORD": "wrong-one"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1 and "wrong-one" not in done.stderr and "Traceback" not in done.stderr


def test_jobs_of_a_local_store_keep_a_password_that_is_theirs(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c 'test \"$PGPASSWORD\" = mine'\n")
    environment = {**os.environ, "PGPASSWORD": "mine"}
    command = [sys.executable, "-m", "headway", "run", str(tmp_path / "w.sh")]
    assert subprocess.run(command, env=environment, timeout=60, check=False).returncode == 0
