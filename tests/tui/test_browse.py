"""`headway browse` and `mqdump` in a real terminal (section 3.4.2 of TrellisDAG)."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.infra.postgres import Server
from tests.live.ledger import until
from tests.papers.test_trellisdag_figure_3 import STAGES
from tests.shell import ROOT, answer, headway
from tests.tui.terminal import Terminal, terminal

BROWSE = (sys.executable, "-m", "headway", "browse")
GATE = "until test -e {}; do sleep 0.02; done"


@pytest.fixture(autouse=True)
def own_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWAY_STORE", raising=False)


@pytest.fixture
def stages(tmp_path: Path) -> Path:
    """A workflow whose second stage has failed."""
    (tmp_path / "stages.sh").write_text(STAGES)
    headway("run", "stages.sh", cwd=tmp_path)
    return tmp_path


@pytest.fixture
def browser(stages: Path) -> Iterator[Terminal]:
    with terminal(*BROWSE, cwd=stages) as found:
        found.shows("Stage1", "q quit")
        yield found


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Path]:
    """A workflow that is being run: A and B wait until files of their names are there, C for both."""
    jobs = [f"mqsub -l {name} -c 'echo {name} >> ledger; {GATE.format(name)}'" for name in "AB"]
    (tmp_path / "w.sh").write_text("\n".join([*jobs, "mqsub -deps 'A B' -l C -c true"]) + "\n")
    run = subprocess.Popen(
        [sys.executable, "-m", "headway", "run", "w.sh", "--slots", "2"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: ledger(tmp_path) == ["A", "B"])
    yield tmp_path
    for name in "AB":
        (tmp_path / name).touch()
    run.wait(timeout=60)


def ledger(folder: Path) -> list[str]:
    path = folder / "ledger"
    return sorted(path.read_text().split()) if path.exists() else []


def states(folder: Path, *words: str) -> dict[str, str]:
    return {group["path"]: group["state"] for group in answer("status", *words, cwd=folder)["groups"]}


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_the_first_screen_is_that_of_fig_15(tmp_path: Path) -> None:
    script = tmp_path / "fig14.py"
    script.write_text((ROOT / "examples/fig14.py").read_text().replace('f"{name}.comp.sh"', '"false"'))
    headway("run", "fig14.py", "4", cwd=tmp_path)
    headway("redo", "VS_2_1", cwd=tmp_path)
    headway("disable", "VS_2_1/Slice_2_1_0_0", cwd=tmp_path)
    headway("enable", "VS_2_1/Slice_2_1_0_0", cwd=tmp_path)
    with terminal(*BROWSE, cwd=tmp_path) as browser:
        browser.shows("VS_3_1", "q quit")
        browser.press("p")
        browser.shows("VS_3_1_prologue")
        found = [line.split()[:4] for line in browser.lines()[2:8]]
    assert [row[:2] for row in found] == [
        ["1", "VS_2_1_prologue"],
        ["14", "VS_2_1"],
        ["15", "VS_2_2_prologue"],
        ["28", "VS_2_2"],
        ["29", "VS_3_1_prologue"],
        ["46", "VS_3_1"],
    ]
    assert [row[2:] for row in found[1:]] == [["Not", "started"]] * 5


def test_rows_have_the_columns_of_fig_15_and_how_many_jobs_are_done(browser: Terminal) -> None:
    assert browser.lines()[1].split() == ["ID", "Group", "Status", "Attribute", "Done"]
    assert browser.row("Stage1") == ["6", "Stage1", "Done", "None", "2/2"]
    assert browser.row("Stage2") == ["12", "Stage2", "Failed", "None", "1/2"]
    assert browser.row("Stage3") == ["18", "Stage3", "Not", "started", "None", "0/2"]


@pytest.mark.parametrize("columns", [40, 52, 72, 100])
def test_the_columns_are_whole_beside_the_scroll_bar_of_many_groups(tmp_path: Path, columns: int) -> None:
    (tmp_path / "w.sh").write_text("".join(f"mqsub -l group{at} -c true\n" for at in range(100)))
    headway("submit", "w.sh", cwd=tmp_path)
    with terminal(*BROWSE, cwd=tmp_path, columns=columns) as browser:
        browser.shows("group9", "q quit")
        browser.press("End")
        browser.shows("group99", "not started")
        assert "Status" in browser.lines()[1] and browser.row("group99")[-1] in ("0/1", "started")
        assert columns < 52 or (browser.lines()[1].split()[-1], browser.row("group99")[-1]) == ("Done", "0/1")


def test_a_prologue_group_with_jobs_is_a_row_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l X -c false -prologue\nmqsub -l X/K -c true\nmqsub -l X -c true\n")
    headway("run", "w.sh", cwd=tmp_path)
    with terminal(*BROWSE, cwd=tmp_path) as browser:
        browser.shows("X_prologue", "q quit")
        assert browser.row("X_prologue")[:3] == ["1", "X_prologue", "Failed"]
        assert browser.row("X") == ["4", "X", "Not", "started", "None", "0/2"]


def test_groups_are_dived_into_and_left(browser: Terminal) -> None:
    browser.press("Down", "Enter")
    browser.shows("› Stage2")
    assert browser.row("C")[:3] == ["9", "C", "Failed"] and browser.row("D")[:3] == ["11", "D", "Done"]
    browser.press("Enter")
    browser.shows("C has no groups in it.")
    browser.press("u")
    browser.shows("Stage3")
    browser.shows("group Stage2: failed")  # the cursor is where it was


def test_the_numbers_of_the_papers_menu_work_as_keys(browser: Terminal, stages: Path) -> None:
    browser.press("1")
    browser.shows("› Stage1")
    browser.press("9")
    browser.shows("Stage3")
    browser.press("4")
    until(lambda: states(stages)["Stage1"] == "done" and "Disable: Stage1" in browser.screen())


def test_what_a_group_waits_for_is_shown_with_how_it_stands(browser: Terminal) -> None:
    browser.press("End", "w")
    browser.shows("Stage3 waits for 2 jobs:", "Stage2/C: failed", "Stage2/D: done")
    browser.press("Escape")
    browser.shows_no("Stage2/C: failed")


def test_a_row_is_found_by_a_part_of_its_name(browser: Terminal) -> None:
    browser.press("/")
    browser.shows("a part of a name")
    browser.type("AGEq")  # no key of the browser's while somebody types
    browser.shows("AGEq")
    browser.press("BSpace")
    browser.shows_no("AGEq")
    browser.press("3", "Enter")
    browser.shows("group Stage3: not started")
    browser.press("/")
    browser.shows("a part of a name")
    browser.type("nowhere")
    browser.press("Enter")
    browser.shows("No group here has 'nowhere' in its name.")


def test_keys_that_come_in_one_burst_do_what_they_do_one_by_one(browser: Terminal, stages: Path) -> None:
    browser.type("/Stagex\x7f2\rww")  # as from a fast typist at the other end of a slow line
    browser.shows("Stage2 waits for 2 jobs:")
    browser.press("Escape")
    browser.shows_no("Stage2 waits for")
    browser.type("u/no such\r/ge1\r1u")
    browser.shows("Stage3", "group Stage1: done")
    browser.type("jjd")
    until(lambda: states(stages)["Stage3"] == "disabled")
    browser.type("kkfjy/done\r")  # j is not yes, and done is no command
    browser.shows("No group here has 'done' in its name.")
    assert states(stages) == {"Stage1": "done", "Stage2": "failed", "Stage3": "disabled"}


def test_escape_leaves_the_line_for_names(browser: Terminal) -> None:
    browser.press("/")
    browser.shows("a part of a name")
    browser.type("Stage3")
    browser.press("Escape")
    browser.shows_no("a part of a name")
    browser.press("Down")
    browser.shows("group Stage2: failed")


def test_it_is_there_without_colours(stages: Path) -> None:
    with terminal("env", "NO_COLOR=1", *BROWSE, cwd=stages) as browser:
        browser.shows("Stage3", "q quit")


def test_sigterm_gives_the_terminal_its_screen_back(stages: Path) -> None:
    with terminal("sh", "-c", "echo before; exec $0 -m headway browse", sys.executable, cwd=stages) as browser:
        browser.shows("Stage3", "q quit")
        (pid,) = browsing(stages)
        os.kill(pid, signal.SIGTERM)
        screen = browser.shows("before", "code 143")
        assert "Stage3" not in screen


def browsing(folder: Path) -> list[int]:
    """The browsers that run in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_browser = b"-m\0headway\0browse" in (process / "cmdline").read_bytes()
            if (
                is_browser
                and (process / "cwd").resolve() == folder.resolve()
                and (process / "comm").read_text() != "sh\n"
            ):
                found.append(int(process.name))
    return found


def test_q_ends_it_with_exit_code_0(browser: Terminal) -> None:
    browser.press("q")
    browser.shows("code 0")


def test_ctrl_c_ends_it_too_also_while_something_is_typed(browser: Terminal) -> None:
    browser.press("/", "x", "C-c")
    browser.shows("code 0")


def test_a_click_moves_the_cursor_and_a_double_click_dives(browser: Terminal) -> None:
    for kind in "Mm":
        browser.type(f"\x1b[<0;10;4{kind}")  # the second row, as a terminal tells it
    browser.shows("group Stage2: failed")
    for kind in "MmMm":
        browser.type(f"\x1b[<0;10;4{kind}")
    browser.shows("› Stage2")


@pytest.mark.parametrize("size", [(12, 4), (5, 2), (1, 1), (300, 90)], ids=str)
def test_a_terminal_of_any_size_is_survived(browser: Terminal, size: tuple[int, int]) -> None:
    browser.resize(*size)
    browser.press("Down", "Enter")
    browser.resize(100, 24)
    browser.shows("› Stage2", "q quit")


def test_a_size_in_the_environment_does_not_hold_for_ever(stages: Path) -> None:
    with terminal("env", "COLUMNS=80", "LINES=24", *BROWSE, cwd=stages) as browser:
        browser.shows("Stage1", "q quit")
        browser.resize(110, 20)
        until(lambda: "─" * 110 in browser.lines())
        browser.press("End")
        browser.shows("group Stage3: not started")
        assert browser.row("Stage3")[-1] == "0/2" and browser.lines()[0].startswith("1 stages")


# --- what is changed --------------------------------------------------------------------------------------------------


def test_groups_are_disabled_and_enabled(browser: Terminal, stages: Path) -> None:
    browser.press("End", "d")
    browser.shows("Disable: Stage3, 2 changed.")
    assert browser.row("Stage3")[2:4] == ["Disabled", "Disabled"]
    assert states(stages)["Stage3"] == "disabled"
    browser.press("e")
    browser.shows("Enable: Stage3, 2 changed.")
    assert states(stages)["Stage3"] == "waiting"


def test_a_group_is_called_done_after_a_yes(browser: Terminal, stages: Path) -> None:
    browser.press("Down", "f")
    browser.shows("Done: Stage2, 2 jobs? y: yes")
    browser.press("z")
    browser.shows_no("y: yes")
    assert states(stages)["Stage2"] == "failed"
    browser.press("f", "y")
    browser.shows("Done: Stage2, 1 changed.")
    assert states(stages) == {"Stage1": "done", "Stage2": "done", "Stage3": "eligible"}


def test_another_key_than_yes_does_what_it_always_does(browser: Terminal, stages: Path) -> None:
    browser.press("Down", "f", "Enter")
    browser.shows("› Stage2")
    browser.press("y")
    browser.press("d")
    browser.shows("Disable: C")
    assert states(stages)["Stage2"] == "failed"


def test_a_group_is_not_started_again_and_what_depends_on_it_stays(browser: Terminal, stages: Path) -> None:
    browser.press("n", "y")
    browser.shows("Not started: Stage1, 2 changed.")
    assert browser.row("Stage1")[2:4] == ["Not", "started"]
    assert states(stages)["Stage2"] == "failed"


def test_marked_groups_are_changed_together(browser: Terminal, stages: Path) -> None:
    browser.press("Down", "Space", "Space", "d")
    browser.shows("Disable: 2 groups, ")
    assert states(stages) == {"Stage1": "done", "Stage2": "failed", "Stage3": "disabled"}


def test_stop_ends_what_runs_and_lets_it_start_again(running: Path) -> None:
    with terminal(*BROWSE, cwd=running) as browser:
        browser.shows("Running", "q quit")
        browser.press("s", "y")
        browser.shows("Stop: A, ")
        until(lambda: ledger(running) == ["A", "A", "B"])
        assert states(running)["A"] == "running"


def test_stop_disable_ends_what_runs_and_keeps_it_from_starting(running: Path) -> None:
    with terminal(*BROWSE, cwd=running) as browser:
        browser.shows("Running", "q quit")
        browser.press("x", "y")
        until(lambda: browser.row("A")[2:4] == ["Disabled", "Disabled"])
        assert states(running) == {"A": "disabled", "B": "running", "C": "waiting"}
    (running / "B").touch()
    until(lambda: states(running)["B"] == "done")
    headway("enable", "A", cwd=running)


# --- it follows what happens -----------------------------------------------------------------------------------------


def test_what_happens_is_shown_without_a_key_until_the_workflow_ends(running: Path) -> None:
    with terminal(*BROWSE, cwd=running) as browser:
        browser.shows("q quit", "w  0/3")
        assert [browser.row(name)[2] for name in "ABC"] == ["Running", "Running", "Not"]
        (running / "B").touch()
        until(lambda: browser.row("B")[2] == "Done")
        browser.shows("w  1/3")
        (running / "A").touch()
        until(lambda: [browser.row(name)[2] for name in "ABC"] == ["Done"] * 3)
        browser.shows("w  3/3")


def test_how_the_jobs_of_a_group_are_is_said_below(browser: Terminal) -> None:
    browser.press("Down")
    browser.shows("group Stage2: failed (2 jobs: 1 done, 1 failed)")


def test_groups_that_somebody_else_disables_are_shown(browser: Terminal, stages: Path) -> None:
    headway("disable", "Stage3", cwd=stages)
    until(lambda: browser.row("Stage3")[2] == "Disabled")


def test_a_workflow_that_is_removed_is_told_and_another_one_can_be_shown(browser: Terminal, stages: Path) -> None:
    (stages / "other.sh").write_text("mqsub -l Other -c true\n")
    headway("run", "other.sh", cwd=stages)
    assert headway("clean", "--all", "--workflow", "1", "--yes", cwd=stages).returncode == 0
    browser.shows("workflow 1 (stages) is not in the store any more.", "not there: ")
    browser.press("d")
    browser.shows("That cannot be done now.")
    browser.press("r")
    browser.shows("other", "Other", "The store is there again.")


def test_r_shows_the_workflow_that_was_run_last(browser: Terminal, stages: Path) -> None:
    (stages / "other.sh").write_text("mqsub -l Other -c true\n")
    headway("run", "other.sh", cwd=stages)
    browser.press("r")
    browser.shows("Other")


def test_a_store_that_is_gone_and_comes_back_is_shown_again(browser: Terminal, stages: Path) -> None:
    (stages / ".headway").rename(stages / "away")
    browser.shows("there is no store in", "not there: 1 stages")
    assert browser.row("Stage2")[2] == "Failed"  # what was known is still there
    headway("disable", "Stage3", "--store", str(stages / "away"))
    (stages / "away").rename(stages / ".headway")
    browser.shows("The store is there again.")
    until(lambda: browser.row("Stage3")[2] == "Disabled")


def test_a_server_that_is_stopped_and_started_is_survived(tmp_path: Path, server: Server) -> None:
    (tmp_path / "stages.sh").write_text(STAGES)
    headway("run", "stages.sh", "--store", server.url, cwd=tmp_path)
    with terminal(*BROWSE, "--store", server.url, cwd=tmp_path) as browser:
        browser.shows("Stage3", "q quit")
        server.stop()
        browser.shows("not there: 1 stages")
        server.start()
        browser.shows("The store is there again.")
        headway("disable", "Stage3", "--store", server.url, cwd=tmp_path)
        until(lambda: browser.row("Stage3")[2] == "Disabled")


def test_a_server_that_answers_nobody_does_not_keep_its_user(tmp_path: Path, server: Server) -> None:
    (tmp_path / "stages.sh").write_text(STAGES)
    headway("run", "stages.sh", "--store", server.url, cwd=tmp_path)
    with terminal(*BROWSE, "--store", server.url, cwd=tmp_path) as browser:
        browser.shows("Stage3", "q quit")
        server.freeze()
        try:
            browser.press("Down")
            browser.shows("group Stage2: failed")
            browser.press("q")
            browser.shows("code 0")
        finally:
            server.thaw()


# --- terminals and names ---------------------------------------------------------------------------------------------


def test_a_terminal_of_40_columns_has_room_for_what_matters(tmp_path: Path) -> None:
    long = "".join(f"{number:04}" for number in range(50))
    (tmp_path / "w.sh").write_text(f"mqsub -l {long} -c true\nmqsub -l Short -c false\nmqsub -l Short -c true\n")
    headway("run", "w.sh", cwd=tmp_path)
    assert len(long) == 200
    with terminal(*BROWSE, cwd=tmp_path, columns=40) as browser:
        browser.shows("Short", "q quit")
        lines = browser.lines()
        (row,) = [line for line in lines if "Failed" in line]
        assert "Short" in row and "0/2" in row
        (row,) = [line for line in lines if "0000" in line and "…" in line]
        assert row.split()[1].endswith("49") and "Done" in row
        until(lambda: long in "".join(browser.lines()))  # the whole name is below, over several lines
        browser.resize(100, 24)
        browser.shows("Attribute")


def test_names_command_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "w.sh").write_text("mqsub -l 'A\x1b[31m[bold]\u202eB' -c true\nmqsub -l C -c true\n")
    headway("run", "w.sh", cwd=tmp_path)
    with terminal(*BROWSE, cwd=tmp_path) as browser:
        browser.shows(r"A\x1b[31m[bold]\u202eB", "q quit")


def test_a_dumb_terminal_gets_the_numbers(stages: Path) -> None:
    with terminal(*BROWSE, cwd=stages, term="dumb") as browser:
        browser.shows("Command?(1-11)")


def test_the_numbers_can_be_had_in_any_terminal(stages: Path) -> None:
    with terminal(*BROWSE, "--plain", cwd=stages) as browser:
        browser.shows("Command?(1-11)")
        browser.press("1", "Enter")
        browser.shows("Group?(0-2)")


def test_mqdump_is_the_same_browser(stages: Path) -> None:
    with terminal(sys.executable, "-m", "headway.cli.commands.mqdump", cwd=stages) as browser:
        browser.shows("Stage1", "q quit")


def test_without_textual_there_are_the_numbers_and_a_note(stages: Path) -> None:
    code = "import sys; sys.modules['textual'] = None; from headway.cli.commands.mqdump import main; main([])"
    with terminal(sys.executable, "-c", code, cwd=stages) as browser:
        browser.shows("needs headway, which is not installed", "pip install 'headway[tui]'", "Command?(1-11)")


def test_no_store_is_one_line_and_exit_code_4(tmp_path: Path) -> None:
    with terminal(*BROWSE, cwd=tmp_path) as browser:
        screen = browser.shows("code 4")
        assert "there is no store" in screen and "Traceback" not in screen


def test_what_cannot_be_written_can_be_browsed(stages: Path) -> None:
    from tests.shell import ORDINARY

    for path in (stages / ".headway", stages / ".headway/store.db"):
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        with terminal(*ORDINARY, *BROWSE, cwd=stages) as browser:
            browser.shows("Stage3", "q quit")
            browser.press("d")
            browser.shows("cannot be written")
    finally:
        (stages / ".headway").chmod(0o700)
