"""Runs on other hosts, over real ssh: nothing is lost and nothing is done twice, whatever is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from headway.experiments.trellisdag.crews import place
from headway.live.placeholder.recovery import _is_left
from tests.experiments.test_trellisdag_crews import run_by
from tests.live.ledger import is_alive, until
from tests.sites.bench import Bench

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ssh")]


def test_a_run_uses_all_its_sites(bench: Bench) -> None:
    # A job at each of the six slots before any of them ends: none of the sites does all of the work.
    meet = "echo > $HEADWAY_JOB.there; until test $(ls | grep -c there) = 6; do sleep 0.01; done"
    bench.script(*(f"workflow.job('j{number}', {meet!r})" for number in range(6)))
    bench("run", "w.py", "--site", "a", "--site", "b", "--site", "local", "--slots", "2")
    assert Counter(one["site"] for one in bench.json("history")["attempts"]) == {"a": 2, "b": 2, "local": 2}


def test_a_crew_of_trellisdags_experiment_is_at_all_sites_of_a_pattern(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in bench.hosts.environment.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(bench.folder)
    crew = place("[ab]")
    assert crew.said == "2 placeholders of 2 slots, one at each of the sites [ab]"
    run_by(crew.crew, bench.folder)
    assert {one["site"] for one in bench.json("history")["attempts"]} <= {"a", "b"}


def test_the_host_needs_no_headway_and_gets_its_file_once(bench: Bench) -> None:
    bench.jobs(2, 0)
    bench("run", "w.py", "--site", "a")
    (file,) = bench.hosts.folder.glob("cache/headway/runner-*.pyz")
    before = file.stat()
    bench("run", "w.py", "--site", "a", "--fresh")
    assert file.stat().st_mtime_ns == before.st_mtime_ns and file.stat().st_ino == before.st_ino


def test_a_file_that_was_damaged_there_is_sent_again(bench: Bench) -> None:
    bench.jobs(2, 0)
    bench("run", "w.py", "--site", "a")
    (file,) = bench.hosts.folder.glob("cache/headway/runner-*.pyz")
    file.write_bytes(file.read_bytes()[:1000])
    bench("run", "w.py", "--site", "a", "--fresh")
    bench.wait_for("end", 4)


def test_what_a_job_printed_there_is_fetched_when_asked_for(bench: Bench) -> None:
    bench.script("workflow.job('good', 'seq 100000')", "workflow.job('bad', 'echo this is why; exit 3')")
    failed = bench("run", "w.py", "--site", "a", code=3)
    assert "log: a:" in failed.stderr
    assert bench("logs", "good").stdout == "".join(f"{number}\n" for number in range(1, 100_001))
    (log,) = bench.json("logs", "bad")["logs"]
    assert (log["site"], log["text"], log["exit_code"]) == ("a", "this is why\n", 3)


def test_the_last_lines_of_a_failed_job_are_here_though_its_host_is_gone(bench: Bench) -> None:
    bench.script("workflow.job('bad', 'seq 9999; echo this is why; exit 3')")
    bench("run", "w.py", "--site", "a", code=3)
    until(lambda: not bench.channels())
    text = (bench.folder / "headway.toml").read_text()
    (bench.folder / "headway.toml").write_text(text.replace('"h1"', '"nowhere.invalid"'))
    shown = bench("logs", "bad")
    assert shown.stdout.endswith("9999\nthis is why\n") and "nowhere.invalid" in shown.stderr


def test_a_job_is_followed_while_it_runs_there(bench: Bench) -> None:
    bench.script("workflow.job('slow', 'echo begun; until test -e go; do sleep 0.01; done; echo done')")
    run = bench.begin("run", "w.py", "--site", "a")
    until(bench.running)
    assert bench.json("status")["running"][0]["site"] == "a"
    follows = bench.begin("logs", "slow", "-f")
    assert follows.stdout is not None and follows.stdout.readline() == "begun\n"
    (bench.folder / "go").touch()
    assert follows.stdout.read() == "done\n"
    assert run.wait(60) == 0


def test_a_connection_that_breaks_loses_nothing(bench: Bench) -> None:
    bench.jobs(24, 0.2)
    run = bench.begin("run", "w.py", "--site", "a")
    for ended in (2, 8, 14):
        bench.wait_for("end", ended)
        bench.kill(bench.connections())
    assert run.wait(60) == 0, bench.logs()
    bench.each_once(24)


def test_nothing_new_begins_once_its_user_wants_that_though_the_connection_breaks_meanwhile(bench: Bench) -> None:
    bench.jobs(8, 3)
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin", 2)
    run.send_signal(signal.SIGINT)
    bench.hears(run, "Ctrl-C")
    bench.kill(bench.connections())
    assert run.wait(60) == 3, bench.logs()
    assert sum(count for line, count in bench.ledger.items() if line.startswith("begin")) == 2


def test_a_host_that_is_away_when_its_user_wants_nothing_new_begun_begins_nothing_when_it_is_back(bench: Bench) -> None:
    bench.hosts.off("h1")
    bench.jobs(20, 5)
    run = bench.begin("run", "w.py", "--site", "a", "--site", "b")
    bench.wait_for("begin", 2)
    bench.hears(run, "h1")
    run.send_signal(signal.SIGINT)
    bench.hosts.on("h1")
    run.communicate(timeout=60)
    assert run.returncode == 3
    assert sum(count for line, count in bench.ledger.items() if line.startswith("begin")) <= 4
    assert {one["site"] for one in bench.json("history")["attempts"]} == {"b"}


def test_a_failure_at_one_site_starts_nothing_new_at_the_others_if_its_user_wants_that(bench: Bench) -> None:
    command = "echo begin $HEADWAY_JOB >> ledger; sleep 1; test $HEADWAY_JOB != j0"
    bench.script(*(f"workflow.job('j{number}', {command!r})" for number in range(16)))
    bench("run", "w.py", "--site", "a", "--site", "b", "--fail-fast", code=3)
    assert bench.ledger.total() <= 8


def test_a_host_that_goes_away_and_comes_back_tells_what_ended_meanwhile(bench: Bench) -> None:
    bench.jobs(8, 0.5)
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin", 3)
    bench.hosts.off("h1")
    bench.wait_for("end", 4)  # those that ran go on
    bench.hosts.on("h1")
    assert run.wait(60) == 0, bench.logs()
    bench.each_once(8)


def test_a_runner_that_is_killed_there_has_a_successor_that_goes_on_with_its_jobs(bench: Bench) -> None:
    bench.jobs(12, 0.5)
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin", 3)
    bench.kill(bench.runners())
    assert run.wait(60) == 0, bench.logs()
    bench.each_once(12)


def test_when_headway_run_dies_what_runs_there_is_finished_and_the_next_run_goes_on(bench: Bench) -> None:
    bench.jobs(12, 0.5)
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin", 3)
    run.kill()
    bench.wait_for("end", 3)
    bench("run", "w.py", "--site", "a")
    bench.each_once(12)


def test_a_channel_that_is_killed_is_found_again_by_the_next_run(bench: Bench) -> None:
    bench.jobs(12, 0.5)
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin", 3)
    bench.kill(bench.channels())
    assert run.wait(60) == 1
    bench("run", "w.py", "--site", "a")
    bench.each_once(12)


def test_when_all_of_them_are_killed_at_once_every_job_is_done_in_the_end(bench: Bench) -> None:
    bench.jobs(12, 0.5)
    run = bench.begin("run", "w.py", "--site", "a", "--site", "b")
    bench.wait_for("begin", 5)
    bench.kill([run.pid, *bench.channels(), *bench.runners()])
    bench("run", "w.py", "--site", "a", "--site", "b")
    bench.each_once(12)


GATED = "echo begin >> ledger; until test -e go; do sleep 0.1; done; echo end >> ledger"


def _gated(bench: Bench) -> subprocess.Popen[str]:
    """A run at both sites, of which four jobs have begun and two wait for a slot."""
    bench.script(f"for n in range(6): workflow.job(f'j{{n}}', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "a", "--site", "b")
    bench.wait_for("begin", 4)
    return run


def _each_runs_again(bench: Bench) -> None:
    (bench.folder / "go").touch()
    bench("run", "w.py", "--site", "a", "--site", "b")
    assert bench.ledger["end"] == 6


def test_status_and_history_show_at_which_site_jobs_run_and_ran(bench: Bench) -> None:
    bench.script(f"workflow.job('j', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "b")
    bench.wait_for("begin")
    heading, job = bench("status").stdout.splitlines()[-2:]
    assert heading.split() == ["running", "command", "site", "host", "for", "status"] and "  b     " in job
    (bench.folder / "go").touch()
    assert run.wait(60) == 0
    heading, attempt, *_ = bench("history").stdout.splitlines()
    assert heading.split()[3:5] == ["site", "host"] and attempt.split()[4] == "b"


def test_a_job_that_runs_at_a_site_is_explained_and_stopped_there_and_runs_again_when_enabled(bench: Bench) -> None:
    bench.script(f"workflow.job('j', 'echo pid $$ >> ledger; {GATED}')", "workflow.job('k', 'true', after='j')")
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin")
    (pid,) = (int(line.split()[1]) for line in bench.ledger if line.startswith("pid"))
    (said,) = bench.json("explain", "j")["because"]
    assert said.startswith(f"It has been running on {os.uname().nodename} for ") and is_alive(pid)
    assert bench.json("explain", "k")["because"] == ["It waits for j (running)."]
    bench("stop", "j")
    until(lambda: not is_alive(pid))
    assert run.wait(60) == 3
    (attempt,) = bench.json("history")["attempts"]
    assert (attempt["site"], attempt["outcome"], attempt["reason"]) == ("a", "given back", "called off")
    assert "It is disabled" in bench.json("explain", "j")["because"][0] and bench.ledger["end"] == 0
    (bench.folder / "go").touch()
    bench("enable", "j")
    bench("run", "w.py", "--site", "a")
    assert (bench.ledger["begin"], bench.ledger["end"]) == (2, 1)


def test_a_job_is_stopped_though_its_host_is_away_and_ends_when_the_host_is_back(bench: Bench) -> None:
    bench.script(f"workflow.job('j', 'echo pid $$ >> ledger; {GATED}')", "workflow.job('k', 'true')")
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin")
    (pid,) = (int(line.split()[1]) for line in bench.ledger if line.startswith("pid"))
    bench.hosts.off("h1")
    try:
        until(lambda: "h1 refuses the connection" in bench.logs())
        bench("stop", "j")
        told = bench.json("explain", "j")["because"]
        assert any("It was told to end: its user has stopped it." in one for one in told), told
        assert is_alive(pid)
    finally:
        bench.hosts.on("h1")
    until(lambda: not is_alive(pid))
    assert run.wait(60) == 3, bench.logs()
    assert bench.ledger["end"] == 0 and bench.json("status")["workflows"][0]["running"] == 0


def test_a_run_that_uses_only_other_hosts_is_watched_kept_and_cancelled_like_any(bench: Bench) -> None:
    run = _gated(bench)
    assert [one["state"] for one in bench.json("runs")["workflows"]] == ["running"]
    assert "workflow 1 (w) is running" in bench("clean", "--all", "--yes").stderr
    watch = bench.begin("attach")
    assert watch.stderr is not None and watch.stderr.readline().startswith("watching workflow 1")
    assert "workflow 1 is stopped" in bench("cancel").stderr
    assert (run.wait(60), watch.wait(60)) == (3, 3)
    assert bench.json("status")["workflows"][0]["running"] == 0 and bench.ledger["end"] == 0
    _each_runs_again(bench)


def test_cancelled_gently_what_runs_on_other_hosts_comes_to_its_end(bench: Bench) -> None:
    run = _gated(bench)
    cancel = bench.begin("cancel", "--gently")
    assert cancel.stderr is not None and "waiting for what runs" in cancel.stderr.readline()
    (bench.folder / "go").touch()
    assert (cancel.wait(60), run.wait(60)) == (0, 3)
    assert bench.ledger == {"begin": 4, "end": 4}


def test_what_a_run_that_died_has_left_on_other_hosts_is_cancelled(bench: Bench) -> None:
    run = _gated(bench)
    bench.kill([run.pid])
    bench("cancel")
    assert bench.json("status")["workflows"][0]["running"] == 0 and bench.ledger["end"] == 0
    _each_runs_again(bench)


def test_jobs_on_other_hosts_are_cancelled_though_all_that_was_here_has_died(bench: Bench) -> None:
    run = _gated(bench)
    bench.kill([run.pid, *bench.channels()])
    bench("cancel")
    until(lambda: bench.json("status")["workflows"][0]["running"] == 0)
    assert bench.ledger["end"] == 0
    _each_runs_again(bench)


def test_a_run_whose_host_is_away_is_cancelled_and_its_jobs_end_when_the_host_is_back(bench: Bench) -> None:
    bench.script(f"workflow.job('j', {GATED!r})")
    run = bench.begin("run", "w.py", "--site", "a")
    bench.wait_for("begin")
    bench.hosts.off("h1")
    try:
        until(lambda: "h1 refuses the connection" in bench.logs())
        bench("cancel")
        assert run.wait(60) == 3
    finally:
        bench.hosts.on("h1")
    until(lambda: bench.json("status")["workflows"][0]["running"] == 0)
    assert bench.ledger == {"begin": 1}


def test_a_site_that_drops_out_leaves_the_others_going(bench: Bench) -> None:
    text = (bench.folder / "headway.toml").read_text()
    (bench.folder / "headway.toml").write_text(text.replace('"h2"', '"nowhere.invalid"'))
    bench.jobs(6, 0.1)
    run = bench("run", "w.py", "--site", "a", "--site", "b")
    bench.each_once(6)
    assert "going on without site b" in run.stderr and "nowhere.invalid" in run.stderr


def test_a_host_whose_key_is_not_known_is_refused_with_the_way_out(bench: Bench) -> None:
    known = bench.hosts.folder / "known_hosts"
    before = known.read_text()
    known.write_text("")
    try:
        bench.jobs(1, 0)
        said = bench("run", "w.py", "--site", "a", code=1).stderr
    finally:
        known.write_text(before)
    assert "site a: ssh does not know the key of h1" in said and "ssh h1 true" in said
    assert not bench.ledger


def test_a_host_that_does_not_let_us_in_says_so(bench: Bench) -> None:
    keys = bench.hosts.folder / "authorized_keys"
    before = keys.read_text()
    keys.write_text("")
    try:
        bench.jobs(1, 0)
        said = bench("run", "w.py", "--site", "a", code=1).stderr
    finally:
        keys.write_text(before)
    assert "h1 does not let you in" in said and "ssh-copy-id" in said


def test_a_host_without_a_usable_python_is_named(bench: Bench) -> None:
    text = (bench.folder / "headway.toml").read_text()
    old = bench.folder / "old-python"
    old.write_text("#!/bin/sh\necho 'headway: Python 3.6.8 is too old: 3.9 or later is needed' >&2; exit 1\n")
    old.chmod(0o755)
    (bench.folder / "headway.toml").write_text(text.replace("slots = 2", f'slots = 2\npython = "{old}"'))
    bench.jobs(1, 0)
    said = bench("run", "w.py", "--site", "a", code=1).stderr
    assert "h1 has no Python 3.9 or later" in said and "headway.toml" in said


def test_a_run_on_this_computer_alone_must_end_before_sites_are_used(bench: Bench) -> None:
    bench.script("workflow.job('slow', 'until test -e go; do sleep 0.01; done')")
    run = bench.begin("run", "w.py")
    until(bench.running)
    assert "uses this computer alone" in bench("run", "w.py", "--site", "a", code=1).stderr
    (bench.folder / "go").touch()
    assert run.wait(60) == 0


def test_jobs_of_a_site_with_a_directory_run_in_a_folder_of_their_workflow_there(bench: Bench, tmp_path: Path) -> None:
    there = tmp_path / "there"
    text = (bench.folder / "headway.toml").read_text()
    (bench.folder / "headway.toml").write_text(text.replace("shared = true", f'directory = "{there}"', 1))
    bench.script("workflow.job('a', 'pwd')")
    bench("run", "w.py", "--site", "a")
    place = Path(bench("logs", "a").stdout.strip())
    assert place.parent == there and place.is_dir()


def test_a_site_whose_directory_was_corrected_says_how_long_the_other_one_is_in_use(
    bench: Bench, tmp_path: Path
) -> None:
    settings = '[sites.a]\nhost = "h1"\nslots = 1\ndirectory = "{}"\n'
    (bench.folder / "headway.toml").write_text(settings.format(tmp_path / "wrong"))
    bench.script("workflow.job('a', 'pwd; until test -e go; do sleep 0.1; done', inputs=['go'])")
    (bench.folder / "go").touch()
    bench("run", "w.py", "--site", "a")
    (bench.folder / "headway.toml").write_text(settings.format(tmp_path / "right"))
    done = bench("run", "w.py", "--site", "a", "--fresh", code=None)  # the runner there may have left by now
    assert done.returncode == 0 or "site a is in use with another host or directory." in done.stderr
    assert "died" not in done.stderr
    until(lambda: bench("run", "w.py", "--site", "a", "--fresh", code=None).returncode == 0)
    assert bench("logs", "a").stdout.startswith(str(tmp_path / "right"))


def test_sites_are_listed_and_a_check_says_what_is_wrong_with_each(bench: Bench) -> None:
    text = (bench.folder / "headway.toml").read_text()
    (bench.folder / "headway.toml").write_text(text.replace('"h2"', '"nowhere.invalid"'))
    found = {one["name"]: one for one in bench.json("sites")["sites"]}
    assert list(found) == ["local", "a", "b"] and found["a"]["transport"] == "ssh" and found["a"]["ok"] is None
    done = bench("sites", "--check", "--json", code=1)
    checks = {one["name"]: one for one in json.loads(done.stdout)["sites"]}
    assert (checks["local"]["ok"], checks["a"]["ok"], checks["b"]["ok"]) == (True, True, False), checks
    assert "nowhere.invalid" in checks["b"]["problem"]
    assert not list(bench.folder.glob(".headway-check-*"))


def test_a_store_that_another_process_is_making_is_not_taken_for_one_that_was_left(tmp_path: Path) -> None:
    def left(pid: int) -> bool:
        return _is_left(f".store-{pid}-0a1b2c3d-wal")

    with subprocess.Popen(["sleep", "60"]) as there:
        assert not left(there.pid) and not _is_left("store.db")
        there.kill()
        until(lambda: left(there.pid))  # dead, though nobody has waited for it yet
    assert left(there.pid)
