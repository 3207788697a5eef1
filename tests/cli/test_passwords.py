"""A password in the address of a store is refused, and not repeated."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.live.store import has_password
from tests.shell import headway

SECRET = "hunter2"
URLS = (
    f"postgresql://me:{SECRET}@db.example.org/jobs",
    f"postgres://me:{SECRET}@db.example.org:5433/jobs",
    f"postgresql://me@db.example.org/jobs?password={SECRET}",
    f"postgresql://db.example.org/jobs?sslmode=require&pass%77ord={SECRET}",
    f"postgresql:///jobs?sslpassword={SECRET}",
    f"postgresql://me:{SECRET}/with-a-slash@db.example.org/jobs",
)


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("words", [["run", "w.sh"], ["run", "w.sh", "--dry-run"], ["status"], ["runs"], ["redo", "A"]])
def test_a_url_with_a_password_is_refused_with_the_ways_that_work(tmp_path: Path, url: str, words: list[str]) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c true\n")
    for done in (headway(*words, "--store", url, cwd=tmp_path), from_environment(words, url, tmp_path)):
        assert done.returncode == 2, done.stderr
        assert "~/.pgpass" in done.stderr and "service file" in done.stderr and "PGPASSWORD" in done.stderr
        assert SECRET not in done.stderr + done.stdout and "Traceback" not in done.stderr
    assert not (tmp_path / ".headway").exists()


def from_environment(words: list[str], url: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "headway", *words],
        cwd=folder,
        env={**os.environ, "HEADWAY_STORE": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://db/jobs",
        "postgresql://me@db:5432/jobs",
        "postgresql://db:5432/jobs@home",
        "postgresql://me@[::1]:5432/jobs",
        "postgresql:///jobs?host=/run/db&passfile=/home/me/.pgpass",
        "postgresql:///?service=jobs",
    ],
)
def test_an_address_without_a_password_is_taken(url: str) -> None:
    assert not has_password(url)
