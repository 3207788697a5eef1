"""The dialects of batch queues: what they ask, and how they read what the systems printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.live.sites.node import time_left
from headway.live.sites.queues import Completed, Listed, Request, Status, queue
from headway.model.errors import HeadwayError, UsageError

REQUEST = Request("headway-0a1b-7", 4, 5400, "/home/me/logs/7.log", ("--partition=long",))
COMMAND = ["/usr/bin/python3", "/home/me/a b/runner.pyz", "/home/me/7.json"]

# Slurm 22.05, `squeue --me --noheader --format=%A|%j|%T|%r`
SQUEUE = """\
12|headway-0a1b-7|RUNNING|None
13|headway-0a1b-8|PENDING|Resources
14|headway-0a1b-9|PENDING|JobHeldUser
15|somebody's own|COMPLETING|None
"""

# Grid Engine 8.1.9, `qstat -xml -u *`
QSTAT = """<?xml version='1.0'?>
<job_info  xmlns:xsd="http://arc.liv.ac.uk/repos/darcs/sge/source/dist/util/resources/schemas/qstat/qstat.xsd">
  <queue_info>
    <job_list state="running">
      <JB_job_number>1</JB_job_number>
      <JAT_prio>0.50000</JAT_prio>
      <JB_name>headway-0a1b-7</JB_name>
      <JB_owner>me</JB_owner>
      <state>r</state>
      <queue_name>all.q@vm</queue_name>
      <slots>2</slots>
    </job_list>
  </queue_info>
  <job_info>
    <job_list state="pending">
      <JB_job_number>2</JB_job_number>
      <JB_name>headway-0a1b-8</JB_name>
      <state>qw</state>
    </job_list>
    <job_list state="pending">
      <JB_job_number>3</JB_job_number>
      <JB_name>headway-0a1b-9</JB_name>
      <state>Eqw</state>
    </job_list>
    <job_list state="running">
      <JB_job_number>4</JB_job_number>
      <JB_name>headway-0a1b-10</JB_name>
      <state>dr</state>
    </job_list>
  </job_info>
</job_info>
"""


# HTCondor 23.9.6, `condor_q -json -attributes ClusterId,JobBatchName,JobStatus,HoldReason`: one that runs, one that
# waits, one that is held, one that is being removed, and one of the user's own that has no name.
CONDOR_Q = """\
[
{
  "ClusterId": 1,
  "JobBatchName": "headway-0a1b-7",
  "JobStatus": 2
}
,
{
  "ClusterId": 2,
  "JobBatchName": "headway-0a1b-8",
  "JobStatus": 1
}
,
{
  "ClusterId": 3,
  "JobBatchName": "headway-0a1b-9",
  "JobStatus": 5
}
,
{
  "ClusterId": 4,
  "JobBatchName": "headway-0a1b-10",
  "JobStatus": 3
}
,
{
  "ClusterId": 5,
  "JobStatus": 1
}
]
"""


def test_a_script_for_slurm_asks_for_cores_of_one_host_and_is_told_before_its_end() -> None:
    text = queue("slurm").script(REQUEST, COMMAND)
    assert text.splitlines()[0] == "#!/bin/sh"
    for line in ("--job-name=headway-0a1b-7", "--cpus-per-task=4", "--time=90", "--no-requeue", "--signal=B:TERM@20"):
        assert f"#SBATCH {line}" in text
    assert text.endswith("exec /usr/bin/python3 '/home/me/a b/runner.pyz' /home/me/7.json\n")
    assert queue("slurm").submit("/x/7.sh", REQUEST) == [
        *("sbatch", "--parsable", "--partition=long", "--job-name=headway-0a1b-7", "/x/7.sh")
    ]


def test_a_script_for_grid_engine_has_a_parallel_environment_for_several_cores() -> None:
    text = queue("gridengine").script(REQUEST, COMMAND)
    assert "#$ -pe smp 4\n" in text and "#$ -l h_rt=5400\n" in text and "#$ -notify\n" in text
    own = Request("n", 4, 60, "/l", ("-pe", "mpi", "4"))
    assert "#$ -pe" not in queue("gridengine").script(own, COMMAND)
    assert "#$ -pe" not in queue("gridengine").script(Request("n", 1, 60, "/l"), COMMAND)


@pytest.mark.parametrize(
    ("name", "out", "expected"),
    [
        ("slurm", "12\n", "12"),
        ("slurm", "welcome to the cluster\n12;other\n", "12"),
        ("gridengine", "12\n", "12"),
        ("gridengine", "12.1-4:1\n", "12"),
        ("htcondor", "12.0 - 12.0\n", "12"),
    ],
)
def test_the_id_of_what_was_submitted_is_found(name: str, out: str, expected: str) -> None:
    assert queue(name).submitted(Completed(0, out, "")) == expected


@pytest.mark.parametrize("name", ["slurm", "gridengine", "htcondor"])
@pytest.mark.parametrize("answer", [Completed(1, "", "error: no such partition\n"), Completed(0, "fine\n", "")])
def test_a_refusal_says_what_the_queue_said(name: str, answer: Completed) -> None:
    with pytest.raises(HeadwayError, match=r"refuses: (error: no such partition|fine)\."):
        queue(name).submitted(answer)


def test_advice_to_read_the_manual_does_not_hide_what_is_wrong_with_an_option() -> None:
    said = "sbatch: unrecognized option '--partion=long'\nTry \"sbatch --help\" for more information\n"  # 22.05
    with pytest.raises(HeadwayError, match="Slurm refuses: sbatch: unrecognized option '--partion=long'"):
        queue("slurm").submitted(Completed(1, "", said))


# As other versions print it. These samples were written for this test, after formats that are documented; none of them
# was captured. Slurm: JOB STATE CODES of squeue(1), and slurm.schedmd.com/job_reason_codes.html. Grid Engine: qstat(1),
# sge_status(5) and qstat.xsd, whose address at the head differs in 6.2u5, Open Grid Scheduler and Open Cluster
# Scheduler; with -f, as a user's ~/.sge_qstat says, what runs is listed by queue. HTCondor: condor_q(1); JobStatus
# in the manual's list of job attributes; that nothing at all is printed for an empty queue says DIRACGrid/DIRAC#3051.
Q, R, H, E = Status.QUEUED, Status.RUNNING, Status.HELD, Status.ENDING


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("slurm-20.11-squeue-mixed.txt", [("7", R), ("8", Q), ("9", R), ("10", E)]),
        ("slurm-23.11-squeue-reasons.txt", [("7", Q), ("8", H), ("9", Q), ("10", H)]),
        ("slurm-24.05-squeue-flags.txt", [("7", H), ("8", H), ("9", R), ("10", E)]),
        ("gridengine-6.2u5-qstat-mixed.xml", [("7", R), ("8", E), ("9", H)]),
        ("gridengine-ogs2011.11-qstat-by-queue.xml", [("7", R), ("8", Q)]),
        ("gridengine-ocs9-qstat-empty.xml", []),
        ("htcondor-8.6-condor_q-empty.json", []),
        ("htcondor-9.0-condor_q-one-line.json", [("7", R), ("", Q)]),
        ("htcondor-24.0-condor_q-states.json", [("7", H), ("8", E), ("9", R)]),
    ],
)
def test_what_other_versions_list(sample: str, expected: list[tuple[str, Status]]) -> None:
    text = (Path(__file__).parent / "samples" / sample).read_text()
    found = queue(sample.partition("-")[0]).listed(Completed(0, text, ""))
    assert [(one.name.removeprefix("headway-0a1b-"), one.status) for one in found] == expected


def test_a_reason_of_slurm_with_commas_and_spaces_is_told_whole() -> None:
    line = "201|headway-0a1b-7|PENDING|ReqNodeNotAvail, UnavailableNodes:n[1-3]\n"
    assert queue("slurm").listed(Completed(0, line, ""))[0].why == "ReqNodeNotAvail, UnavailableNodes:n[1-3]"


def test_what_is_over_is_not_listed_though_squeue_is_told_to_show_it_and_a_state_that_is_new_is_not_over() -> None:
    lines = "1|headway-0a1b-7|COMPLETED|None\n2|headway-0a1b-8|CANCELLED|None\n3|headway-0a1b-9|NEW_ONE|None\n"
    assert queue("slurm").listed(Completed(0, lines, "")) == [Listed("3", "headway-0a1b-9", Status.RUNNING)]


def test_what_slurm_lists() -> None:
    assert queue("slurm").listed(Completed(0, SQUEUE, "")) == [
        Listed("12", "headway-0a1b-7", Status.RUNNING),
        Listed("13", "headway-0a1b-8", Status.QUEUED, "Resources"),
        Listed("14", "headway-0a1b-9", Status.HELD, "JobHeldUser"),
        Listed("15", "somebody's own", Status.ENDING),
    ]
    assert queue("slurm").listed(Completed(0, "", "")) == []


def test_what_grid_engine_lists() -> None:
    assert [(one.id, one.status) for one in queue("gridengine").listed(Completed(0, QSTAT, ""))] == [
        *(("1", Status.RUNNING), ("2", Status.QUEUED), ("3", Status.HELD), ("4", Status.ENDING)),
    ]


@pytest.mark.parametrize("state", ["hr", "Rr", "ht", "s", "hS"])
def test_what_runs_in_grid_engine_is_no_held_allocation_though_it_would_be_held_if_it_were_put_back(state: str) -> None:
    job = f"<JB_job_number>1</JB_job_number><JB_name>n</JB_name><state>{state}</state>"
    text = f"<job_info><job_list>{job}</job_list></job_info>"
    assert queue("gridengine").listed(Completed(0, text, "")) == [Listed("1", "n", Status.RUNNING)]


def test_what_htcondor_lists() -> None:
    assert queue("htcondor").listed(Completed(0, CONDOR_Q, "")) == [
        Listed("1", "headway-0a1b-7", Status.RUNNING),
        Listed("2", "headway-0a1b-8", Status.QUEUED),
        Listed("3", "headway-0a1b-9", Status.HELD),
        Listed("4", "headway-0a1b-10", Status.ENDING),
        Listed("5", "", Status.QUEUED),
    ]


@pytest.mark.parametrize("nothing", ["", "\n", "[\n]\n"])
def test_htcondors_queue_is_empty_in_whatever_way_it_says_so(nothing: str) -> None:
    assert queue("htcondor").listed(Completed(0, nothing, "")) == []


def test_what_htcondor_says_over_several_lines_is_told_as_one() -> None:
    said = "ERROR: Parse error in expression: \n\tRequestCpus = many of them\n\t\n"  # 23.9.6
    with pytest.raises(HeadwayError, match="refuses: ERROR: Parse error in expression: RequestCpus = many of them"):
        queue("htcondor").submitted(Completed(1, "", said))


def test_a_description_for_htcondor_has_its_words_quoted_and_a_limit_of_its_own() -> None:
    text = queue("htcondor").script(Request("headway-0a1b-7", 4, 5400, "/a/$(x)/7.log"), ["/bin/py", "a \"b' $HOME"])
    lines = dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)
    assert text.splitlines()[-1] == "queue"
    assert (lines["batch_name"], lines["request_cpus"], lines["kill_sig"]) == ("headway-0a1b-7", "4", "SIGTERM")
    assert lines["periodic_remove"].endswith("> 5400")
    assert lines["output"] == lines["error"] == "/a/$(DOLLAR)(x)/7.log"
    inside = "exec /bin/py 'a \"b'\"'\"' $HOME'".replace("'", "''").replace('"', '""').replace("$", "$(DOLLAR)")
    assert lines["arguments"] == f"\"'-l' '-c' '{inside}'\""
    assert queue("htcondor").submit("/x/7.sh", REQUEST) == [
        *("condor_submit", "-terse", "--partition=long", "-batch-name", "headway-0a1b-7", "/x/7.sh")
    ]


@pytest.mark.parametrize("name", ["slurm", "gridengine", "htcondor"])
def test_a_queue_that_does_not_answer_is_no_empty_one(name: str) -> None:
    with pytest.raises(HeadwayError, match="does not answer: cannot contact controller"):
        queue(name).listed(Completed(1, "", "cannot contact controller\n"))
    if name != "slurm":
        with pytest.raises(HeadwayError, match="does not answer"):
            queue(name).listed(Completed(0, "<half", ""))


def test_a_queue_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no queue"):
        queue("pbs")


def test_a_site_whose_time_is_under_a_second_does_not_ask_slurm_for_time_without_end() -> None:
    assert "#SBATCH --time=1\n" in queue("slurm").script(Request("n", 1, 0, "/l"), COMMAND)


def test_a_percent_sign_in_the_folder_of_logs_is_not_one_of_slurms_patterns() -> None:
    assert "#SBATCH --output=/a%%j/l\n" in queue("slurm").script(Request("n", 1, 60, "/a%j/l"), COMMAND)


@pytest.mark.parametrize("name", ["slurm", "gridengine", "htcondor"])
def test_a_queue_whose_commands_are_not_there_is_not_told_to_refuse(name: str) -> None:
    nothing = Completed(127, "", "sh: 1: qsub: not found\n")
    for asked in (queue(name).submitted, queue(name).listed):
        with pytest.raises(HeadwayError, match=r"commands of .* are not there: sh: 1: qsub: not found\. .* PATH"):
            asked(nothing)


def test_why_an_allocation_is_held_is_told_in_the_words_of_htcondor() -> None:
    held = '[{"ClusterId": 3, "JobBatchName": "headway-0a1b-9", "JobStatus": 5, "HoldReason": "disk\\n is full."}]'
    assert queue("htcondor").listed(Completed(0, held, "")) == [
        Listed("3", "headway-0a1b-9", Status.HELD, "disk is full")
    ]


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("1:00\n", 60.0), ("2:03:04", 7384.0), ("1-02:03:04", 93784.0), ("0:00", 0.0)]
    + [(said, None) for said in ("UNLIMITED", "NOT_SET", "INVALID", "", "Invalid job id specified")],
)
def test_the_time_that_is_left_of_an_allocation_is_read_as_slurm_says_it(said: str, seconds: float | None) -> None:
    assert time_left(said) == seconds
