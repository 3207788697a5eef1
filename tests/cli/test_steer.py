"""`headway enable|disable|stop|done|redo` beside real runs."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.test_status import HOLD, script, started, states
from tests.live.ledger import is_alive, until
from tests.shell import answer, headway


@pytest.fixture(autouse=True)
def outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADWAY_STORE", raising=False)


def test_stop_ends_what_runs_and_enable_lets_it_run_again(tmp_path: Path) -> None:
    path = script(tmp_path, f"mqsub -l A -c 'echo $$ > pid; {HOLD}'\nmqsub -deps A -l B -c 'touch ran'\n")
    process = started(path)
    until((tmp_path / "pid").exists)
    until((tmp_path / "pid").read_text)
    refused = headway("done", "A", cwd=tmp_path)
    assert refused.returncode == 1 and "A runs now" in refused.stderr and "headway stop" in refused.stderr
    assert answer("stop", "A", cwd=tmp_path) == {"schema": 1, "changed": ["A"], "stopping": 0}
    assert not is_alive(int((tmp_path / "pid").read_text()))
    _, talk = process.communicate()
    assert process.returncode == 3 and "2 not run" in talk
    assert states(answer("status", cwd=tmp_path)) == {"A": "disabled", "B": "waiting"}
    assert answer("enable", "A", cwd=tmp_path)["changed"] == ["A"]
    (tmp_path / "go").touch()
    assert headway("run", str(path)).returncode == 0 and (tmp_path / "ran").exists()


def test_a_run_goes_on_with_what_is_enabled_or_done_meanwhile(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        "mqsub -l A -c false\n"
        "mqsub -deps A -l B -c 'touch B'\n"
        "mqsub -l C -c 'touch C'\n"
        f"mqsub -l hold -c 'touch begun; {HOLD}'\n",
    )
    headway("run", str(path), "--fail-fast", "--slots", "1")
    answer("disable", "C", cwd=tmp_path)
    process = started(path)
    until((tmp_path / "begun").exists)
    assert not (tmp_path / "C").exists()
    assert answer("enable", "C", cwd=tmp_path)["changed"] == ["C"]
    until((tmp_path / "C").exists)
    assert answer("done", "A", cwd=tmp_path)["changed"] == ["A"]
    until((tmp_path / "B").exists)
    (tmp_path / "go").touch()
    process.communicate()
    assert process.returncode == 0


def test_patterns_and_several_groups_may_be_given(tmp_path: Path) -> None:
    lines = [f"mqsub -l g{at}/j -c true" for at in range(3)]
    headway("run", str(script(tmp_path, "\n".join([*lines, "mqsub -l other -c true"]))))
    assert answer("redo", "g[01]", "other", cwd=tmp_path)["changed"] == ["g0/j", "g1/j", "other"]
    assert headway("redo", "g0", cwd=tmp_path).stdout == "nothing to change.\n"
    assert "1 job disabled: g2/j." in headway("disable", "g2", cwd=tmp_path).stdout


def test_redo_only_leaves_what_depends_on_it(tmp_path: Path) -> None:
    path = script(tmp_path, "mqsub -l A -c 'echo A >> ledger'\nmqsub -deps A -l B -c 'echo B >> ledger'\n")
    headway("run", str(path))
    assert answer("redo", "A", "--only", cwd=tmp_path)["changed"] == ["A"]
    headway("run", str(path))
    assert answer("redo", "A", cwd=tmp_path)["changed"] == ["A", "B"]
    headway("run", str(path))
    assert (tmp_path / "ledger").read_text().split() == ["A", "B", "A", "A", "B"]


def test_the_redo_that_status_prints_works_as_it_is_printed(tmp_path: Path) -> None:
    """A name with a blank came out as two."""
    path = script(
        tmp_path,
        "mqsub -l 'my A' -c true -attr release=yes\n"
        "mqsub -l 'my A' -c 'while ! test -e B; do sleep 0.01; done; false'\n"
        "mqsub -deps 'my\\ A' -l B -c 'touch B'\n",
    )
    assert headway("run", str(path), "--slots", "2").returncode == 3
    said = headway("status", cwd=tmp_path).stdout
    printed = said.partition("failed. headway ")[2].partition(" covers it.")[0]
    assert answer(*shlex.split(printed), cwd=tmp_path)["changed"] == ["my A#2", "B"]


@pytest.mark.parametrize("above", ["", "X/Y/"])
def test_a_failure_after_an_early_release_flags_dependents_and_redo_covers_them(tmp_path: Path, above: str) -> None:
    """Also through supergroups, whose milestone hangs on the released job."""
    path = script(
        tmp_path,
        f"mqsub -l {above}A -c 'echo A >> ledger' -attr release=yes\n"
        f"mqsub -l {above}A -c 'while ! test -e C; do sleep 0.01; done; echo V >> ledger; test -e good'\n"
        f"mqsub -deps {above.partition('/')[0] or 'A'} -l B -c 'echo B >> ledger'\n"
        "mqsub -deps B -l C -c 'echo C >> ledger; touch C'\n",
    )
    assert headway("run", str(path), "--slots", "2").returncode == 3
    found = answer("status", cwd=tmp_path)
    assert found["in_doubt"] == [{"job": "B", "because": f"{above}A#2"}]
    assert f"In doubt: B began before {above}A#2 failed." in headway("status", cwd=tmp_path).stdout
    assert "in doubt" in answer("explain", "B", cwd=tmp_path)["because"][-1]
    (tmp_path / "good").touch()
    (tmp_path / "C").unlink()
    changed = answer("redo", f"{above}A#2", cwd=tmp_path)["changed"]
    assert changed == [f"{above}A#2", "B", "C"]
    assert headway("run", str(path), "--slots", "2").returncode == 0
    assert answer("status", cwd=tmp_path)["in_doubt"] == []
    assert sorted((tmp_path / "ledger").read_text().split()) == sorted("ABCVBCV")
