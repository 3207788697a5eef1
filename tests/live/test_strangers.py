"""A workflow in a folder where other users may write: nothing of theirs is trusted, and nothing is told to them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from headway.live.home.folder import Home
from headway.live.home.store_location import server_folder
from headway.model.errors import HeadwayError
from tests.live.ledger import until
from tests.shell import headway
from tests.strangers import NOBODY, done_by_nobody, needs_root, python_of_nobody, shared

__all__ = ["shared"]


def flow(folder: Path, *lines: str) -> Path:
    path = folder / "w.sh"
    path.write_text("\n".join(lines) + "\n")
    return path


def give_away(folder: Path) -> None:
    """All of a folder is another user's from now on."""
    until(lambda: not (folder / "runner.sock").exists())  # a runner that has nothing to do has left
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr


# --- the three attacks ----------------------------------------------------------------------------------------------


@needs_root
def test_commands_of_a_store_that_another_user_has_put_there_are_not_run(shared: Path) -> None:
    path = flow(shared, "mqsub -l A -c false")
    assert headway("run", str(path)).returncode == 3
    with sqlite3.connect(shared / ".headway/store.db") as db:
        db.execute("UPDATE specs SET spec = ?", (json.dumps({"command": f"touch {shared}/as-the-victim"}),))
    give_away(shared / ".headway")
    refused(headway("run", str(path), "--retry"), "belongs to nobody, not to root", "--store")
    assert not (shared / "as-the-victim").exists()
    elsewhere = headway("run", str(path), "--store", str(shared / "mine"))
    assert elsewhere.returncode == 3, elsewhere.stderr


@needs_root
@pytest.mark.parametrize("name", ["spool", "roster", "lock", "submit.lock", "runner.log", "logs", ".placeholders"])
def test_no_file_is_emptied_or_overwritten_through_a_link_of_another_user(shared: Path, name: str) -> None:
    path, victim = flow(shared, "mqsub -l A -c 'echo hello'"), shared / "precious"
    victim.mkdir() if name == "logs" else victim.write_text("work of years")
    done_by_nobody(f"umask 0; mkdir .headway; ln -s ../precious .headway/{name}", shared)
    refused(headway("run", str(path)), "belongs to nobody")
    assert list(victim.iterdir()) == [] if name == "logs" else victim.read_text() == "work of years"


@needs_root
def test_nothing_is_told_to_another_user_who_listens_in_place_of_the_runner(shared: Path) -> None:
    script = (
        "import os, socket, sys\n"
        "os.umask(0); os.mkdir('.headway')\n"
        "door = socket.socket(socket.AF_UNIX); door.bind('.headway/runner.sock'); door.listen()\n"
        "print('listens', flush=True)\n"
        "line, _ = door.accept(); line.sendall(b'{\"runner\": 1}\\n')\n"
        "while data := line.recv(65536): sys.stdout.write(data.decode())\n"
    )
    listener = python_of_nobody(script, shared)
    try:
        assert listener.stdout is not None and listener.stdout.readline() == "listens\n"
        done = subprocess.run(
            [sys.executable, "-m", "headway", "run", str(flow(shared, "mqsub -l A -c true"))],
            env={**os.environ, "TOKEN": "very secret"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        refused(done, "belongs to nobody")
    finally:
        listener.kill()
        heard, _ = listener.communicate(timeout=60)
    assert "secret" not in heard


# --- each safeguard by itself ---------------------------------------------------------------------------------------


@needs_root
def test_whoever_connects_checks_who_listens_before_a_word_is_said(tmp_path: Path) -> None:
    home = Home(tmp_path / ".headway")
    door = socket.socket(socket.AF_UNIX)
    door.bind(str(home.folder / "runner.sock"))
    os.seteuid(NOBODY)  # who listens is who called listen
    try:
        door.listen()
    finally:
        os.seteuid(0)
    with pytest.raises(HeadwayError, match="belongs to nobody"):
        home.connect()
    assert Home(home.folder, to_look=True).connect() is None


@needs_root
def test_the_runner_reads_nothing_of_what_another_user_says(shared: Path) -> None:
    path = flow(
        shared, "mqsub -l A -c 'touch begun; until test -e go; do sleep 0.01; done'", "mqsub -deps A -l B -c true"
    )
    run = subprocess.Popen([sys.executable, "-m", "headway", "run", str(path)])
    until((shared / "begun").exists)
    (shared / ".headway").chmod(0o711)
    (shared / ".headway/runner.sock").chmod(0o777)
    script = (
        "import socket\n"
        "line = socket.socket(socket.AF_UNIX); line.connect('.headway/runner.sock')\n"
        "try:\n"
        '    line.sendall(b\'{"cancel": 1, "now": true}\\n\'); print(repr(line.recv(1000)))\n'
        "except OSError: print('refused')\n"
    )
    said, _ = python_of_nobody(script, shared).communicate(timeout=60)
    assert said in ("b''\n", "refused\n")
    (shared / "go").touch()
    assert run.wait(60) == 0


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    path = flow(tmp_path, "mqsub -l A -c true")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".headway").symlink_to("elsewhere")
    refused(headway("run", str(path)), ".headway is a symbolic link", "--store")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", ["spool", "roster", "runner.log", "store.db", "store.db-wal", "logs", "logs/running"])
def test_a_link_in_the_folder_is_not_followed(tmp_path: Path, name: str) -> None:
    path, target = flow(tmp_path, "mqsub -l A -c 'echo hello'"), tmp_path / "precious"
    target.mkdir() if name.startswith("logs") else target.write_text("work of years")
    (tmp_path / ".headway").mkdir(0o700)
    if name == "logs/running":
        (tmp_path / ".headway/logs").mkdir(0o700)
    (tmp_path / ".headway" / name).symlink_to(target)
    refused(headway("run", str(path)), "is a symbolic link")
    assert list(target.iterdir()) == [] if name.startswith("logs") else target.read_text() == "work of years"


def test_a_folder_that_others_may_write_to_is_refused_with_what_mends_it(tmp_path: Path) -> None:
    path = flow(tmp_path, "mqsub -l A -c true")
    assert headway("run", str(path)).returncode == 0
    (tmp_path / ".headway").chmod(0o775)
    done = headway("run", str(path))
    refused(done, "other users may write to", f"chmod -R go-w {tmp_path}/.headway")
    refused(headway("redo", "A", cwd=tmp_path), "other users may write to")
    assert headway("status", cwd=tmp_path).returncode == 0
    subprocess.run(["chmod", "-R", "go-w", str(tmp_path / ".headway")], check=True)
    assert headway("run", str(path)).returncode == 0


@needs_root
def test_what_would_change_a_store_of_another_user_is_refused_even_to_root(shared: Path) -> None:
    path = flow(shared, "mqsub -l A -c true")
    assert headway("run", str(path)).returncode == 0
    give_away(shared / ".headway")
    files = {file: file.lstat().st_mtime_ns for file in (shared / ".headway").rglob("*")}
    for words in (["run", "w.sh"], ["redo", "A"], ["disable", "A"], ["clean", "--all", "--yes"]):
        refused(headway(*words, cwd=shared), "belongs to nobody", "Run this as nobody")
    assert {file: file.lstat().st_mtime_ns for file in (shared / ".headway").rglob("*")} == files


@needs_root
@pytest.mark.parametrize(
    "words",
    [["submit", "w.sh"], ["placeholder"], ["serve"], ["sites", "start", "far"], ["sites", "stop", "far"]],
    ids=lambda words: " ".join(words),
)
@pytest.mark.parametrize("named", [False, True], ids=["found", "named"])
def test_nobody_works_for_a_store_of_another_user_or_opens_it_to_other_hosts(
    shared: Path, words: list[str], named: bool
) -> None:
    path = flow(shared, "mqsub -l A -c true")
    (shared / "headway.toml").write_text('[sites.far]\nhost = "nowhere.invalid"\nshared = true\n')
    assert headway("run", str(path)).returncode == 0
    home = shared / ".headway"
    (home / "sites").mkdir(mode=0o700, exist_ok=True)  # several hosts may use it
    give_away(home)
    files = {file: file.lstat().st_mtime_ns for file in home.rglob("*")}
    place = ["--store", str(home)] if named or words == ["placeholder"] else []
    refused(headway(*words, *place, cwd=shared), "belongs to nobody", "Run this as nobody")
    assert {file: file.lstat().st_mtime_ns for file in home.rglob("*")} == files


@needs_root
def test_a_store_of_another_user_is_looked_at_and_no_link_in_it_followed(shared: Path) -> None:
    path = flow(shared, "mqsub -l A -c 'echo hello'")
    assert headway("run", str(path)).returncode == 0
    home, secret = shared / ".headway", shared / "secret"
    give_away(home)
    before = sorted(file.name for file in home.iterdir())
    for words in (["status"], ["history"], ["explain", "A"], ["runs"], ["run", "w.sh", "--dry-run"]):
        done = headway(*words, cwd=shared)
        assert done.returncode == 0, (words, done.stderr)
    assert headway("logs", "A", cwd=shared).stdout == "hello\n"
    assert sorted(file.name for file in home.iterdir()) == before
    secret.write_text("very secret")
    (log,) = (home / "logs/1/0").iterdir()
    log.unlink()
    log.symlink_to(secret)
    assert "secret" not in headway("logs", "A", cwd=shared).stdout
    shutil.copyfile(home / "store.db", secret)
    (home / "store.db").unlink()
    (home / "store.db").symlink_to(secret)
    refused(headway("status", cwd=shared), "symbolic link")


@needs_root
def test_mqsub_does_not_write_where_another_user_has_put_a_link(shared: Path) -> None:
    mine = flow(shared, "mqsub -l A -c true")
    before = mine.read_text()
    done_by_nobody("ln -s w.sh jobs.mq", shared)
    done = subprocess.run(
        [sys.executable, "-m", "headway.cli.commands.mqsub", "-l", "B", "-c", "true"],
        env={**os.environ, "HEADWAY_SUBMISSIONS": str(shared / "jobs.mq")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    refused(done, "belongs to nobody")
    assert mine.read_text() == before


# --- who may look ---------------------------------------------------------------------------------------------------


def modes(folder: Path) -> set[int]:
    return {path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file() and path.suffix != ".sock"}


def test_the_store_and_its_logs_are_private_and_jobs_keep_the_umask_of_their_user(tmp_path: Path) -> None:
    path = flow(tmp_path, "mqsub -l A -c 'echo hello; touch made'", "mqsub -l B -c 'umask > umask; no-such-program'")
    before = os.umask(0o002)
    try:
        assert headway("run", str(path)).returncode == 3
    finally:
        os.umask(before)
    home = tmp_path / ".headway"
    assert home.stat().st_mode & 0o777 == 0o700 and (home / "logs").stat().st_mode & 0o777 == 0o700
    assert modes(home) == {0o600}
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o664
    assert (tmp_path / "umask").read_text().strip() == "0002"


@pytest.mark.parametrize(("word", "folder", "file"), [("group", 0o750, 0o640), ("all", 0o755, 0o644)])
def test_share_lets_others_look_until_it_is_private_again(tmp_path: Path, word: str, folder: int, file: int) -> None:
    path, home = flow(tmp_path, "mqsub -l A -c 'echo hello'"), tmp_path / ".headway"
    before = os.umask(0o077)
    try:
        assert headway("run", str(path), "--share", word).returncode == 0
        assert headway("run", str(path), "--fresh").returncode == 0
    finally:
        os.umask(before)
    assert home.stat().st_mode & 0o777 == folder
    assert {one.stat().st_mode & 0o777 for one in (home / "logs").rglob("*") if one.is_dir()} == {folder}
    assert (home / "store.db").stat().st_mode & 0o777 == file and modes(home / "logs") == {file}
    assert (home / "spool").stat().st_mode & 0o777 == 0o600
    assert headway("run", str(path), "--share", "private").returncode == 0
    assert modes(home) == {0o600} and home.stat().st_mode & 0o777 == 0o700


@needs_root
@pytest.mark.parametrize("words", [["status"], ["status", "--store", ".headway"], ["run", "w.sh", "--dry-run"]])
def test_whoever_may_not_look_is_told_whose_store_it_is_and_how_to_share_it(shared: Path, words: list[str]) -> None:
    path = flow(shared, "mqsub -l A -c true")
    assert headway("run", str(path)).returncode == 0
    give_away(shared / ".headway")
    done = subprocess.run(
        # Root may read everything; without these, permissions hold for it too.
        ["setpriv", "--bounding-set=-dac_override,-dac_read_search", sys.executable, "-m", "headway", *words],
        cwd=shared,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    refused(done, "is private to nobody", "--share all")


@needs_root
def test_another_user_reads_what_is_shared_and_nothing_else(shared: Path) -> None:
    path = flow(shared, "mqsub -l A -c 'echo hello'")
    assert headway("run", str(path)).returncode == 0
    with pytest.raises(AssertionError):
        done_by_nobody("cat .headway/store.db .headway/logs/1/0/0.1.log", shared)
    assert headway("run", str(path), "--share", "all").returncode == 0
    done_by_nobody("cat .headway/store.db .headway/logs/1/0/0.1.log", shared)


@needs_root
def test_the_private_folder_of_a_run_on_a_server_is_no_hindrance_to_others(tmp_path: Path) -> None:
    url = "postgresql://db/jobs"
    private = server_folder(tmp_path / ".headway", url)
    private.mkdir(parents=True)
    give_away(tmp_path / ".headway")
    (tmp_path / ".headway").chmod(0o700)
    script = (
        "import sys; from pathlib import Path\n"
        "from headway.live.home.folder import Home; from headway.live.home.store_location import server_home\n"
        "assert server_home(sys.argv[1], sys.argv[2]) is None\n"
        "assert Home(Path(sys.argv[3]), to_look=True).connect() is None\n"
    )
    words = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", sys.executable, "-c", script]
    assert subprocess.run([*words, url, str(tmp_path), str(private)], timeout=60, check=False).returncode == 0
