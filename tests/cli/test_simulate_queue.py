"""`headway simulate queue`: its answer, its words for people, and what it says of input that makes no sense."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from headway.engine.queue import Policy
from headway.formats.swf import parse, render
from headway.sim.replay import Replay
from headway.sim.trials import moments
from tests.shell import ROOT, answer, headway
from tests.sim.queues import log_of

NUMBER = {"type": "number"}
MEAN = {
    "type": "object",
    "required": ["mean", "low", "high"],
    "properties": dict.fromkeys(("mean", "low", "high"), NUMBER),
}
METHOD = {
    "type": "object",
    "required": ["wait", "makespan", "core_hours", "relative_wait", "allocation_wait", "allocations", "estimate_error"],
    "properties": dict.fromkeys(("wait", "makespan", "core_hours", "relative_wait", "allocation_wait"), MEAN),
}
QUEUE = {
    "type": "object",
    "required": [
        "schema",
        "methods",
        "comparisons",
        "log_jobs_per_second",
        "warnings",
        "run_time",
        "processors",
        "seed",
    ],
    "properties": {
        "schema": {"const": 1},
        "methods": {"type": "object", "additionalProperties": METHOD},
        "comparisons": {
            "type": "array",
            "items": {"required": ["method", "over", "mean", "low", "high", "significant"]},
        },
        "log_jobs_per_second": NUMBER,
    },
}
FORK = (
    'mqsub -l A -c a -attr seconds=4h\nmqsub -l B -c b -attr seconds=2h\nmqsub -deps "A B" -l C -c c -attr seconds=1h\n'
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A workflow, and two weeks of a machine that is nearly always busy."""
    (tmp_path / "w.sh").write_text(FORK)
    rows = [(3000.0 * at, 2500.0 + 700 * (at % 5), 1 + at % 4, 7200.0, at % 3) for at in range(400)]
    (tmp_path / "some.swf").write_text(render(log_of(rows, 4)))
    return str(tmp_path / "w.sh"), str(tmp_path / "some.swf")


def test_the_json_answer_keeps_its_schema(files: tuple[str, str]) -> None:
    workflow, log = files
    found = answer("simulate", "queue", workflow, "--log", log, "--starts", "6", "--policy", "FL")
    jsonschema.validate(found, QUEUE)
    assert list(found["methods"]) == ["hybrid", "giant", "individual"]
    assert (found["run_time"], found["processors"], found["policy"], found["starts"]) == (18000, 4, "FL", 6)
    assert len(found["comparisons"]) == 3
    for row in found["methods"].values():
        assert row["makespan"]["mean"] == pytest.approx(18000 + row["wait"]["mean"])
        assert row["relative_wait"]["mean"] == pytest.approx(row["wait"]["mean"] / 18000)
    assert found["methods"]["individual"]["core_hours"]["mean"] == pytest.approx(7)
    assert found["methods"]["giant"]["core_hours"]["mean"] == pytest.approx(10)


def test_a_policy_can_be_a_file_of_ones_own(files: tuple[str, str], tmp_path: Path) -> None:
    workflow, log = files
    ours = tmp_path / "mine.toml"
    text = (ROOT / "src/headway/sim/queue_policies/FL.toml").read_text()
    ours.write_text(text)
    call = ("simulate", "queue", workflow, "--log", log, "--starts", "4", "--policy")
    named, same = answer(*call, "FL"), answer(*call, str(ours))
    assert same["methods"] == named["methods"]
    ours.write_text(text.replace("percent = 10.0 ", "percent = -10.0 ").replace("hour = 10.0 ", "hour = 0.0 "))
    assert answer(*call, str(ours))["methods"] != named["methods"]
    ours.write_text(text.replace("percent = 10.0 ", "per_cent = 10.0 "))
    done = headway("simulate", "queue", workflow, "--log", log, "--policy", str(ours))
    assert done.returncode == 2 and str(ours) in done.stderr and "per_cent" in done.stderr


def test_a_seed_gives_the_same_numbers_again_and_another_one_others(files: tuple[str, str]) -> None:
    workflow, log = files
    call = ("simulate", "queue", workflow, "--log", log, "--starts", "4", "--method", "hybrid", "--seed")
    one, again, other = (answer(*call, seed)["methods"] for seed in ("1", "1", "2"))
    assert one == again != other


def test_people_get_a_table_and_pairs(files: tuple[str, str]) -> None:
    workflow, log = files
    found = headway("simulate", "queue", workflow, "--log", log, "--starts", "3", "--method", "giant,individual")
    assert "giant − individual" in found.stdout and "core hours" in found.stdout
    assert "jobs of the log that started at another time because of us" in found.stdout


def test_what_never_waits_waits_for_0_and_not_for_minus_0(tmp_path: Path, files: tuple[str, str]) -> None:
    """Times of a log are large numbers, and clocks lose what makes a difference of nothing."""
    rows = [(1e9 + 7001.3 * at, 10.0, 1, 20.0, 0) for at in range(60)]
    (tmp_path / "idle.swf").write_text(render(log_of(rows, 8)))
    call = ("simulate", "queue", "EMAN:1", "--log", str(tmp_path / "idle.swf"), "--starts", "3", "--method", "giant")
    assert answer(*call)["methods"]["giant"]["wait"] == {"mean": 0, "low": 0, "high": 0}
    assert "-0.00" not in headway(*call).stdout


def test_one_start_has_no_interval_and_one_method_no_pairs(files: tuple[str, str]) -> None:
    call = ("simulate", "queue", files[0], "--log", files[1], "--starts", "1")
    found = headway(*call)
    assert "1 start, seed 0" in found.stdout and "[" not in found.stdout and "significant" not in found.stdout
    assert "warning: one start has no interval" in found.stdout
    assert "by pairs" not in headway(*call, "--method", "giant").stdout


def test_a_budget_that_a_method_does_not_look_at_is_warned_of(files: tuple[str, str]) -> None:
    call = ("simulate", "queue", files[0], "--log", files[1], "--starts", "2", "--core-hours", "1", "--method")
    said = "giant, hybrid: --core-hours is not looked at, only hybrid+ keeps to it."
    assert said in answer(*call, "hybrid+,giant,hybrid")["warnings"]
    assert not any("is not looked at" in warning for warning in answer(*call, "hybrid+")["warnings"])


def test_a_budget_that_cannot_be_kept_is_told(files: tuple[str, str]) -> None:
    """It took 42 core hours of one thousandth, and nobody said so."""
    call = ("simulate", "queue", files[0], "--log", files[1], "--starts", "2", "--method", "hybrid+", "--core-hours")
    found = answer(*call, "0.001")
    assert found["methods"]["hybrid+"]["core_hours"]["mean"] > 0.001
    said = [warning for warning in found["warnings"] if "2 starts of 2 took more than --core-hours 0.001" in warning]
    assert said and "jobs are asked for one by one" in said[0]
    assert not any("took more than" in warning for warning in answer(*call, "1000")["warnings"])


def test_who_still_waits_because_of_us_is_told_beside_who_has_started(tmp_path: Path, files: tuple[str, str]) -> None:
    """The workflow takes the whole machine for as long as it lasts: nobody has started later when it ends."""
    rows = [(100.0 * at, 90.0, 4, 100.0, 0) for at in range(4000)]
    (tmp_path / "full.swf").write_text(render(log_of(rows, 4)))
    call = ("simulate", "queue", "EMAN:1", "--log", str(tmp_path / "full.swf"), "--starts", "2", "--method", "giant")
    found = answer(*call)["methods"]["giant"]
    assert found["shifted_log_jobs"] == 0 and found["held_log_jobs"] > 100 and found["held_seconds"] > 0
    assert "still waited, by at least" in headway(*call).stdout


@pytest.mark.parametrize("estimate", ["requested", "corrected", "history", "history-median"])
def test_every_estimate_can_be_chosen_and_tells_its_error(estimate: str, files: tuple[str, str]) -> None:
    workflow, log = files
    found = answer(
        "simulate", "queue", workflow, "--log", log, "--starts", "3", "--method", "giant", "--estimate", estimate
    )
    assert set(found["methods"]["giant"]["estimate_error"]) == {"mean", "absolute", "wait"}


def test_an_estimate_that_cannot_be_given_is_said_and_hybrid_does_without(tmp_path: Path) -> None:
    """Forty jobs are too few for a bound on their waits: one that is not known is taken for endless."""
    (tmp_path / "few.swf").write_text(render(log_of([(900.0 * at, 800.0, 2, 900.0, 0) for at in range(40)], 4)))
    call = ("simulate", "queue", "EMAN:1", "--log", str(tmp_path / "few.swf"), "--starts", "3", "--estimate", "history")
    found = answer(*call, "--method", "hybrid,hybrid+,giant")
    for how in ("hybrid", "hybrid+"):
        assert found["methods"][how]["allocations"] == 19 and found["methods"][how]["estimate_error"] is None
        assert any(
            f"estimates could not be given to {how}, which took the wait for endless" in w for w in found["warnings"]
        )
    assert found["methods"]["giant"]["allocations"] == 1


def test_a_job_that_wants_more_than_the_machine_has_is_warned_of(tmp_path: Path, files: tuple[str, str]) -> None:
    (tmp_path / "wide.sh").write_text(
        "mqsub -l A -c a -attr seconds=4h -attr cores=100\nmqsub -l B -c b -attr seconds=2h\n"
    )
    for how in ("loose", "strict"):
        found = answer(
            "simulate", "queue", str(tmp_path / "wide.sh"), "--log", files[1], "--starts", "2", "--mapping", how
        )
        assert "wider than 4 processors: 1 job. Each gets 4." in found["warnings"]


def test_wrong_run_times_cut_jobs_off(files: tuple[str, str]) -> None:
    workflow, log = files
    found = answer("simulate", "queue", workflow, "--log", log, "--starts", "3", "--error", "1")
    assert found["methods"]["individual"]["jobs_cut_off"] > 0


def test_guests_are_the_default_and_the_papers_mapping_can_be_asked_for(files: tuple[str, str]) -> None:
    call = ("simulate", "queue", "FFT:0", "--log", files[1], "--starts", "4", "--error", "1", "--method", "hybrid")
    loose, strict = answer(*call), answer(*call, "--mapping", "strict")
    assert (loose["mapping"], strict["mapping"]) == ("loose", "strict")
    assert loose["methods"]["hybrid"]["jobs_cut_off"] < strict["methods"]["hybrid"]["jobs_cut_off"]


def test_a_dag_of_the_paper_goes_by_name_and_a_narrow_machine_is_warned_of(files: tuple[str, str]) -> None:
    found = answer("simulate", "queue", "EMAN:1", "--log", files[1], "--starts", "2", "--method", "giant")
    assert found["jobs"] == 2 * 8 + 3
    assert "the workflow is up to 8 jobs wide, the machine has 4 processors." in found["warnings"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--method", "hybird"), "there is no method"),
        (("--method", ","), "--method names no method"),
        (("--policy", "LIFO"), "there is no queue policy"),
        (("--estimate", "guess"), "there is no estimate"),
        (("--processors", "1"), "has no time to submit anything at. Left out: 2 jobs wider than the 1 processors."),
        (("--error", "nan"), "--error is no number"),
        (("--core-hours", "1e400"), "--core-hours is no number"),
        (("--core-hours", "nan"), "--core-hours is no number"),
        (("--time", "-1h"), "--time is not a duration"),
        (("--time", "nan"), "--time is not a duration"),
        (("--processors", "99999999999999"), "a machine of 1e+14 processors is none"),
    ],
)
def test_what_makes_no_sense_is_said(
    options: tuple[str, str], said: str, tmp_path: Path, files: tuple[str, str]
) -> None:
    wide = tmp_path / "wide.swf"
    wide.write_text(render(log_of([(0, 5, 4, 5, 0), (9, 5, 4, 5, 0)], 4)))
    log = str(wide) if options == ("--processors", "1") else files[1]
    found = headway("simulate", "queue", files[0], "--log", log, *options)
    assert found.returncode == 2 and said in found.stderr and "Traceback" not in found.stderr


def test_a_log_that_is_none_and_jobs_without_run_times_are_said(tmp_path: Path, files: tuple[str, str]) -> None:
    (tmp_path / "none.swf").write_text("; MaxProcs: 4\nhello\n")
    found = headway("simulate", "queue", files[0], "--log", str(tmp_path / "none.swf"))
    assert found.returncode == 2 and "none.swf:2: 1 fields, expected 18" in found.stderr
    (tmp_path / "untimed.sh").write_text("mqsub -l A -c a\n")
    found = headway("simulate", "queue", str(tmp_path / "untimed.sh"), "--log", files[1])
    assert found.returncode == 2 and "1 of 1 jobs tell no run time. Give one with --time" in found.stderr
    found = headway(
        "simulate", "queue", str(tmp_path / "untimed.sh"), "--log", files[1], "--time", "10m", "--starts", "2"
    )
    assert found.returncode == 0


def test_run_times_and_names_that_cannot_be_are_said(tmp_path: Path, files: tuple[str, str]) -> None:
    (tmp_path / "long.sh").write_text("mqsub -l A -c a -attr seconds=1e308\n")
    found = headway("simulate", "queue", str(tmp_path / "long.sh"), "--log", files[1])
    assert found.returncode == 2 and 'job "A" takes 1e+308 s, more than 300 years' in found.stderr
    found = headway("simulate", "queue", "EMAN:25", "--log", files[1])
    assert found.returncode == 2 and 'there is no dag "EMAN:25". There are EMAN, BLAST' in found.stderr


def test_many_moments_take_only_the_memory_of_who_waits_then(files: tuple[str, str]) -> None:
    """A checkpoint with room for all that may come would take megabytes, and there may be 100,000."""
    log = parse(files[1], Path(files[1]).read_text().splitlines())
    kept = Replay(log, Policy("first come"), moments(log, 5000, 0)).checkpoints
    assert len(kept) == 5000
    states = [one._state for one in kept.values()]
    assert sum(array.nbytes for state in states for array in state) < 20_000_000
