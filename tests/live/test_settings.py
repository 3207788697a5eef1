"""headway.toml: which file counts, what is refused, and that options and the environment come first."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.live.home.settings import files, settings
from headway.model.errors import InputError
from tests.shell import headway


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config/headway").mkdir(parents=True)
    (tmp_path / "here/below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_the_nearest_file_counts_before_the_users_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "config/headway/headway.toml").write_text('order = "fifo"\nslots = 3\n')
    (folder / "here/headway.toml").write_text("\nslots = 5\n")
    monkeypatch.chdir(folder / "here/below")
    assert [Path(one).parent.name for one in files(str(Path.cwd()))] == ["here", "headway"]
    found = settings().values
    assert (found["slots"].value, found["order"].value) == (5, "fifo")
    assert found["slots"].place == f"{folder}/here/headway.toml:2"


def test_a_relative_store_is_beside_the_file_that_names_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "here/headway.toml").write_text('store = "jobs"\n')
    monkeypatch.chdir(folder / "here/below")
    assert settings().values["store"].value == f"{folder}/here/jobs"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("slots = 0\n", 1, "slots must be a whole number. At least 1."),
        ("\nslots = true\n", 2, "slots must be a whole number"),
        ('ordr = "fifo"\n', 1, "Did you mean order?"),
        ("site = [1]\n", 1, "site must be a list of texts"),
        ("slots = \n", 1, "this is no TOML"),
        ("sites = 3\n", 1, "sites are tables"),
        ('[sites.a]\nhost = "h"\n', 1, "must say where its jobs find their files"),
        ('[sites.a]\nhost = "h"\nshared = true\ndirectory = "/x"\n', 1, "must say where its jobs find their files"),
        ('[sites.a]\nhost = "h"\nshared = true\nslotz = 3\n', 4, "Did you mean slots?"),
        ('[sites.local]\nhost = "h"\nshared = true\n', 1, "local is this computer"),
        (f'[sites.{"a" * 300}]\nhost = "h"\nshared = true\n', 1, "too long for a site"),
        (
            '[sites.stop]\nhost = "h"\nshared = true\n',
            1,
            "headway sites stop is a command. Give the site another name.",
        ),
        ('[site.lab]\nhost = "h"\nshared = true\n', 1, "there is no table [site.lab]. A site is [sites.lab]."),
        ('\n[lab]\nhost = "h"\n', 2, "there is no table [lab]. A site is [sites.lab]."),
        ("[sites.a]\nhost = lab7\n", 2, 'A text stands in quotes: host = "lab7".'),
        ('[sites.a]\nhost = "h"\nshared = true\ncores = 4\n', 4, "cores is for sites with a queue. How many jobs run"),
        ('[sites.a]\nhost = "h"\nshared = true\ntime = "1h"\n', 4, "time is for sites with a queue."),
        ('[sites.a]\nhost = "h"\nshared = true\nstage = ["x"]\n', 4, "stage is for sites with a directory."),
        ('[sites.a]\nhost = "h"\ndirectory = "/d"\nstage = ["/x"]\n', 4, "not below the workflow's folder"),
        ('[sites.a]\nhost = "h"\ndirectory = "/d"\nstage = ["a/../../x"]\n', 4, "not below the workflow's folder"),
        ('[sites.a]\nqueue = "slurm"\nssh_options = ["-v"]\n', 3, "ssh_options is for sites with a host."),
        ('[sites.a]\nqueue = "slurm"\noptions = "-p long"\n', 3, 'Write options = ["-p", "long"].'),
        ('[sites.a]\nqueue = "slurm"\naddress = "h:99999"\n', 3, '"99999" is no port'),
        ('[sites.a]\nhost = "me@h:22"\nshared = true\n', 2, 'Write host = "me@h" and ssh_options = ["-p", "22"]'),
        ('[sites."a/b"]\nhost = "h"\nshared = true\n', 1, "letters, digits"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(folder: Path, text: str, line: int, said: str) -> None:
    (folder / "here/headway.toml").write_text(text)
    with pytest.raises(InputError) as caught:
        settings()
    assert caught.value.line == line and said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [(f"a = {'[' * 5000}{']' * 5000}", "nested too deeply"), (f"slots = {'9' * 5000}", "too many digits")],
    ids=["deep", "long"],
)
def test_a_file_that_toml_cannot_take_is_named_not_traced(folder: Path, text: str, said: str) -> None:
    (folder / "here/headway.toml").write_text(text)
    with pytest.raises(InputError, match=rf"headway\.toml:1: .*{said}"):
        settings()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo], ids=["folder", "pipe"])
def test_a_folder_or_a_pipe_called_headway_toml_is_named_and_not_waited_for(
    folder: Path, make: Callable[[Path], None]
) -> None:
    make(folder / "here/headway.toml")
    with pytest.raises(InputError, match=r"headway\.toml:1: this is no file"):
        settings()


def test_a_file_with_a_byte_order_mark_is_read(folder: Path) -> None:
    (folder / "here/headway.toml").write_bytes(b"\xef\xbb\xbfslots = 5\n")
    assert settings().values["slots"].value == 5


def test_a_file_that_anybody_can_write_is_refused(folder: Path) -> None:
    (folder / "here/headway.toml").write_text("slots = 2\n")
    (folder / "here/headway.toml").chmod(0o666)
    with pytest.raises(InputError, match="anybody can write"):
        settings()


@pytest.mark.skipif(os.geteuid() != 0, reason="not run, no root: a file of another user")
def test_a_file_of_another_user_is_refused(folder: Path) -> None:
    (folder / "here/headway.toml").write_text("slots = 2\n")
    os.chown(folder / "here/headway.toml", 12345, 12345)
    with pytest.raises(InputError, match="belongs to"):
        settings()


def test_config_says_where_each_value_is_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "here/headway.toml").write_text('slots = 5\norder = "fifo"\n[sites.a]\nhost = "h"\nshared = true\n')
    monkeypatch.setenv("HEADWAY_ORDER", "prio")
    said = json.loads(headway("config", "--json").stdout)["settings"]
    assert said["order"] == {"value": "prio", "from": "environment HEADWAY_ORDER"}
    assert said["slots"] == {"value": 5, "from": f"{folder}/here/headway.toml:1"}
    assert said["sites.a.host"] == {"value": "h", "from": f"{folder}/here/headway.toml:4"}
    assert said["sync"] == {"value": "normal", "from": "default"}
    assert "headway.toml:1" in headway("config").stdout


def test_an_option_counts_before_the_environment_and_that_before_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "here/headway.toml").write_text('slots = 5\nstore = "jobs"\n')
    (folder / "here/w.mq").write_text("mqsub -l a -c true\n")

    def slots(*words: str) -> int:
        found: int = json.loads(headway("run", "w.mq", "--fresh", "--json", *words).stdout)["slots"]
        return found

    assert slots() == 5
    assert (folder / "here/jobs/store.db").exists()
    monkeypatch.setenv("HEADWAY_SLOTS", "4")
    assert slots() == 4
    assert slots("--slots", "3") == 3


def test_commands_find_the_store_that_the_file_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "here/headway.toml").write_text('store = "jobs"\n')
    (folder / "here/w.mq").write_text("mqsub -l a -c true\n")
    headway("run", "w.mq")
    monkeypatch.chdir(folder / "here/below")
    assert json.loads(headway("status", "--json").stdout)["workflows"][0]["done"] == 1


def test_a_sub_dag_runs_where_its_dag_does_though_the_file_names_another_site(folder: Path) -> None:
    here = folder / "here"
    (here / "headway.toml").write_text('site = "lab"\n\n[sites.lab]\nhost = "no-such-host.invalid"\nshared = true\n')
    (here / "job.sub").write_text("executable = /bin/true\nqueue\n")
    (here / "inner.dag").write_text("JOB I job.sub\n")
    (here / "outer.dag").write_text("SUBDAG EXTERNAL S inner.dag\n")
    done = headway("run", "outer.dag", "--site", "local", "--json", cwd=here)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["done"] == 1
