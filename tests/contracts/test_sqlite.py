"""What is special to the embedded store: where it may be, and what goes wrong with files."""

from __future__ import annotations

import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headway.live.store import opened
from headway.live.store.sqlite_file import checked, file_system
from headway.live.store.statements import statements
from headway.model.errors import HeadwayError, UsageError
from tests.contracts.crew import Crew, flow, graph, states

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
tmpfs /home/me/fast\\040disk tmpfs rw 0 0
/dev/sdb1 /homestead ext4 rw 0 0
scratch /scratch lustre rw 0 0
"""


def test_a_folder_a_file_and_a_url_are_ways_to_say_where_a_store_is(tmp_path: Path) -> None:
    mark = opened(tmp_path / "new").id
    assert opened(tmp_path / "new" / "store.db").id == mark
    assert opened(f"sqlite:///{tmp_path}/new/store.db").id == mark
    assert opened(f"sqlite:///{tmp_path}/new").id == mark


def test_a_store_of_another_kind_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="mysql:// is no store"):
        opened("mysql://host/database")


def test_the_file_system_of_a_folder_is_that_of_its_nearest_mount() -> None:
    assert file_system(Path("/home/me"), MOUNTS) == "nfs4"
    assert file_system(Path("/home/me/fast disk/x"), MOUNTS) == "tmpfs"
    assert file_system(Path("/homestead/x"), MOUNTS) == "ext4"
    assert file_system(Path("/var"), MOUNTS) == "ext4"


def test_network_file_systems_are_refused_with_the_way_out() -> None:
    with pytest.raises(HeadwayError, match=r"network file system \(lustre\).*--store postgresql://"):
        checked(Path("/scratch/store.db"), MOUNTS)
    checked(Path("/var/store.db"), MOUNTS)


@pytest.mark.parametrize("content", [b"name,age\nAda,36\n" * 100, b"", b"x"])
def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ages.db"
    path.write_bytes(content)
    with pytest.raises(HeadwayError, match=r"is no store.*--store"):
        opened(path)
    assert path.read_bytes() == content


def test_another_program_s_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE meta (key TEXT, value TEXT)")
    before = path.read_bytes()
    with pytest.raises(HeadwayError, match="is no store of Headway's"):
        opened(path)
    assert path.read_bytes() == before


def test_a_half_made_store_is_never_seen(tmp_path: Path) -> None:
    opened(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} <= {"store.db", "store.db-wal", "store.db-shm"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users can reach."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def belongs_to(folder: Path, user: int) -> None:
    """Gives a store to another user, as whom a child of ours will work; without root both are the same user."""
    for path in (folder, *folder.iterdir()) if os.getuid() == 0 else ():
        os.chown(path, user, user)


def said_by_a_child(work: Callable[[], object]) -> str:
    """What a child of this process, an ordinary user, is told when it tries."""
    heard, told = os.pipe()
    child = os.fork()
    if not child:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            work()
            os.write(told, b"done")
        except HeadwayError as error:
            os.write(told, str(error).encode())
        finally:
            os._exit(0)
    os.close(told)
    with os.fdopen(heard) as stream:
        said = stream.read()
    os.waitpid(child, 0)
    return said


def test_a_folder_that_cannot_be_written_is_said_so(folder: Path) -> None:
    folder.chmod(0o555)
    said = said_by_a_child(lambda: opened(folder / "store.db"))
    assert "store.db cannot be made: Permission denied. Make its folder writable." in said and "--store" in said


def test_a_store_that_cannot_be_written_is_said_so_and_stays(folder: Path) -> None:
    crew = Crew.on(str(folder), flow("ab"))
    crew.store.close()
    folder.chmod(0o555)
    belongs_to(folder, 65534)
    said = said_by_a_child(lambda: opened(folder).submissions.add(flow("c"), 1.0))
    assert "cannot be written" in said and "--store" in said
    belongs_to(folder, 0)
    folder.chmod(0o755)
    assert states(opened(folder), crew.workflow) == "a:e b:e"


FULL = textwrap.dedent("""
    import sys
    from pathlib import Path
    from headway.live.store import opened
    from headway.model.errors import HeadwayError
    from tests.contracts.crew import Crew, flow, graph, states
    crew = Crew.on(sys.argv[1], flow("ab", "ab"))
    crew.take()
    big = graph([f"job-{n}" for n in range(20_000)], [])
    try:
        crew.store.submissions.add(big, 1.0)
        print("it was not full")
    except HeadwayError as error:
        print(error)
    crew.store.close()
    if len(sys.argv) > 2:
        Path(sys.argv[2]).unlink()
    crew.store = opened(sys.argv[1])
    crew.end("a")
    print(crew.states())
""")


def test_a_full_disk_is_said_so_and_what_was_recorded_stays(tmp_path: Path) -> None:
    filled = 'mount -t tmpfs -o size=1m none "$1" && head -c 400k /dev/zero > "$1/filler"'
    mounted = filled + ' && exec "$2" -c "$3" "$1" "$1/filler"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted, "-", tmp_path, sys.executable, FULL],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    if not done.stdout and ("mount" in done.stderr or "unshare" in done.stderr):
        _with_a_limit_on_file_sizes(tmp_path)
        return
    assert done.stderr == ""
    assert "the disk is full. Make room and run again" in done.stdout and "a:d b:e" in done.stdout


def test_a_file_that_may_not_grow_is_said_so_and_what_was_recorded_stays(tmp_path: Path) -> None:
    _with_a_limit_on_file_sizes(tmp_path)


def _with_a_limit_on_file_sizes(folder: Path) -> None:
    crew = Crew.on(str(folder), flow("ab", "ab"))
    crew.take()
    crew.store.close()
    heard = folder / "said"
    child = os.fork()
    if not child:
        try:
            store = opened(folder)
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
            store.submissions.add(graph([f"job-{n}" for n in range(20_000)], []), 1.0)
        except HeadwayError as error:
            heard.write_text(str(error))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert "the disk is full. Make room and run again" in heard.read_text()
    crew.store = opened(folder)
    crew.end("a")
    assert crew.states() == "a:d b:e"


def test_a_store_that_is_damaged_is_said_so(tmp_path: Path) -> None:
    crew = Crew.on(str(tmp_path), graph([f"job-{n}" for n in range(2000)], []))
    crew.store.close()
    path = tmp_path / "store.db"
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(HeadwayError, match=r"is damaged.*--store"):
        opened(path).progress.jobs(crew.workflow)


def test_no_two_statements_have_one_name() -> None:
    folder = Path(statements.__code__.co_filename).parent
    names = [name for file in folder.glob("*.sql") for name in re.findall(r"(?m)^-- name: (\w+)$", file.read_text())]
    assert len(names) > 100 and sorted(names) == sorted(set(names))


def test_exchanges_find_everything_by_an_index(tmp_path: Path) -> None:
    Crew.on(str(tmp_path), graph([f"j{n}" for n in range(300)], [])).store.close()
    db = sqlite3.connect(tmp_path / "store.db")
    for name, first in (
        ("eligible", "SEARCH j USING INDEX jobs_eligible"),
        ("leased", "SEARCH a USING INTEGER PRIMARY KEY"),
        ("children", "SEARCH a USING PRIMARY KEY"),
        ("held", "SCAN j USING COVERING INDEX jobs_running|SCAN j USING INDEX jobs_running"),
    ):
        statement = statements("sqlite")[name]
        plan = db.execute("EXPLAIN QUERY PLAN " + statement.text, [1] * len(statement.names)).fetchall()
        assert plan[0][3].startswith(tuple(first.split("|"))), plan
