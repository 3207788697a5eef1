"""Submit description files: what their commands say of a job."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from headway.formats.submit import parse, parse_description, processes, resolved
from headway.live.reading.files import Files
from headway.model.errors import InputError, UsageError
from headway.model.job import Job, Pairs, Resources, Rules, Script, Setting
from headway.model.workflow import Group, Workflow
from tests.texts import Texts

MIB = 1024**2


def jobs(text: str, variables: Pairs = (), overrides: Pairs = (), **files: str) -> list[Job]:
    world = Texts({name.replace("_", "."): content for name, content in files.items()})
    return processes(parse_description("x.sub", text, world), "N", variables, overrides, world)


def job(text: str, variables: Pairs = (), overrides: Pairs = ()) -> Job:
    (found,) = jobs(f"executable = /bin/x\n{text}\n", variables, overrides)
    return found


def commands(text: str, variables: Pairs = (), **files: str) -> list[str | None]:
    return [found.command for found in jobs(f"executable = /x\n{text}\n", variables, (), **files)]


def warned(text: str) -> list[str]:
    warnings: list[str] = []
    processes(parse_description("x.sub", f"executable = x\n{text}\n", None), "N", warnings=warnings)
    return warnings


def failure(text: str) -> str:
    with pytest.raises(InputError) as caught:
        jobs(text)
    return str(caught.value)


# --- lines -----------------------------------------------------------------------------------------------------------


def test_names_have_no_case_and_comments_are_whole_lines() -> None:
    assert commands("  # nothing \\\nARGUMENTS = a # b\r") == ["/x a '#' b"]


def test_a_backslash_continues_a_line() -> None:
    assert commands("arguments = a\\\n    b \\\n# not this\n  c\n") == ["/x ab c"]


def test_a_value_may_have_several_lines() -> None:
    assert commands("arguments @=end\n one\n two\n@end") == ["/x one two"]


def test_a_value_of_several_lines_must_be_closed() -> None:
    assert failure("executable = x\na @=end\nb\n").startswith("x.sub:2: ")


@pytest.mark.parametrize("line", ["bogus", "two words = 3", "= x", "x-y = 1", "x += 1"])
def test_a_line_that_is_no_command_is_an_error(line: str) -> None:
    assert failure(f"executable = x\n{line}\n").startswith("x.sub:2: ")


def test_unknown_commands_are_ignored() -> None:
    assert commands('weather = fine\n+Weather = "fine"\nMY.Wind = 3') == ["/x"]


# --- macros ----------------------------------------------------------------------------------------------------------


def test_macros_are_expanded_late_but_a_name_in_its_own_value_is_the_earlier_one() -> None:
    assert commands("x = 1\ny = $(x)\nx = $(X) more\narguments = $(y)") == ["/x 1 more"]
    assert commands("x = /a/b.c\nx = $Fn(x)\narguments = $(x)") == ["/x b"]


def test_variables_come_before_the_file_and_overrides_after_it() -> None:
    text = "arguments = $(a) $(b)\na = file"
    assert job(text, (("a", "vars"), ("b", "vars"))).command == "/bin/x file vars"
    assert job(text, (), (("A", "later"),)).command == "/bin/x later"


def test_what_is_known_only_at_run_time_has_the_value_of_a_dry_run() -> None:
    assert commands("arguments = $(JOB) $(Cluster).$(Process) $(RETRY) $(DAG_STATUS)") == ["/x N 1.0 0 0"]


def test_a_macro_in_a_circle_is_an_error_with_its_line() -> None:
    assert failure("executable = x\na = $(b)\nb = $(a)\narguments = $(a)\n").startswith("x.sub:4: ")


def test_a_value_that_doubles_itself_ends_in_an_error() -> None:
    assert "without end" in failure("x = 1\n" + "x = $(x)$(x)\n" * 60)


# --- if, include -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        *(("true", 1), ("FALSE", 0), ("yes", 1), ("no", 0), ("2", 1), ("0.0", 0), ("-1", 1), ("!true", 0), ("! 0", 1)),
        *(("defined n", 1), ("defined e", 0), ("! defined nope", 1), ("defined MY.a", 1), ("defined", 0)),
        *(
            ("$(n)", 1),
            ("$(e)", 0),
            ("!$(e)", 1),
            ("version >= 8.0", 1),
            ("version < 9.1.2", 0),
            ("version == 25.0", 1),
        ),
    ],
)
def test_conditions(condition: str, holds: int) -> None:
    text = f"n = 2\ne =\n+a = 1\nif {condition}\n z = 1\nelse\n z = 0\nendif\narguments = $(z)"
    assert commands(text) == [f"/x {holds}"]


def test_of_several_branches_one_is_taken_and_the_others_may_be_nonsense() -> None:
    text = "if 0\n nonsense\n if nonsense\n endif\nelif 1\n z = 2\nelif nonsense\n z = 3\nelse\n z = 4\nendif\n"
    assert commands(f"{text}arguments = $(z)") == ["/x 2"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        *(("if 1\nx = 1\n", 1), ("endif\n", 1), ("\nelse\n", 2), ("if 1\nelse\nelse\nendif\n", 3)),
        *(("if 1 > 0\nendif\n", 1), ("if\nendif\n", 1), ("if abc\nendif\n", 1), ("if version > 9\nendif\n", 1)),
        ("if 1\n" * 200, 101),
    ],
)
def test_conditions_that_are_none_or_not_balanced_are_errors(text: str, line: int) -> None:
    assert failure(text).startswith(f"x.sub:{line}: ")


def test_files_are_included_with_their_own_conditions() -> None:
    assert commands("include : a.inc\narguments = $(y)", a_inc="if 1\ny = 1\nendif\n") == ["/x 1"]
    assert commands("f = a\ninclude:$(f).inc\narguments = $(y)", a_inc="y = 2\n") == ["/x 2"]
    assert commands("include ifexist : no.inc\nif 0\ninclude : no.inc\nendif") == ["/x"]


def test_an_included_file_is_found_beside_the_description() -> None:
    world = Texts({"d/a.inc": "arguments = 1\n"})
    text = "executable = /x\ninclude : a.inc\n"
    assert processes(parse_description("d/x.sub", text, world), "N", world=world)[0].command == "/x 1"


def test_an_error_in_an_included_file_names_that_file() -> None:
    with pytest.raises(InputError, match=r"^a\.inc:2: "):
        jobs("executable = /x\ninclude : a.inc\n", a_inc='\narguments = "a\n')


@pytest.mark.parametrize("include", ["no.inc", "self.inc", "echo x = 1 |"])
def test_includes_that_cannot_be_are_errors(include: str) -> None:
    with pytest.raises(InputError):
        jobs(f"executable = x\ninclude : {include}\n", self_inc="include : self.inc\n")


def test_a_file_can_warn_and_refuse() -> None:
    assert warned("warning : old file") == ['x.sub:2: "old file"']
    assert failure("executable = x\nerror : no longer\n").startswith('x.sub:2: "no longer"')


# --- queue -----------------------------------------------------------------------------------------------------------

SHOWN = "arguments = $(Process) $(Step) $(ItemIndex) $(Item)$(x)$(y)\n"


@pytest.mark.parametrize(
    ("queue", "expected"),
    [
        ("queue", ["0 0 0"]),
        ("QUEUE 2", ["0 0 0", "1 1 0"]),
        ("n = 2\nqueue $(n)*1", ["0 0 0", "1 1 0"]),
        ("queue 0", []),
        ("queue 2 in (a, b)", ["0 0 0 a", "1 1 0 a", "2 0 1 b", "3 1 1 b"]),
        ("queue x in a, b c", ["0 0 0 a", "1 0 1 b", "2 0 2 c"]),
        ("queue x in (\na b\n# no\nc\n)", ["0 0 0 a", "1 0 1 b", "2 0 2 c"]),
        ("queue x in [1:3] (a b c d)", ["0 0 1 b", "1 0 2 c"]),
        ("queue x in [::2] a b c", ["0 0 0 a", "1 0 2 c"]),
        ("queue x in [-1] a b c", ["0 0 2 c"]),
        ("queue x from (\n  a b\n\n  c\n)", ["0 0 0 a b", "1 0 1 c"]),
        ("queue x, y from (\n  a, -b 1\n  c d\n)", ["0 0 0 a-b 1", "1 0 1 cd"]),
        ("queue x y from items.txt", ["0 0 0 ab", "1 0 1 cd,e"]),
        ("queue x from (a b)", ["0 0 0 a b"]),
        ("queue\narguments = again\nqueue", ["0 0 0", "again"]),
    ],
)
def test_queue_statements(queue: str, expected: list[str]) -> None:
    found = jobs(f"executable = /x\n{SHOWN}{queue}\n", items_txt="a b\n\nc, d,e\n")
    assert [found.command for found in found] == [f"/x {words}" for words in expected]


def test_without_a_queue_statement_there_is_one_process() -> None:
    assert commands("arguments = 1") == ["/x 1"]


def test_items_can_be_the_files_that_match() -> None:
    files = {"b_dat": "", "a_dat": "", "c_txt": ""}
    assert commands("arguments = $(f)\nqueue f matching files *.dat", (), **files) == ["/x a.dat", "/x b.dat"]
    assert commands("arguments = $(f)\nqueue f matching (*.dat c.*)", (), **files) == [
        "/x a.dat",
        "/x b.dat",
        "/x c.txt",
    ]
    assert commands("queue f matching dirs *", (), **files) == []


@pytest.mark.parametrize(
    "queue",
    [
        *(
            "queue -1",
            "queue x",
            "queue 3 x",
            "queue 1 2",
            "queue = 3",
            "queue x in",
            "queue x in (a",
            "queue 99999999",
        ),
        *("queue x from no.txt", "queue x in [a] b", "queue x in [::0] b", "queue x from ls |", "queue 2000000 in a b"),
        "queue " + "9" * 5000,
    ],
)
def test_queue_statements_that_cannot_be_are_errors(queue: str) -> None:
    with pytest.raises(InputError):
        jobs(f"executable = x\n{queue}\n")
    assert ":2: " in failure(f"executable = x\n{queue}\n") or "no.txt" in queue


# --- commands --------------------------------------------------------------------------------------------------------


def test_executable_and_arguments_are_one_command_line() -> None:
    assert job("arguments = \"a 'b c' $(JOB)\"").command == "/bin/x a 'b c' N"


def test_a_shell_line_is_the_command_itself() -> None:
    assert jobs("executable = /bin/sh\narguments = \"-c 'a | b > c'\"\n")[0].command == "a | b > c"
    assert jobs("shell = a | b\n")[0].command == "a | b"


@pytest.mark.parametrize(
    ("lines", "command"),
    [
        ("executable = a.sh", "./a.sh"),
        ("executable = bin/a.sh", "bin/a.sh"),
        ("executable = a.sh\ntransfer_executable = false", "a.sh"),
        ("executable = a.sh\ninitialdir = runs/1", "../../a.sh"),
        ("executable = ./bin/a.sh\ninitialdir = runs/", "../bin/a.sh"),
        ("executable = /a.sh\ninitialdir = runs", "/a.sh"),
        ("executable = a.sh\nuniverse = docker\ndocker_image = debian", "a.sh"),
        ("executable = a b", "'./a b'"),
    ],
)
def test_a_program_is_found_where_the_job_is_submitted(lines: str, command: str) -> None:
    assert jobs(lines)[0].command == command


def test_no_executable_is_an_error_at_the_queue_statement() -> None:
    assert failure("arguments = 1\nqueue\n") == ('x.sub:2: there is no executable. Add "executable = …" before queue.')


@pytest.mark.parametrize(
    "line", ['arguments = "a', 'environment = "a=1 b"', "arguments = $INT(x)", "+HeadwaySeconds = x"]
)
def test_a_wrong_value_is_an_error_with_its_line(line: str) -> None:
    assert failure(f"executable = x\n\n{line}\nqueue\n").startswith("x.sub:3: ")


def test_settings() -> None:
    text = "environment = \"A=1 B='2 3'\"\ngetenv = true\ninitialdir = d\ninput = i\noutput = o\nerror = e"
    assert job(text).setting == Setting("d", (("A", "1"), ("B", "2 3")), "i", "o", "e")
    assert job("env = A=1\ninitial_dir = d\nstdin = i\nstdout = o\nstderr = e").setting == Setting(
        "d", (("A", "1"),), "i", "o", "e"
    )


@pytest.mark.parametrize(
    ("text", "memory"),
    [
        ("512", 512 * MIB),
        ("1.5G", 1536 * MIB),
        ("1 GB", 1024 * MIB),
        ("100K", 102400),
        (".5 g", 512 * MIB),
        ("2*3", 6 * MIB),
    ],
)
def test_memory_is_in_megabytes_unless_it_says_otherwise(text: str, memory: int) -> None:
    assert job(f"request_memory = {text}").resources.memory == memory


def test_resources() -> None:
    text = "request_cpus = 4\nrequest_disk = 1 GB\nrequest_GPUs = 2\nallowed_execute_duration = 60\nrequest_x = 2"
    named = (("disk", MIB), ("GPUs", 2), ("x", 2))
    assert job(text).resources == Resources(4, None, 60.0, named)


def test_a_request_that_depends_on_a_machine_is_left_out_with_a_warning() -> None:
    assert warned("request_cpus = Target.Cpus") == [
        'x.sub:2: request_cpus = "Target.Cpus" is no plain number and left out.'
    ]


def test_files_retries_and_priority() -> None:
    found = job("transfer_input_files = a, b c,,d\ntransfer_output_files = o\nmax_retries = 3\npriority = 5")
    assert (found.inputs, found.outputs) == (("a", "b c", "d"), ("o",))
    assert found.rules == Rules(retries=3, priority=5)


def test_what_dagman_cannot_say_is_in_attributes_of_our_own() -> None:
    found = job("+HeadwaySeconds = 12.5\n+HeadwayAttributes = \"k=v 'say=a \\\"b\\\" c' inputs='a,b'\"")
    assert found.seconds == 12.5
    assert found.attributes == {"k": "v", "say": 'a "b" c'}
    assert found.inputs == ("a,b",)


@pytest.mark.parametrize("value", ["k=v", '"k"', '"k=\'v"', '"cores=0"', '"a b=c"'])
def test_attributes_that_are_none_are_errors(value: str) -> None:
    assert failure(f"executable = x\n+HeadwayAttributes = {value}\n").startswith("x.sub:2: ")


def test_another_universe_is_a_warning() -> None:
    assert warned("universe = grid") == ['x.sub:2: universe "grid" is not run here: the command is taken as it is.']
    assert warned("universe = Vanilla") == []


def test_a_job_of_no_work_has_a_command_of_no_work() -> None:
    assert job("noop_job = true").command == ":"


# --- a submit file by itself -----------------------------------------------------------------------------------------


def test_a_submit_file_is_a_workflow_of_parallel_jobs() -> None:
    world = Texts({"d/sweep.sub": "executable = /x\narguments = $(v) $(w)\nqueue v in (a b)\n"})
    workflow = parse("d/sweep.sub", world, ["w=1"])
    assert [(path, [found.command for found in group.jobs]) for path, group in workflow.walk()] == [
        ("sweep", []),
        ("sweep/0", ["/x a 1"]),
        ("sweep/1", ["/x b 1"]),
    ]


@pytest.mark.parametrize("text", ["executable = x\n", "executable = x\nqueue 0\n", "", "\n"])
def test_a_submit_file_that_queues_nothing_is_an_error(text: str) -> None:
    with pytest.raises(InputError):
        parse("x.sub", Texts({"x.sub": text}), [])


def test_its_arguments_set_variables() -> None:
    with pytest.raises(UsageError):
        parse("x.sub", Texts({"x.sub": "executable = x\nqueue\n"}), ["w"])


# --- a workflow of nodes ---------------------------------------------------------------------------------------------


def nodes(**jobs: Job) -> Workflow:
    workflow = Workflow(source="d/w.dag")
    for name, found in jobs.items():
        workflow.groups.add(Group(name, [found]))
    return workflow


def only(workflow: Workflow, name: str) -> Job:
    group = workflow.groups.get(name)
    assert group is not None
    (found,) = group.jobs
    return found


def test_nodes_get_their_commands_and_keep_their_rules() -> None:
    world = Texts({"d/a.sub": "executable = /x\narguments = $(JOB) $(v)\nmax_retries = 2\n"})
    workflow = nodes(A=Job(description="a.sub", variables=(("v", "1"),), rules=Rules(category="c")), B=Job("as it is"))
    found = resolved(workflow, world)
    assert only(found, "A") == Job("/x A 1", rules=Rules(retries=2, category="c"))
    assert only(found, "B") == Job("as it is")
    assert only(workflow, "A").command is None


def test_arcs_and_special_nodes_stay() -> None:
    world = Texts({"a.sub": "executable = /x\n"})
    workflow = nodes(A=Job(description="a.sub"), B=Job(description="a.sub"))
    workflow.groups.arc(0, 1, 7, weak=True)
    workflow.final = Group("F", [Job(description="a.sub")])
    found = resolved(workflow, world)
    assert [(parent.name, child.name, weak) for parent, child, weak in found.groups.arcs()] == [("A", "B", True)]
    assert found.final is not None
    assert found.final.jobs == [Job("/x")]


def test_the_directory_of_a_node_comes_first() -> None:
    world = Texts({"d/sub/a.sub": "executable = /inner\ninitialdir = run\n", "d/a.sub": "executable = /outer\n"})
    found = resolved(nodes(A=Job(description="a.sub", setting=Setting("sub")), B=Job(description="a.sub")), world)
    assert only(found, "A") == Job("/inner", setting=Setting("sub/run"))
    assert only(found, "B") == Job("/outer")


def test_descriptions_in_the_dag_are_shared_by_name() -> None:
    workflow = nodes(
        A=Job(description="one", variables=(("v", "a"),)), B=Job(description="one", overrides=(("v", "b"),))
    )
    workflow.descriptions["one"] = "executable = /x\narguments = $(v)\n"
    found = resolved(workflow, Texts({}))
    assert [only(found, name).command for name in "AB"] == ["/x a", "/x b"]


def test_a_missing_submit_file_is_one_warning() -> None:
    found = resolved(nodes(A=Job(description="a.sub"), B=Job(description="a.sub")), Texts({}))
    assert only(found, "A").command is None
    assert found.warnings == ['d/w.dag: submit file "a.sub" is missing.']


def test_a_node_of_many_processes_is_a_group_with_its_scripts_around_it() -> None:
    world = Texts({"a.sub": "executable = /x\narguments = $(Process)\nqueue 2\n"})
    rules = Rules(retries=1, pre=Script("before"), post=Script("after"))
    found = resolved(nodes(A=Job(description="a.sub", rules=rules)), world).groups.get("A")
    assert found is not None
    assert [(group.name, group.jobs) for group in found.groups] == [
        (name, [Job(f"/x {name}", rules=Rules(retries=1))]) for name in "01"
    ]
    assert [job.rules.pre for job in found.prologue] == [Script("before")]
    assert [job.rules.post for job in found.epilogue] == [Script("after")]


def test_noop_nodes_and_subdags_have_commands_too() -> None:
    workflow = nodes(A=Job(description="a.sub", rules=Rules(noop=True)), B=Job(rules=Rules(subdag="in ner.dag")))
    found = resolved(workflow, Texts({}))
    assert only(found, "A").command == ":"
    assert only(found, "B").command == "headway run 'in ner.dag'"


def test_parents_are_known_by_name() -> None:
    workflow = nodes(A=Job("a"), B=Job("b"), C=Job(description="c.sub"))
    workflow.groups.arc(0, 2)
    workflow.groups.arc(1, 2)
    found = resolved(workflow, Texts({"c.sub": "executable = /x\narguments = $(DAG_PARENT_NAMES)\n"}))
    assert only(found, "C").command == "/x A,B"


def test_a_resolved_command_does_what_the_submit_file_says(tmp_path: Path) -> None:
    (tmp_path / "say.sh").write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    (tmp_path / "say.sh").chmod(0o755)
    (tmp_path / "run").mkdir()
    text = "executable = say.sh\narguments = \"one 'two  three' ''''\"\ninitialdir = run\nqueue\n"
    (tmp_path / "say.sub").write_text(text)
    workflow = parse(str(tmp_path / "say.sub"), Files(), [])
    (group,) = workflow.groups
    (found,) = group.jobs
    assert found.command is not None
    done = subprocess.run(
        ["/bin/sh", "-c", found.command], cwd=tmp_path / "run", capture_output=True, text=True, check=True
    )
    assert done.stdout == "one|two  three|'|"


def test_a_variable_without_a_name_is_an_error() -> None:
    for word in ("=x", " =x", "x"):
        with pytest.raises(UsageError, match="name=value"):
            parse("x.sub", Texts({"x.sub": "executable = /x\nqueue\n"}), [word])
