from __future__ import annotations

import os
from pathlib import Path

import pytest

from headway.formats.makefile.database import database
from headway.live.reading import make as module
from headway.live.reading.make import make
from headway.model.errors import HeadwayError, InputError


def makefile(folder: Path, text: str, name: str = "Makefile") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_make_says_what_it_would_do(tmp_path: Path) -> None:
    known = database(make(makefile(tmp_path, "a: b\n\techo $@\nb:\n\techo $(CURDIR)\n"), ()))
    assert [(trace.name, trace.lines) for trace in known.traces] == [
        ("b", [f"echo {tmp_path.resolve()}"]),
        ("a", ["echo a"]),
    ]
    assert known.entries["a"].prerequisites == ["b"]


def test_nothing_of_a_recipe_runs(tmp_path: Path) -> None:
    make(makefile(tmp_path, "a:\n\ttouch ran\n\t$(MAKE) -f other\n\techo `touch ran`\n"), ())
    assert not (tmp_path / "ran").exists()


def test_an_outer_make_is_not_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEFLAGS", "ks --no-builtin-rules")
    monkeypatch.setenv("MAKELEVEL", "3")
    known = database(make(makefile(tmp_path, "a:\n\techo $(MAKELEVEL)\n"), ()))
    assert known.traces[0].lines == ["echo 0"]


def test_a_file_that_begins_with_a_dash_and_a_missing_one(tmp_path: Path) -> None:
    assert "echo 1" in make(makefile(tmp_path, "a:\n\techo 1\n", "-f.mk"), ())
    with pytest.raises(InputError, match="cannot be read"):
        make(str(tmp_path / "gone.mk"), ())


def test_goals_are_no_options(tmp_path: Path) -> None:
    path = makefile(tmp_path, "a:\n\techo 1\n")
    for goal in ("--version", "-C/", "", "a\0b", "\ud800"):
        with pytest.raises(InputError):
            make(path, (goal,))


def test_without_make_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = makefile(tmp_path, "a:\n\techo 1\n")
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(HeadwayError, match="GNU make is not installed"):
        make(path, ())


def test_a_makefile_that_waits_for_ever_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.5)
    with pytest.raises(InputError, match=r"not done reading after 0.5 s"):
        make(makefile(tmp_path, "X := $(shell cat fifo & tail -f /dev/null)\na:\n\techo 1\n"), ())


def test_a_binary_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Makefile:2: this is a binary file"):
        make(makefile(tmp_path, "a:\n\techo \0\n"), ())
