"""placeholder.sh, for hosts without Python: it runs workflows to their end, and loses nothing however it is killed."""

from __future__ import annotations

import contextlib
import os
import random
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.live.doors.queue_looks import look
from tests.infra.root import needs_root
from tests.live.ledger import until
from tests.shell import headway
from tests.sites.script_bench import JOB, SCRIPT, SERVICES, ScriptBench, marked

pytestmark = pytest.mark.slow


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[ScriptBench]:
    found = ScriptBench(tmp_path)
    yield found
    found.close()


def test_it_is_plain_sh() -> None:
    assert shutil.which("shellcheck"), "scripts/setup test installs shellcheck"
    done = subprocess.run(["shellcheck", "--shell=sh", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_headway_prints_it() -> None:
    done = headway("placeholder", "--script")
    assert done.stdout == SCRIPT.read_text() and done.stdout.startswith("#!/bin/sh\n")


@pytest.mark.parametrize("words", [["-x"], ["word"], ["-w", "1s"], ["-k", ""], ["-t", ""], ["-t", "9" * 20]])
def test_bad_usage_is_told(words: list[str]) -> None:
    done = subprocess.run(["dash", SCRIPT, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr


def test_several_run_a_workflow_in_its_order_and_leave(bench: ScriptBench) -> None:
    bench.layers(3, 5)
    there = [bench.begin() for _ in range(3)]
    assert [one.wait(120) for one in there] == [0, 0, 0], bench.talk
    lines = (bench.folder / "ledger").read_text().splitlines()
    assert sorted(lines) == sorted(
        f"{what} L{layer}N{at} 1" for what in ("begin", "end") for layer in range(3) for at in range(5)
    )
    for layer in (1, 2):
        first = min(at for at, line in enumerate(lines) if line.startswith(f"begin L{layer}"))
        assert first > max(at for at, line in enumerate(lines) if line.startswith(f"end L{layer - 1}"))
    assert bench.counts() == {"done": 15} and marked(bench.folder) == []
    attempts = bench.asked("history")["attempts"]
    assert all(one["ended"] - one["started"] >= 0.04 for one in attempts)  # not in whole seconds


def test_it_serves_a_store_on_a_server(tmp_path: Path, postgres_url: str) -> None:
    bench = ScriptBench(tmp_path, postgres_url)
    try:
        bench.layers(2, 3)
        there = [bench.begin() for _ in range(2)]
        assert [one.wait(120) for one in there] == [0, 0], bench.talk
        assert bench.counts() == {"done": 6} and bench.wrong() == []
    finally:
        bench.close()


def test_exit_codes_come_home_and_what_a_failed_job_printed(bench: ScriptBench) -> None:
    bench.submit(
        "mqsub -l bad -c 'echo so it goes; exit 3'",
        f"mqsub -l twice -attr retries=1 -c 'test $HEADWAY_ATTEMPT = 2 || exit 4; {JOB.format(bench.folder, 0)}'",
        "mqsub -deps bad -l never -c true",
        "mqsub -l dies -c 'kill -9 $$'",
    )
    assert bench.begin().wait(30) == 0, bench.talk
    found = {(one["job"], one["attempt"]): one["exit_code"] for one in bench.asked("history")["attempts"]}
    assert found == {("bad", 1): 3, ("twice", 1): 4, ("twice", 2): 0, ("dies", 1): 137}
    assert bench.counts() == {"failed": 2, "done": 1, "waiting": 1}
    (log,) = bench.asked("logs", "bad")["logs"]
    assert log["text"] == "so it goes\n"


def test_numbers_may_begin_with_zeros_as_the_queues_own_do(bench: ScriptBench) -> None:
    bench.layers(1, 2)
    assert bench.begin("-t", "0900", "-w", "00").wait(30) == 0, bench.talk
    assert bench.counts() == {"done": 2}


@pytest.fixture
def small_disk(bench: ScriptBench) -> Iterator[Path]:
    needs_root("mounting a small disk")
    place = bench.folder / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", place], check=True)
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_job_that_fills_the_disk_runs_once_and_its_end_is_told(bench: ScriptBench, small_disk: Path) -> None:
    fills = f"echo begin fills 1 >> {bench.folder}/ledger; yes"
    bench.submit(f"mqsub -l fills -c '{fills}'", f"mqsub -l small -c '{JOB.format(bench.folder, 0)}'")
    bench.begin("-l", str(small_disk / "ends")).wait(30)
    assert bench.ledger["begin fills 1"] == 1, bench.talk
    (first, *_) = bench.asked("history", "fills")["attempts"]
    assert (first["outcome"], first["exit_code"]) == ("failed", 1)


def test_where_an_end_cannot_be_written_the_placeholder_says_so_and_leaves(bench: ScriptBench) -> None:
    bench.submit(f"mqsub -l A -c 'echo begin A 1 >> {bench.folder}/ledger; rm -r {bench.folder}/ends/*/jobs'")
    assert bench.begin("-l", str(bench.folder / "ends")).wait(30) == 1, bench.talk
    assert "no file can be written in" in bench.talk and "-l" in bench.talk
    assert bench.ledger["begin A 1"] == 1 and bench.counts() == {"eligible": 1}


def test_a_job_gets_its_folder_its_environment_and_its_files(bench: ScriptBench) -> None:
    (bench.folder / "sub").mkdir()
    (bench.folder / "sub/in").write_text("given\n")
    bench.submit(
        'mqsub -l A -attr directory=sub -attr stdin=in -attr stdout=out -attr "env.X=it\'s a \\$HOME"'
        " -c 'cat; echo \"$X\"; echo lost >&2; pwd'"
    )
    assert bench.begin().wait(30) == 0, bench.talk
    assert (bench.folder / "sub/out").read_text() == f"given\nit's a $HOME\n{bench.folder}/sub\n"


def test_a_job_leaves_the_processor_time_that_it_took(bench: ScriptBench) -> None:
    bench.submit("mqsub -l A -c 'i=0; until [ $i = 300000 ]; do i=$((i + 1)); done'")
    assert bench.begin().wait(60) == 0, bench.talk
    done = bench.service("mqgetjobattribute", "job=A", "attribute=cpu_seconds")
    assert float(done.stdout) > 0.05, done.stderr


def test_a_job_says_how_it_is_and_adds_jobs_as_ever(bench: ScriptBench) -> None:
    add = f"{SERVICES}/mqsub -deps A -l B -c true"
    bench.submit(
        f"mqsub -l A -c '{SERVICES}/mqstatus half done && {add} && touch said; until test -e go; do sleep 0.1; done'"
    )
    one = bench.begin()
    until(lambda: (bench.folder / "said").exists())
    assert [row["status"] for row in bench.asked("status")["running"]] == ["half done"]
    (bench.folder / "go").touch()
    assert one.wait(30) == 0, bench.talk
    assert bench.counts() == {"done": 2}


def test_a_job_that_takes_longer_than_its_limit_is_ended(bench: ScriptBench) -> None:
    bench.submit("mqsub -l A -attr time=1 -c 'sleep 600'")
    assert bench.begin().wait(30) == 0, bench.talk
    assert bench.counts() == {"failed": 1}


def test_sigterm_ends_the_job_which_is_given_back(bench: ScriptBench) -> None:
    bench.submit(f"mqsub -l A -c '{JOB.format(bench.folder, 600)}'")
    one = bench.begin()
    until(lambda: bench.begun("A"))
    one.send_signal(signal.SIGTERM)
    assert one.wait(30) == 0, bench.talk
    assert bench.counts() == {"eligible": 1} and marked(bench.folder) == []
    (attempt,) = bench.asked("history")["attempts"]
    assert attempt["outcome"] == "given back" and "told to end" in attempt["reason"]


def test_a_queue_that_signals_everybody_makes_no_failures(bench: ScriptBench) -> None:
    bench.submit("mqsub -l A -c 'echo begin A $$ >> ledger; exec sleep 600'")
    one = bench.begin()
    until(lambda: bench.begun("A"))
    (job,) = [int(line.split()[2]) for line in bench.ledger]
    os.kill(job, signal.SIGTERM)
    one.send_signal(signal.SIGTERM)
    assert one.wait(30) == 0, bench.talk
    assert bench.counts() == {"eligible": 1}


def test_a_job_that_its_user_stops_ends_and_counts_for_nothing(bench: ScriptBench) -> None:
    bench.submit(f"mqsub -l A -c '{JOB.format(bench.folder, 600)}'")
    one = bench.begin()
    until(lambda: bench.begun("A"))
    assert headway("stop", "A", "--store", bench.place, env=bench.environment).returncode == 0
    assert one.wait(30) == 0, bench.talk
    assert bench.counts() == {"disabled": 1} and marked(bench.folder) == []
    (attempt,) = bench.asked("history")["attempts"]
    assert (attempt["outcome"], attempt["reason"]) == ("given back", "stopped")


def test_one_that_is_killed_leaves_its_job_and_the_next_one_tells_its_end(bench: ScriptBench) -> None:
    bench.submit(
        f"mqsub -l A -c '{JOB.format(bench.folder, 1)}'", f"mqsub -deps A -l B -c '{JOB.format(bench.folder, 0)}'"
    )
    one = bench.begin()
    until(lambda: bench.begun("A"))
    one.kill()
    one.wait(30)
    assert bench.begin().wait(30) == 0, bench.talk
    assert bench.ledger == {f"{what} {name} 1": 1 for what in ("begin", "end") for name in "AB"}


def test_if_its_job_is_killed_as_well_the_next_one_gives_it_back_at_once(bench: ScriptBench) -> None:
    bench.environment["HEADWAY_SILENCE"] = "600"
    bench.submit(f"mqsub -l A -c 'test -e go || {{ {JOB.format(bench.folder, 600)}; }}'")
    one = bench.begin()
    until(lambda: bench.begun("A"))
    one.kill()
    one.wait(30)
    for pid in marked(bench.folder):
        os.kill(pid, signal.SIGKILL)
    (bench.folder / "go").touch()
    assert bench.begin().wait(30) == 0, bench.talk
    assert [found["outcome"] for found in bench.asked("history")["attempts"]] == ["given back", "done"]


def test_one_that_is_gone_for_good_is_missed_twice_and_its_job_runs_elsewhere(bench: ScriptBench) -> None:
    bench.submit(f"mqsub -l A -c 'test -e go || {{ {JOB.format(bench.folder, 600)}; }}'")
    one = bench.begin("-l", str(bench.folder / "gone"))
    until(lambda: bench.begun("A"))
    store = bench.store()
    other = bench.begin("-l", str(bench.folder / "other"), "-q", "none")
    time.sleep(3)  # its lease is over; as long as it is there, nobody takes its job
    assert bench.counts() == {"running": 1} and other.poll() is None
    one.kill()
    one.wait(30)
    for pid in marked(bench.folder):
        if b"gone" in Path(f"/proc/{pid}/environ").read_bytes() or pid != other.pid:
            os.kill(pid, signal.SIGKILL)
    (bench.folder / "go").touch()
    until(lambda: look(store) or bench.counts() != {"running": 1})
    store.close()
    bench.begin("-l", str(bench.folder / "third")).wait(30)
    assert bench.counts() == {"done": 1}, bench.talk
    first = bench.asked("history")["attempts"][0]
    assert first["outcome"] == "given back" and "not in the list of process any more" in first["reason"]


def namesake(bench: ScriptBench, *words: str) -> None:
    """Runs a program as on another host of our name, which shares our files."""
    needs_root("another host")
    if not Path("/etc/machine-id").exists():
        pytest.skip("no machine-id here, by which hosts of one name are told apart")
    other = bench.folder / "machine-id"
    other.write_text("0123456789abcdef0123456789abcdef\n")
    line = f"mount --bind {other} /etc/machine-id && exec {shlex.join(words)}"
    subprocess.run(
        ["unshare", "-m", "-p", "-f", "--mount-proc", "sh", "-c", line],
        env={**bench.environment, "HEADWAY_PLACEHOLDER": "mine"},
        check=False,
        timeout=60,
    )


def test_hosts_of_one_name_do_not_take_each_others_jobs_for_lost(bench: ScriptBench) -> None:
    bench.submit(f"mqsub -l A -c '{JOB.format(bench.folder, 600)}'", "mqsub -deps A -l B -c true")
    bench.begin()
    until(lambda: bench.begun("A"))
    name = socket.gethostname()
    words = ["sched=process", "sched_id=mine", f"submit_host={name}", f"host={name}", f"store={bench.place}"]
    store, looks = bench.store(), set[float]()
    query = store.database.connection.execute  # type: ignore[attr-defined]

    def looked() -> bool:  # it looks once the lease is over: at its own processes, one of which is its placeholder
        namesake(bench, f"{SERVICES}/mqnextjob", *words)
        looks.update(row[0] for row in query("SELECT looked FROM callers WHERE sched_id <> 'mine'"))
        return len(looks) >= 5 or bench.ledger["begin A 2"] > 0

    until(looked, 60)
    store.close()
    assert bench.ledger == {"begin A 1": 1} and bench.counts() == {"running": 1, "waiting": 1}


def test_hosts_of_one_name_that_share_a_folder_tell_no_ends_of_each_other(bench: ScriptBench) -> None:
    bench.environment["HEADWAY_SILENCE"] = "600"
    bench.submit(f"mqsub -l A -c '{JOB.format(bench.folder, 600)}'", "mqsub -deps A -l B -c true")
    bench.begin()
    until(lambda: bench.begun("A"))
    namesake(bench, "timeout", "20", "dash", str(SCRIPT), "-b", str(SERVICES), "-p", bench.place, "-e", "-w", "1")
    assert bench.ledger == {"begin A 1": 1} and bench.counts() == {"running": 1, "waiting": 1}


def test_ends_wait_for_a_store_that_is_away_for_a_moment(bench: ScriptBench) -> None:
    there, gone = bench.folder / ".headway", bench.folder / "gone"
    bench.submit(f"mqsub -l A -c '{JOB.format(bench.folder, 0)}; mv {there} {gone}'")
    one = bench.begin()
    until(lambda: "called again" in bench.talk)
    gone.rename(there)
    assert one.wait(30) == 0, bench.talk
    assert bench.ledger == {"begin A 1": 1, "end A 1": 1} and bench.counts() == {"done": 1}


def test_a_job_goes_on_while_its_store_is_away_for_a_moment(bench: ScriptBench) -> None:
    bench.submit(f"mqsub -l A -c 'until test -e go; do sleep 0.1; done; {JOB.format(bench.folder, 0)}'")
    one = bench.begin()
    until(lambda: bench.counts() == {"running": 1} and list(bench.folder.glob("state/**/said-looked-*")))
    (bench.folder / ".headway").rename(bench.folder / "gone")
    until(lambda: any("no store" in file.read_text() for file in bench.folder.glob("state/**/said-looked-*")))
    (bench.folder / "gone").rename(bench.folder / ".headway")
    (bench.folder / "go").touch()
    assert one.wait(30) == 0, bench.talk
    assert bench.ledger == {"begin A 1": 1, "end A 1": 1} and bench.counts() == {"done": 1}


def test_an_end_is_not_told_to_a_store_in_another_folder(tmp_path: Path) -> None:
    benches = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        benches.append(ScriptBench(tmp_path / name))
    options = ("-p", ".headway", "-l", str(tmp_path / "ends"))
    one, two = benches
    try:
        for bench in benches:
            bench.submit(f"mqsub -l A -c '{JOB.format(bench.folder, 1)}'")
        killed = one.begin(*options)
        until(lambda: one.begun("A"))
        killed.kill()
        until(lambda: one.ledger["end A 1"])
        for bench in (two, one):
            assert bench.begin(*options).wait(30) == 0, bench.talk
            assert bench.ledger == {"begin A 1": 1, "end A 1": 1} and bench.counts() == {"done": 1}
    finally:
        one.close()
        two.close()


def test_after_a_reboot_another_process_with_its_number_is_not_taken_for_it(bench: ScriptBench) -> None:
    bench.environment["HEADWAY_SILENCE"] = "600"
    bench.submit(f"mqsub -l A -c 'test -e go || {{ {JOB.format(bench.folder, 600)}; }}'")
    one = bench.begin()
    until(lambda: bench.begun("A"))
    one.kill()
    one.wait(30)
    for pid in marked(bench.folder):
        os.kill(pid, signal.SIGKILL)
    (file,) = bench.folder.glob("state/**/*.run")
    file.write_text(f"{os.getpid()} {file.read_text().split()[1]}\n")
    (bench.folder / "go").touch()
    assert bench.begin().wait(30) == 0, bench.talk
    assert [found["outcome"] for found in bench.asked("history")["attempts"]] == ["given back", "done"]


@pytest.mark.parametrize("has_ps", [True, False])
def test_a_job_that_runs_is_not_given_back_where_proc_does_not_tell_of_it(bench: ScriptBench, has_ps: bool) -> None:
    """As on systems other than Linux. Here the real /proc is elsewhere, for a program called ps."""
    needs_root("hiding /proc")
    proc, programs = bench.folder / "proc", bench.folder / "programs"
    proc.mkdir()
    programs.mkdir()
    lines = [
        "#!/bin/sh",
        "exit 1" if not has_ps else "",
        f"for one in {proc}/[0-9]*; do",
        '    echo " ${one##*/} $(tr "\\0\\n" "  " <"$one/cmdline")"',
        "done 2>/dev/null",
    ]
    (programs / "ps").write_text("\n".join(lines) + "\n")
    (programs / "ps").chmod(0o755)
    bench.submit(f"mqsub -l A -c 'echo begin A 1 >> {bench.folder}/ledger; until test -e go; do sleep 0.1; done'")
    hidden = f"mount -t proc proc {proc} && mount -t tmpfs none /proc && PATH={programs}:$PATH"
    words = shlex.join(["dash", str(SCRIPT), "-b", str(SERVICES), "-p", bench.place, "-w", "1", "-k", "0"])
    with (bench.folder / "talk").open("w") as talk:
        begin = ["unshare", "-m", "sh", "-c", f"{hidden} exec {words}"]
        first = subprocess.Popen(begin, env=bench.environment, cwd=bench.folder, stderr=talk, start_new_session=True)
        until(lambda: bench.begun("A"))
        first.kill()
        first.wait(30)
        last = ["unshare", "-m", "sh", "-c", f"{hidden} exec {words} -e"]
        subprocess.run(last, env=bench.environment, cwd=bench.folder, stderr=talk, check=True, timeout=60)
        assert bench.counts() == {"running": 1}, bench.talk
        (bench.folder / "go").touch()
        until(lambda: list(bench.folder.glob("state/**/*.end")))
        subprocess.run(last, env=bench.environment, cwd=bench.folder, stderr=talk, check=True, timeout=60)
    assert bench.ledger == {"begin A 1": 1} and bench.counts() == {"done": 1}


def test_without_services_it_says_how_to_name_their_folder(bench: ScriptBench) -> None:
    bench.submit("mqsub -l A -c true")
    assert bench.begin("-b", "/nowhere").wait(60) == 1
    assert "Say with -b in which folder the services are" in bench.talk


def test_an_account_whose_shell_prints_by_itself_is_told(bench: ScriptBench) -> None:
    bench.submit("mqsub -l A -c true")
    ssh = bench.folder / "ssh"
    ssh.write_text('#!/bin/sh\necho "Welcome to submit!"\nshift\nexec sh -c "$*"\n')
    ssh.chmod(0o755)
    assert bench.begin("-s", "submit", "-S", str(ssh)).wait(30) == 1
    assert "Welcome to submit!" in bench.talk and "It must be silent" in bench.talk
    assert bench.counts() == {"running": 1}  # its queue is asked for it


def test_without_a_home_it_asks_for_a_folder(bench: ScriptBench) -> None:
    bench.submit("mqsub -l A -c true")
    for name in ("HOME", "XDG_STATE_HOME"):
        bench.environment.pop(name, None)
    assert bench.begin().wait(30) == 2
    assert "-l" in bench.talk and bench.counts() == {"eligible": 1}


def test_each_store_has_its_folder_also_on_a_host_without_cksum(bench: ScriptBench) -> None:
    programs = bench.folder / "programs"
    programs.mkdir()
    for name in (
        "dash",
        "sh",
        "sed",
        "date",
        "md5sum",
        "cut",
        "mkdir",
        "tail",
        "sleep",
        "rm",
        "cat",
        "uname",
        "tr",
        "mv",
        "env",
        "grep",
    ):
        (programs / name).symlink_to(str(shutil.which(name)))
    bench.submit("mqsub -l A -c true")
    assert bench.begin(PATH=str(programs)).wait(30) == 0, bench.talk
    (own,) = (bench.folder / "state/headway/placeholder.sh").iterdir()
    assert len(own.name.rpartition("-")[2]) == 32 and "cksum" not in bench.talk


def away(bench: ScriptBench) -> Path:
    """A folder of services that fail, as ssh does, while the file `away` is there."""
    folder = bench.folder / "services"
    folder.mkdir()
    for name in ("mqnextjob", "mqgetjobattribute", "mqdonejob"):
        script = folder / name
        script.write_text(f'#!/bin/sh\n[ -e {bench.folder}/away ] && exit 255\nexec {SERVICES}/{name} "$@"\n')
        script.chmod(0o755)
    return folder


def test_ends_are_told_again_and_again_while_the_submit_host_is_away(bench: ScriptBench) -> None:
    bench.submit(f"mqsub -l A -c '{JOB.format(bench.folder, 0)}; touch {bench.folder}/away'")
    one = bench.begin("-b", str(away(bench)))
    until(lambda: "called again" in bench.talk)
    assert bench.counts() == {"running": 1}
    (bench.folder / "away").unlink()
    assert one.wait(30) == 0, bench.talk
    assert bench.counts() == {"done": 1}


def test_an_end_that_could_not_be_told_before_it_was_killed_is_told_by_the_next_one(bench: ScriptBench) -> None:
    bench.submit(f"mqsub -l A -c '{JOB.format(bench.folder, 0)}; touch {bench.folder}/away'")
    one = bench.begin("-b", str(away(bench)))
    until(lambda: "called again" in bench.talk)
    one.kill()
    one.wait(30)
    (bench.folder / "away").unlink()
    assert bench.begin("-b", str(bench.folder / "services")).wait(30) == 0, bench.talk
    assert bench.ledger == {"begin A 1": 1, "end A 1": 1} and bench.counts() == {"done": 1}


def test_killed_at_random_moments_nothing_is_lost_and_nothing_done_twice(bench: ScriptBench) -> None:
    rng = random.Random(7)
    bench.layers(4, 4, 0.1)
    whole = 0
    for _ in range(20):
        there = [bench.begin() for _ in range(2)]
        time.sleep(rng.uniform(0.1, 1.2))
        there[0].kill()
        if rng.random() < 0.3:  # as if the host went down
            whole += 1
            there[1].kill()
            for pid in marked(bench.folder):
                with contextlib.suppress(ProcessLookupError):  # one kill ends others
                    os.kill(pid, signal.SIGKILL)
        else:
            there[1].send_signal(rng.choice((signal.SIGTERM, signal.SIGKILL)))
        for one in there:
            one.wait(30)
    assert bench.begin().wait(30) == 0, bench.talk
    assert bench.counts() == {"done": 16} and bench.wrong() == []
    assert whole
    store = bench.store()
    assert store.steering.miscounted(1) == []  # type: ignore[arg-type]
    store.close()


def test_a_host_with_only_what_posix_has_is_enough(bench: ScriptBench) -> None:
    programs = bench.folder / "programs"
    programs.mkdir()
    for name in [
        "dash",
        "sh",
        "sed",
        "date",
        "cksum",
        "cut",
        "mkdir",
        "tail",
        "sleep",
        "rm",
        "cat",
        "uname",
        "tr",
        "mv",
        "env",
    ]:
        (programs / name).symlink_to(str(shutil.which(name)))
    (programs / "grep").write_text(f'#!/bin/sh\ncase $1 in -*z*) exit 2 ;; esac\nexec {shutil.which("grep")} "$@"\n')
    (programs / "grep").chmod(0o755)
    bench.submit(
        f"mqsub -l A -c '{JOB.format(bench.folder, 0)}'", f"mqsub -deps A -l B -c '{JOB.format(bench.folder, 600)}'"
    )
    one = bench.begin(PATH=str(programs))
    until(lambda: bench.begun("B"))
    one.send_signal(signal.SIGTERM)
    assert one.wait(60) == 0, bench.talk
    assert bench.counts() == {"done": 1, "eligible": 1} and marked(bench.folder) == []
