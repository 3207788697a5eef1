"""Headway beside the real make: the same Makefile, the same changes, the same targets made."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_run import run
from tests.cli.test_running import told
from tests.live.ledger import until
from tests.live.test_uptodate import Tree
from tests.shell import headway


class Both:
    """The same folder twice: what Headway runs in one, make runs in the other."""

    def __init__(self, folder: Path, *rules: str, files: str = "") -> None:
        ours, theirs = folder / "headway", folder / "make"
        for place in (ours, theirs):
            place.mkdir()
        self.ours, self.theirs = Tree(ours, *rules, files=files), Tree(theirs, *rules, files=files)

    def write(self, name: str, text: str) -> None:
        for tree in (self.ours, self.theirs):
            path = tree.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            if name != "Makefile":
                os.utime(path, (1000, 1000))

    def touch(self, *names: str) -> None:
        for name in names:
            self.ours.touch(name)
            self.theirs.touch(name)

    def runs(self, *words: str, make: tuple[str, ...] = (), fails: bool = False) -> str:
        """What both have run, which must be the same."""
        done = subprocess.run(["make", "-s", "-k", *make], cwd=self.theirs.folder, check=False, capture_output=True)
        assert (done.returncode != 0) == fails, done.stderr
        ran = self.ours.run(*words, code=3 if fails else 0)
        assert ran == " ".join(self.theirs.ran())
        return ran


# --- phony targets -----------------------------------------------------------------------------------------------


def test_phony_targets_run_once_in_every_run(tmp_path: Path) -> None:
    both = Both(
        tmp_path,
        ".PHONY: all check\nall: check\n\t$(SAY)\ncheck: prog list ; $(SAY)",
        "prog: src ; $(SAY); touch $@",
        files="src list",
    )
    assert both.runs() == "all check prog"
    assert both.runs() == "all check"
    both.touch("src")
    assert both.runs() == "all check prog"
    assert both.runs("--fresh") == "all check"


def test_a_run_that_goes_on_repeats_phony_targets(tmp_path: Path) -> None:
    both = Both(
        tmp_path,
        ".PHONY: all setup\nall: out\n\t$(SAY)\nsetup: ; $(SAY)",
        "out: other | setup ; $(SAY); test -e go && touch $@\nother: ; $(SAY); touch $@",
    )
    assert both.runs(fails=True) == "other out setup"
    both.touch("go")
    assert both.runs("--retry") == "all out setup"
    assert both.runs() == "all setup"


def test_what_hangs_on_a_phony_target_or_on_force_is_made_every_time(tmp_path: Path) -> None:
    both = Both(
        tmp_path,
        ".PHONY: setup\nout: version setup ; $(SAY); touch $@",
        "version: FORCE ; $(SAY); touch $@\nsetup: conf ; $(SAY)\nFORCE:",
        files="conf",
    )
    for _ in range(3):
        assert both.runs() == "out setup version"


def test_a_failed_phony_target_runs_again_without_being_asked(tmp_path: Path) -> None:
    both = Both(tmp_path, ".PHONY: check\ncheck: prog ; $(SAY); test -e go\nprog: ; $(SAY); touch $@")
    assert both.runs(fails=True) == "check prog"
    assert both.runs(fails=True) == "check"
    both.touch("go")
    assert both.runs() == "check"


def test_a_makefile_that_headway_wrote_goes_on_where_it_stopped(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l A -c 'echo A >> ledger'\nmqsub -deps A -l B -c 'test -e go'\n")
    assert headway("convert", "w.sh", "--to", "makefile", "-o", "Makefile", cwd=tmp_path).returncode == 0
    run(tmp_path / "Makefile", code=3)
    (tmp_path / "go").touch()
    run(tmp_path / "Makefile", "--retry")
    assert (tmp_path / "ledger").read_text() == "A\n"


def test_a_goal_that_another_goal_has_needed_before_is_made_once(tmp_path: Path) -> None:
    """What make says of it, that it is up to date, was run as a line of the recipe before."""
    rules = ".PHONY: all check\nall: out ; $(SAY)\nout: ; $(SAY); touch $@\ncheck: all"
    both = Both(tmp_path, rules)
    assert both.runs("all", "out", "check", make=("all", "out", "check")) == "all out"
    assert both.runs("all", "out", make=("all", "out")) == "all"


# --- edited recipes ----------------------------------------------------------------------------------------------

RECIPE = "all: last\nlast: out | side ; $(SAY); cp out last\nout: in ; $(SAY); echo {} > $@\nside: ; $(SAY); touch $@"


def edited(folder: Path) -> Tree:
    """A Makefile that was run and then edited: `out` is made otherwise, and is up to date to make."""
    tree = Tree(folder, RECIPE.format("one"), files="in")
    assert tree.run() == "last out side"
    tree.makefile.write_text(tree.makefile.read_text().replace("echo one", "echo two"))
    return tree


def test_an_edited_file_is_refused_with_exit_code_2(tmp_path: Path) -> None:
    tree = edited(tmp_path)
    done = headway("run", str(tree.makefile))
    assert done.returncode == 2 and "--edited rerun" in done.stderr and tree.ran() == []
    assert headway("run", str(tree.makefile), "--dry-run").returncode == 2


@pytest.mark.parametrize("option", [["--edited", "rerun"], ["--fresh"]])
def test_an_edited_recipe_runs_again_and_what_hangs_on_it(tmp_path: Path, option: list[str]) -> None:
    tree = edited(tmp_path)
    reasons = told(tree.makefile, *option)
    assert reasons["out"] == (True, "outdated") and reasons["side"][0] is False
    assert tree.run(*option) == "last out"
    assert (tmp_path / "last").read_text() == "two\n"
    assert tree.run() == "" and tree.run("--fresh") == ""


def test_always_make_runs_everything_every_time_edited_or_not(tmp_path: Path) -> None:
    tree = edited(tmp_path)
    assert tree.run("-B") == "last out side"
    assert (tmp_path / "last").read_text() == "two\n"
    assert tree.run("-B") == "last out side"
    assert tree.run() == ""


def test_an_edited_recipe_is_still_to_run_if_the_run_that_should_have_was_stopped_before(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "last: out ; $(SAY); cp out last\nout: in | gate ; $(SAY); echo one > $@", files="in")
    tree.makefile.write_text(tree.makefile.read_text() + "gate: lock ; $(SAY); test ! -s lock && touch $@\n")
    tree.touch("lock", 1000)
    assert tree.run() == "gate last out"
    tree.makefile.write_text(tree.makefile.read_text().replace("echo one", "echo two"))
    (tmp_path / "lock").write_text("locked")
    assert tree.run("--edited", "rerun", code=3) == "gate"  # so out never began
    (tmp_path / "lock").write_text("")
    os.utime(tmp_path / "lock", (1000, 1000))
    assert tree.run("--fresh") == "gate last out"
    assert (tmp_path / "last").read_text() == "two\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\techo one > $@\n\techo two >> $@\n", "\techo one > $@\n\techo 2 >> $@\n"),
        ("\techo one > $@\n\techo two >> $@\n", "\techo one > $@\n"),
        ("\techo one > $@\n", "\techo one > $@\n\techo two >> $@\n"),
    ],
    ids=["changed", "removed", "added"],
)
@pytest.mark.parametrize("option", [["--edited", "rerun"], ["--fresh"]])
def test_a_recipe_with_another_line_begins_anew(tmp_path: Path, before: str, after: str, option: list[str]) -> None:
    rule = "out: in\n\techo first >> ledger\n"
    tree = Tree(tmp_path, rule + before, files="in")
    tree.run()
    tree.makefile.write_text(tree.makefile.read_text().replace(before, after))
    assert tree.run(*option) == "first"
    made = (tmp_path / "out").read_text()
    subprocess.run(["make", "-B"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "out").read_text() == made


# --- recursive make ----------------------------------------------------------------------------------------------


def recursive(folder: Path, rule: str) -> Both:
    both = Both(folder, rule, files="main.c")
    both.write("lib/Makefile", "liba.a: a.c ; echo lib >> ../ledger; touch $@\n")
    both.write("lib/a.c", "")
    return both


def test_what_hangs_on_a_recursive_make_is_made_if_that_has_changed_something(tmp_path: Path) -> None:
    rule = "prog: lib/liba.a main.c ; $(SAY); touch $@\nlib/liba.a: FORCE ; $(MAKE) -C lib\nFORCE:"
    both = recursive(tmp_path, rule)
    assert both.runs() == "lib prog"
    both.touch("lib/a.c")
    assert both.runs() == "lib prog"


def test_a_recursive_make_is_asked_in_every_run(tmp_path: Path) -> None:
    both = recursive(tmp_path, ".PHONY: all lib\nall: lib\nlib:\n\t$(SAY)\n\t$(MAKE) -C lib")
    assert both.runs() == "lib lib" and both.runs() == "lib"
    both.touch("lib/a.c")
    assert both.runs() == "lib lib"


# --- what a failing recipe leaves --------------------------------------------------------------------------------


def failing(folder: Path, more: str = "") -> Tree:
    """The first line writes the target, the second fails and does not touch it."""
    return Tree(
        folder, f"{more}\nout: in\n\techo one >> ledger; echo half > $@\n\ttest -e go\n\techo >> $@", files="in"
    )


def test_what_the_first_line_wrote_goes_if_the_second_fails(tmp_path: Path) -> None:
    tree = failing(tmp_path)
    assert tree.run(code=3) == "one" and not (tmp_path / "out").exists()
    strict = tmp_path / "make"
    strict.mkdir()
    theirs = failing(strict, ".DELETE_ON_ERROR:")  # to make that is a choice
    assert subprocess.run(["make"], cwd=strict, check=False, capture_output=True).returncode
    assert theirs.ran() == ["one"] and not (strict / "out").exists()


def test_half_a_target_is_never_up_to_date_later(tmp_path: Path) -> None:
    tree = failing(tmp_path, ".PRECIOUS: out")
    assert tree.run(code=3) == "one" and (tmp_path / "out").read_text() == "half\n"
    assert subprocess.run(["make", "-q"], cwd=tmp_path, check=False).returncode == 0  # make would be taken in
    assert told(tree.makefile) == {"out": (False, "done"), "out#2": (False, "failed"), "out#3": (False, "blocked")}
    (tmp_path / "go").touch()
    assert tree.run("--fresh") == "one"
    assert (tmp_path / "out").read_text() == "half\n\n"


PRECIOUS = ".PRECIOUS: out\nall: out\n\tcp out all\nout: in\n\t$(SAY); echo half > $@; test -e go && echo whole > $@"


@pytest.mark.parametrize(("first", "then"), [((), ("out",)), (("out",), ()), (("out",), ("all", "out"))])
def test_half_a_target_is_not_up_to_date_when_other_goals_include_it(
    tmp_path: Path, first: tuple[str, ...], then: tuple[str, ...]
) -> None:
    """The run said that it was up to date, and exited with 0."""
    tree = Tree(tmp_path, PRECIOUS, files="in")
    assert tree.run(*first, code=3) == "out" and (tmp_path / "out").read_text() == "half\n"
    assert subprocess.run(["make", "-q", "out"], cwd=tmp_path, check=False).returncode == 0  # make would be taken in
    (tmp_path / "go").touch()
    dry = headway("run", str(tree.makefile), "--dry-run", *then)
    assert "out" in dry.stdout and "an earlier run began it and did not come to its end" in dry.stdout
    assert tree.run(*then) == "out" and (tmp_path / "out").read_text() == "whole\n"
    assert tree.run(*then) == "" and tree.run("out", "in") == ""  # by now it is whole, whoever asks


def test_a_target_that_a_run_with_other_goals_makes_now_is_not_begun_a_second_time(tmp_path: Path) -> None:
    """Both runs wrote it at once."""
    wait = "until test -e go; do sleep 0.01; done"
    tree = Tree(
        tmp_path, "a: both ; cp both $@", "b: both ; cp both $@", "c: in ; $(SAY)", f"both: ; $(SAY); {wait}; touch $@"
    )
    tree.touch("in")
    headway("run", str(tree.makefile), "a", "--detach")
    until((tmp_path / "ledger").exists)
    refused = headway("run", str(tree.makefile), "b")
    assert refused.returncode == 1 and '"both" is being made now by another run of this Makefile' in refused.stderr
    headway("run", str(tree.makefile), "c")  # which has nothing to do with it
    tree.touch("go")
    until((tmp_path / "a").exists)
    assert tree.run("b") == "both c" and (tmp_path / "b").exists()


def test_what_was_killed_half_way_with_other_goals_is_made_again_though_it_was_done_before(tmp_path: Path) -> None:
    tree = Tree(tmp_path, PRECIOUS, files="in")
    tree.touch("go")
    assert tree.run() == "out" and tree.run() == ""
    (tmp_path / "go").unlink()
    tree.touch("in")
    assert tree.run("out", code=3) == "out" and (tmp_path / "out").read_text() == "half\n"
    tree.touch("in", 1000)  # so that make calls it up to date
    tree.touch("go")
    assert tree.run() == "out" and (tmp_path / "all").read_text() == "whole\n"
    assert tree.run() == ""


def test_a_target_that_its_failing_recipe_has_not_touched_stays(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "out: in\n\techo one >> ledger\n\tfalse", files="in")
    tree.touch("out", 500)
    assert tree.run(code=3) == "one" and (tmp_path / "out").exists()


def test_a_line_that_is_tried_again_finds_what_the_first_one_wrote(tmp_path: Path) -> None:
    tree = Tree(tmp_path, "out: in\n\techo one > $@\n\ttest -e again || { touch again; false; }", files="in")
    tree.run("--retries", "1")
    assert (tmp_path / "out").read_text() == "one\n"
