"""What make calls up to date does not run, and what it calls out of date runs again. make itself is asked, for real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_run import run
from tests.cli.test_running import told
from tests.live.ledger import until
from tests.shell import answer


class Tree:
    """A folder with a Makefile whose recipes note what they make."""

    def __init__(self, folder: Path, *rules: str, files: str = "") -> None:
        self.folder = folder
        self.makefile = folder / "Makefile"
        self.makefile.write_text("SAY = echo $@ >> ledger\n" + "\n".join(rules) + "\n")
        for name in files.split():
            self.touch(name, 1000)

    def touch(self, name: str, seconds: int | None = None) -> None:
        """Changes a file: now, or so long after the beginning of time."""
        path = self.folder / name
        path.touch()
        if seconds is not None:
            os.utime(path, (seconds, seconds))

    def run(self, *words: str, code: int = 0) -> str:
        """What has run."""
        run(self.makefile, *words, code=code)
        return " ".join(self.ran())

    def ran(self) -> list[str]:
        ledger = self.folder / "ledger"
        lines = sorted(ledger.read_text().split()) if ledger.exists() else []
        ledger.unlink(missing_ok=True)
        return lines

    def made(self) -> None:
        """The same by make."""
        subprocess.run(["make"], cwd=self.folder, check=True, capture_output=True)
        self.ran()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(
        tmp_path,
        "all: prog\nprog: a.o b.o ; $(SAY); touch $@",
        "%.o: %.c ; $(SAY); touch $@",
        files="a.c b.c",
    )


def test_what_make_has_made_is_up_to_date(tree: Tree) -> None:
    tree.made()
    assert told(tree.makefile) == dict.fromkeys(["a.o", "b.o", "prog"], (False, "up-to-date"))
    assert tree.run() == ""
    tree.touch("a.c")
    assert told(tree.makefile)["a.o"] == (True, "outdated")
    assert tree.run() == "a.o prog"
    assert subprocess.run(["make", "-q"], cwd=tree.folder, check=False).returncode == 0


def test_a_done_job_runs_again_when_its_input_is_newer_or_its_target_is_gone(tree: Tree) -> None:
    assert tree.run() == "a.o b.o prog"
    assert tree.run() == ""
    tree.touch("b.c")
    assert tree.run() == "b.o prog"
    (tree.folder / "a.o").unlink()
    jobs = {job["job"]: job["reason"] for job in answer("run", str(tree.makefile), "--dry-run")["jobs"]}
    assert jobs["a.o"] == "a.o is not there" and jobs["prog"] == "out of date: a.o"
    assert tree.run() == "a.o prog"


def test_always_make_runs_what_is_up_to_date(tree: Tree) -> None:
    tree.made()
    assert tree.run("-B") == "a.o b.o prog"
    assert tree.run("--fresh") == ""
    assert tree.run("--fresh", "--always-make") == "a.o b.o prog"


def test_data_that_make_would_not_remake_is_not_overwritten(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "out: data.csv ; $(SAY); touch $@", "data.csv: ; $(SAY); echo lost > $@")
    (tmp_path / "data.csv").write_text("precious")
    assert tree.run() == "out"
    assert tree.run("--from", "out") == "out"
    assert tree.run("--fresh") == ""
    assert (tmp_path / "data.csv").read_text() == "precious"
    done = subprocess.run(
        [sys.executable, "-m", "headway", "run", "-", "--format", "makefile"],
        input=tree.makefile.read_bytes(),
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "data.csv").read_text() == "precious"


def test_order_only_prerequisites_and_files_between_do_not_make_things_out_of_date(tmp_path: Path) -> None:
    tree = Tree(
        tmp_path,
        "all: x.txt\n%.txt: %.mid | dir ; $(SAY); touch $@",
        "%.mid: %.src ; $(SAY); touch $@\ndir: ; $(SAY); mkdir dir",
        files="x.src",
    )
    assert tree.run() == "dir x.mid x.txt"
    (tmp_path / "x.mid").unlink()  # as make does with a file between
    tree.touch("dir")
    assert tree.run() == "" and tree.run("--fresh") == ""
    tree.touch("x.src")
    assert tree.run() == "x.mid x.txt"


def test_one_recipe_for_several_targets_runs_once(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "all: a b\na b &: in ; $(SAY); touch a b", files="in")
    assert tree.run() == "a" and tree.run() == ""
    (tmp_path / "b").unlink()
    assert len(tree.run().split()) == 1
    assert tree.run() == ""


def test_a_rule_that_does_nothing_makes_what_hangs_on_it_out_of_date_only_if_its_file_has_changed(
    tmp_path: Path,
) -> None:
    tree = Tree(
        tmp_path,
        "prog: conf.h ; $(SAY); touch $@",
        "conf.h: stamp\n\t@:\nstamp: conf.in ; $(SAY); touch $@",
        files="conf.in conf.h",
    )
    assert tree.run() == "prog stamp" and tree.run() == ""
    tree.touch("conf.in")
    assert tree.run() == "stamp"
    tree.touch("conf.h")
    assert tree.run() == "prog" and tree.run("--fresh") == ""


def test_half_a_file_that_a_killed_job_left_is_not_up_to_date(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "out: in ; $(SAY); echo half > $@; test -e go || kill -9 $$$$; touch $@", files="in")
    assert tree.run(code=3) == "out"
    (tmp_path / "out").write_text("half")
    assert told(tree.makefile) == {"out": (False, "failed")}
    (tmp_path / "go").touch()
    assert tree.run("--retry") == "out"


def test_a_recipe_that_failed_begins_with_its_first_line_again(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "out: in\n\techo one >> ledger; echo one > $@\n\techo two >> $@; test -e go", files="in")
    assert tree.run(code=3) == "one"
    assert tree.run(code=3) == ""
    (tmp_path / "go").touch()
    assert told(tree.makefile, "--retry") == {"out": (True, "outdated"), "out#2": (True, "outdated")}
    assert tree.run("--retry") == "one"
    assert (tmp_path / "out").read_text() == "one\ntwo\n"
    assert tree.run() == ""


def test_a_failed_job_whose_input_was_mended_is_tried_again(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "out: in ; $(SAY); test -s in && touch $@", files="in")
    assert tree.run(code=3) == "out" and tree.run(code=3) == ""
    (tmp_path / "in").write_text("mended")
    assert tree.run() == "out"


def test_a_recipe_that_was_stopped_between_two_lines_goes_on(tmp_path: Path) -> None:
    tree = Tree(
        tmp_path,
        "out: in\n\techo one >> ledger; touch begun; while ! test -e go; do sleep 0.01; done; echo one > $@",
        "\techo two >> ledger; echo two >> $@",
        files="in",
    )
    words = [sys.executable, "-m", "headway", "run", str(tree.makefile)]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:
        until(lambda: (tmp_path / "begun").exists())
        process.send_signal(signal.SIGTERM)
        tree.touch("go")
        assert process.wait(60) == 3
    assert tree.ran() == ["one"]
    assert told(tree.makefile) == {"out": (False, "done"), "out#2": (True, "new")}
    assert tree.run() == "two"
    assert (tmp_path / "out").read_text() == "one\ntwo\n"


def test_goals_and_variables_of_the_makefile_are_heard(tmp_path: Path) -> None:
    tree = Tree(
        tmp_path,
        "ifeq ($(MAKECMDGOALS),only)\nNAME = only\nendif\nNAME ?= all",
        ".PHONY: pre\npre: ; $(SAY)\nall only: pre ; $(SAY); test $(NAME) = $@; touch $@",
    )
    assert tree.run("only") == "only pre" and tree.run("only") == "only pre"
    assert tree.run("all", "NAME=all") == "all pre"
