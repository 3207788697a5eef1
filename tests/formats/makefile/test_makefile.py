from __future__ import annotations

import contextlib
import gzip
import lzma
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.formats import flat, makefile
from headway.formats.makefile.writer import decoded, encoded, render_calls
from headway.live.reading.files import Files
from headway.model import attributes
from headway.model.errors import InputError, ModelError
from headway.model.flatten import flatten
from headway.model.job import Job
from headway.model.workflow import Group, Members, Workflow

SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def read(folder: Path, text: str, *goals: str, files: Sequence[str] = ()) -> Workflow:
    """The workflow of a Makefile, in a folder with these files."""
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    path = folder / "Makefile"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return makefile.parse(str(path), Files(), goals)


def commands(workflow: Workflow) -> dict[str, list[str | None]]:
    return {path: [job.command for job in group.all_jobs()] for path, group in workflow.walk()}


def parents(workflow: Workflow) -> dict[str, list[str]]:
    return workflow.groups.parents_of()


# --- what make knows, Headway knows ----------------------------------------------------------------------------


def test_targets_are_groups_and_recipe_lines_are_jobs(tmp_path: Path) -> None:
    workflow = read(tmp_path, "all: a b\na:\n\techo 1\n\techo 2\nb: a\n\techo 3\n")
    assert commands(workflow) == {"a": ["echo 1", "echo 2"], "b": ["echo 3"]}
    assert parents(workflow) == {"b": ["a"]}


def test_only_what_the_goals_need_is_read(tmp_path: Path) -> None:
    text = "a:\n\techo a\nb: a\n\techo b $(MAKECMDGOALS)\nc:\n\techo c\n"
    assert commands(read(tmp_path, text)) == {"a": ["echo a"]}
    assert commands(read(tmp_path, text, "b")) == {"a": ["echo a"], "b": ["echo b b"]}
    assert list(commands(read(tmp_path, text, "c", "b"))) == ["c", "a", "b"]
    assert commands(read(tmp_path, "a:\n\techo $(X)\n", "X=5")) == {"a": ["echo 5"]}


def test_pattern_rules_variables_functions_and_includes_are_expanded(tmp_path: Path) -> None:
    (tmp_path / "more.mk").write_text("OBJECTS := $(patsubst %.c,%.o,$(wildcard *.c))\n")
    text = "include more.mk\nprog: $(OBJECTS)\n\tld $^ -o $@\n%.o: %.c\n\tcc $(FLAGS) -c $< -o $@\na.o: FLAGS = -O\n"
    workflow = read(tmp_path, text, files=["a.c", "b.c"])
    assert commands(workflow)["a.o"] == ["cc -O -c a.c -o a.o"]
    assert commands(workflow)["b.o"] == ["cc  -c b.c -o b.o"]
    assert parents(workflow) == {"prog": ["a.o", "b.o"]}


def test_static_patterns_canned_recipes_and_computed_rules_are_expanded(tmp_path: Path) -> None:
    text = (
        "all: x.out y.out z\ndefine steps\n@echo one $@\necho two $*\nendef\nx.out y.out: %.out:\n\t$(steps)\n"
        "define rule\n$(1): x.out\n\techo made $$@\nendef\n$(eval $(call rule,z))\n"
    )
    workflow = read(tmp_path, text)
    assert commands(workflow) == {
        "x.out": ["echo one x.out", "echo two x"],
        "y.out": ["echo one y.out", "echo two y"],
        "z": ["echo made z"],
    }


def test_files_are_inputs_and_targets_are_outputs_unless_phony(tmp_path: Path) -> None:
    text = ".PHONY: run\nrun: out\n\t./check out\nout: in.txt | config\n\tstep1\n\tstep2\n"
    workflow = read(tmp_path, text, files=["in.txt", "config"])
    first, last = workflow.groups.groups[0].jobs
    assert (first.inputs, first.outputs) == (("in.txt", "config"), ())
    assert (last.inputs, last.outputs) == ((), ("out",))
    assert workflow.groups.groups[1].jobs[0].outputs == ()


def test_order_only_prerequisites_are_arcs(tmp_path: Path) -> None:
    assert parents(read(tmp_path, "a: b | c\n\tA\nb:\n\tB\nc:\n\tC\n")) == {"a": ["b", "c"]}


def test_a_target_without_recipe_is_a_barrier(tmp_path: Path) -> None:
    workflow = read(tmp_path, "all: c\nc: half\n\tC\nhalf: a b\na:\n\tA\nb:\n\tB\n")
    assert commands(workflow) == {"a": ["A"], "b": ["B"], "half": [], "c": ["C"]}
    assert parents(workflow) == {"half": ["a", "b"], "c": ["half"]}


def test_what_only_forces_and_files_that_wait_for_files_are_no_groups(tmp_path: Path) -> None:
    text = "a: FORCE a.c\n\tA\nFORCE:\na.c: a.h\na.h:\n"
    workflow = read(tmp_path, text, files=["a.c", "a.h"])
    assert commands(workflow) == {"a": ["A"]}
    assert workflow.groups.groups[0].jobs[0].inputs == ("a.c",)


def test_grouped_targets_are_made_once(tmp_path: Path) -> None:
    workflow = read(tmp_path, "all: y z\nx y &: a\n\tboth\nz: x\n\tZ\na:\n\tA\n")
    assert commands(workflow) == {"a": ["A"], "y": ["both"], "z": ["Z"]}
    assert parents(workflow) == {"y": ["a"], "z": ["y"]}
    assert workflow.groups.groups[1].jobs[0].outputs == ("y", "x")


def test_double_colon_rules_add_up(tmp_path: Path) -> None:
    workflow = read(tmp_path, "t:: a\n\techo 1\nt:: b\n\techo 2\na:\n\tA\nb:\n\tB\n")
    assert commands(workflow)["t"] == ["echo 1", "echo 2"]
    assert parents(workflow) == {"t": ["a", "b"]}


def test_continued_lines_are_one_job(tmp_path: Path) -> None:
    workflow = read(tmp_path, "a:\n\tfor i in 1 2; do \\\n\t  echo $$i; \\\n\tdone\n\techo 'x \\\n\ty'\n")
    assert commands(workflow) == {"a": ["for i in 1 2; do   echo $i; done", "echo 'x \\\ny'"]}


def test_with_oneshell_a_recipe_is_one_job(tmp_path: Path) -> None:
    workflow = read(tmp_path, ".ONESHELL:\na:\n\tcat <<E\n\t\n\ttext\n\tE\n")
    assert commands(workflow) == {"a": ["cat <<E\n\ntext\nE"]}


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("@echo x", "echo x"),
        ("-rm x", "rm x || true"),
        ("@ - rm x", "rm x || true"),
        ("$(Q)-rm x", "rm x || true"),
        ("$(CARE)", "rm x || true"),
        ("-exit 3", "sh -c 'exit 3' || true"),
        ("-rm x # gone", "sh -c 'rm x # gone' || true"),
        ("-a; b &", "sh -c 'a; b &' || true"),
        ("$(empty)", None),
        ("@", None),
    ],
)
def test_prefixes_are_taken_off_and_errors_ignored_where_they_say_so(
    tmp_path: Path, line: str, command: str | None
) -> None:
    workflow = read(tmp_path, f"Q = @\nCARE = -rm x\na:\n\techo 1\n\t{line}\n\techo 2\n")
    assert commands(workflow) == {"a": ["echo 1", *([command] if command else []), "echo 2"]}


def test_only_the_marked_lines_of_a_canned_recipe_may_fail(tmp_path: Path) -> None:
    text = "define two\n@echo $(1)\n-rm $@\nendef\na:\n\t$(call two,x y)\n\tlast $@\n"
    assert commands(read(tmp_path, text)) == {"a": ["echo x y", "rm a || true", "last a"]}


def test_ignore_without_targets_forgives_all(tmp_path: Path) -> None:
    assert commands(read(tmp_path, ".IGNORE:\na:\n\trm x\n")) == {"a": ["rm x || true"]}
    assert commands(read(tmp_path, ".IGNORE: a\na: b\n\trm x\nb:\n\trm y\n")) == {"a": ["rm x || true"], "b": ["rm y"]}


def test_another_shell_runs_the_lines(tmp_path: Path) -> None:
    text = "SHELL := /bin/bash\n.SHELLFLAGS := -eu -c\na: b\n\techo 'x'\n"
    text += "b: SHELL = /bin/sh\nb: .SHELLFLAGS = -c\nb:\n\tB\n"
    workflow = read(tmp_path, text)
    assert commands(workflow)["a"] == ["/bin/bash -eu -c 'echo '\"'\"'x'\"'\"''"]
    assert commands(workflow)["b"] == ["B"]


def test_implicit_chains_vpath_and_builtin_rules_work(tmp_path: Path) -> None:
    text = "VPATH = src\nprog: z.q main.o\n\tlink $^\n%.q: %.r\n\tcp $< $@\n%.r: %.s1\n\tcp $< $@\n"
    workflow = read(tmp_path, text, files=["src/z.s1", "main.c"])
    assert parents(workflow) == {"z.q": ["z.r"], "prog": ["z.q", "main.o"]}
    assert commands(workflow)["prog"] == ["link z.q main.o"]
    assert commands(workflow)["main.o"] == ["cc    -c -o main.o main.c"]
    assert workflow.groups.groups[0].jobs[0].inputs == ("src/z.s1",)


def test_names_with_spaces_colons_and_dollars_are_read(tmp_path: Path) -> None:
    workflow = read(tmp_path, "all: a\\ b c\\:d f$$g\na\\ b: d\\ e c\\:d\n\tA\nd\\ e:\n\tD\nc\\:d:\n\tC\nf$$g: ; F\n")
    assert parents(workflow) == {"a b": ["d e", "c:d"]}
    assert set(commands(workflow)) == {"a b", "d e", "c:d", "f$g"}


def test_targets_that_are_up_to_date_are_read_as_well(tmp_path: Path) -> None:
    assert commands(read(tmp_path, "a: b\n\tA\nb:\n\tB\n", files=["b", "a"])) == {"b": ["B"], "a": ["A"]}


def test_a_makefile_that_is_up_to_date_is_never_remade(tmp_path: Path) -> None:
    text = "all: x\nx:\n\techo x\nMakefile: source\n\tfalse\ninclude part.mk\npart.mk: source\n\tfalse\n"
    assert commands(read(tmp_path, text, files=["source", "part.mk"])) == {"x": ["echo x"]}
    assert (tmp_path / "Makefile").read_text() == text
    assert (tmp_path / "part.mk").exists()


def test_other_makes_are_not_started(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/Makefile").write_text("$(shell touch ran)all:\n\t+touch ran\n")
    workflow = read(tmp_path, "a:\n\t$(MAKE) -C sub\n\tcd sub && ${MAKE} all; echo $@\n\techo done\n")
    assert commands(workflow) == {"a": ["make -C sub", "cd sub && make all; echo a", "echo done"]}
    assert not (tmp_path / "sub/ran").exists()


def test_what_a_line_with_plus_writes_is_no_job(tmp_path: Path) -> None:
    assert commands(read(tmp_path, "a:\n\techo 1\n\t+@echo plus; echo $@\n\techo 2\n")) == {
        "a": ["echo 1", "echo plus; echo a", "echo 2"]
    }


def test_what_info_says_is_no_job(tmp_path: Path) -> None:
    text = "$(info at first)\nall: b\n\techo $(info then)$@\nb:\n\techo b\n\ttouch $@\n"
    assert commands(read(tmp_path, text)) == {"b": ["echo b", "touch b"], "all": ["echo all"]}


def test_packed_makefiles_are_read_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("")
    text = b"a: in\n\tuse $< $(CURDIR)\n"
    (tmp_path / "Makefile.gz").write_bytes(gzip.compress(text))
    (tmp_path / "Makefile.xz").write_bytes(lzma.compress(text))
    for name in ("Makefile.gz", "Makefile.xz"):
        workflow = makefile.parse(str(tmp_path / name), Files(), ())
        assert commands(workflow) == {"a": [f"use in {tmp_path.resolve()}"]}
    (tmp_path / "Makefile.gz").write_bytes(gzip.compress(b"a:\n  echo\n"))
    with pytest.raises(InputError, match=r"/Makefile.gz:2: missing separator"):
        makefile.parse(str(tmp_path / "Makefile.gz"), Files(), ())


def test_exported_variables_are_in_the_jobs_environment(tmp_path: Path) -> None:
    workflow = read(tmp_path, "export MODE = fast $(X)\nX = 1\nSHELL = /bin/bash\na:\n\trun\n")
    assert workflow.groups.groups[0].jobs[0].setting.environment == (("MODE", "fast 1"),)


@pytest.mark.parametrize(
    ("text", "arguments", "environment"),
    [
        ("MODE = fast\n.EXPORT_ALL_VARIABLES:\na:\n\trun\n", (), (("MODE", "fast"),)),
        ("export LC_ALL = C\na:\n\trun\n", (), (("LC_ALL", "C"),)),
        ("a:\n\trun\n", ("MODE=very fast",), (("MODE", "very fast"),)),
    ],
)
def test_all_that_make_exports_is_in_the_jobs_environment(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    arguments: tuple[str, ...],
    environment: tuple[tuple[str, str], ...],
) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    assert read(tmp_path, text, *arguments).groups.groups[0].jobs[0].setting.environment == environment


def test_what_single_targets_export_is_not_left_out_in_silence(tmp_path: Path) -> None:
    workflow = read(tmp_path, "a: export MODE = fast\na: b\n\trun\nb:\n\techo c:export X\n")
    assert workflow.warnings == ["exported for single targets, which is not read: MODE."]


def test_arcs_know_their_line(tmp_path: Path) -> None:
    assert list(read(tmp_path, "a: b\n\tA\n\nb:\n\tB\n").groups.lines) == [2]


# --- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("all: a\n  a: b\n        echo a\n", r"Makefile:3: missing separator"),
        ("all: a\na: b\n\techo a\n", r'Makefile:3: "a" needs "b", which is neither a file nor a target'),
        ("include gone.mk\nall:\n\tx\n", r'Makefile:1: the included file "gone.mk" is missing'),
        ("X = 1\n", r"Makefile:1: make says: No targets"),
        ("all:\n", r"Makefile:1: no target of this Makefile has anything to run"),
        ("ifeq (a,b)\n", r"Makefile:2: missing 'endif'"),
        ("a:\n\techo $(error stop it)\n", r"Makefile:2: stop it"),
        ("a: b\n\tA\nb: c\n\tB\nc: a\n\tC\n", r"Makefile:6: cycle: c -> b -> a -> c"),
        ("a: a\n\tA\n", r'"a" depends on itself'),
        ("all: b c\nb: c\nc: b\n", r"cycle: c -> b -> c|cycle: b -> c -> b"),
    ],
)
def test_what_make_refuses_is_an_error_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)


def test_a_goal_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='there is no target "b"'):
        read(tmp_path, "a:\n\tA\n", "b")


def test_attributes_that_make_no_sense_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="attribute cores"):
        read(tmp_path, "a: private HEADWAY_ATTRIBUTES_1 = cores=many\na:\n\tA\n")
    with pytest.raises(InputError, match="without ="):
        read(tmp_path, "a: private HEADWAY_ATTRIBUTES_1 = cores\na:\n\tA\n")


PIECES = [
    "\t",
    "\n",
    ":",
    "=",
    "$(",
    ")",
    "#",
    "\\",
    "a",
    "b",
    " ",
    "define x\n",
    "endef\n",
    "&:",
    "|",
    "%",
    "-",
    "@",
    "é",
]
EXAMPLE = (
    "X = 1\nall: a b\na: b | c\n\t@echo $@ $(X)\n\t-rm x\ndefine two\necho 1\necho 2\nendef\n"
    "b:\n\t$(two)\nc: %: b\n\tC\n"
)


@SLOW
@given(
    st.lists(
        st.tuples(st.integers(0, len(EXAMPLE)), st.integers(0, 3), st.sampled_from(PIECES)), min_size=1, max_size=4
    )
)
def test_a_damaged_makefile_is_read_or_refused(tmp_path: Path, changes: list[tuple[int, int, str]]) -> None:
    text = EXAMPLE
    for at, length, piece in changes:
        text = text[:at] + piece + text[at + length :]
    with contextlib.suppress(InputError):
        flatten(read(tmp_path, text))


# --- writing ---------------------------------------------------------------------------------------------------


def written(folder: Path, workflow: Workflow) -> Workflow:
    """A workflow written as a Makefile and read again."""
    return read(folder, makefile.render(workflow).text)


def test_rules_say_the_order(tmp_path: Path) -> None:
    workflow = Workflow()
    workflow.job("a", "echo $HOME", seconds=5)
    workflow.job("b", "make b", after="a").run("check b")
    assert makefile.render(workflow).text == (
        "HEADWAY_MAKEFILE := 1\n\nall: b\n\na: private HEADWAY_ATTRIBUTES_1 = seconds=5\na:\n\techo $$HOME\n"
        "b: a\n\tmake b\n\tcheck b\n\n.PHONY: a b all\n"
    )
    assert written(tmp_path, workflow).groups == workflow.groups


def test_make_runs_what_is_written(tmp_path: Path) -> None:
    workflow = Workflow()
    workflow.job("a b", "echo one >> log", inputs=["x y"])
    workflow.job("all", "-strange; @odd; printf '%s\\n' \"two $$\" | sed 's/ .*/#/' >> log", after="a b")
    workflow.job("last", "printf 'a\n+b\\\\\\\n' >> log", after="all").run("\techo $(echo MAKE) >> log")
    (tmp_path / "Makefile").write_text(makefile.render(workflow).text)
    (tmp_path / "last").write_text("in the way")
    subprocess.run(["make", "-s", "-j2"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "log").read_text() == "one\ntwo#\na\n+b\\\\\nMAKE\n"


def test_supergroups_are_submitted(tmp_path: Path) -> None:
    workflow = Workflow()
    x = workflow.group("X").before("begin").run("own")
    x.job("a", "echo a", release=True).run("verify a", affinity=True)
    x.job("b", "echo 'b' $x", after="a")
    workflow.job("Y", "echo y", after="X")
    text = makefile.render(workflow).text
    assert text.startswith('all: X/b Y\n\nX:\n\tmqsub -deps "" -l "X"\n')
    assert "X/b: X/a X\n\tmqsub -deps \"a\" -l \"X/b\" -c 'echo '\"'\"'b'\"'\"' $$x'\n" in text
    assert written(tmp_path, workflow).groups == workflow.groups


def test_make_submits_what_a_flat_script_submits(tmp_path: Path) -> None:
    workflow = Workflow()
    for name, after in {"A": [], "B": [], "C": ["A"], "D": ["B", "A"]}.items():
        workflow.job(name, f"run {name}\n'twice' $(MAKE)", after=after, release=True)
    (tmp_path / "Makefile").write_text(makefile.render(workflow).text)
    note = f"#!{sys.executable}\nimport shlex, sys\nprint('mqsub', shlex.join(sys.argv[1:]), file=open('calls', 'a'))\n"
    (tmp_path / "mqsub").write_text(note)
    (tmp_path / "mqsub").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["make", "-s"], cwd=tmp_path, check=True, env=environment)
    collected = flat.from_text("calls", (tmp_path / "calls").read_text())
    assert collected.groups == workflow.groups
    assert [group.name for group in collected.groups] == ["A", "B", "C", "D"]


def test_figure_13_is_read_as_what_it_submits(tmp_path: Path) -> None:
    text = 'all: B\nA:\n\tmqsub -deps "" -l "A" -c "a.sh"\nB: A\n\tmqsub -deps "A" -l "B" -c "b.sh \'x y\'"\n'
    workflow = read(tmp_path, text)
    assert commands(workflow) == {"A": ["a.sh"], "B": ["b.sh 'x y'"]}
    assert parents(workflow) == {"B": ["A"]}
    with pytest.raises(InputError, match=r'Makefile:3: .*depends on "A", which no earlier line submits'):
        read(tmp_path, "all: B\nB:\n\tmqsub -deps A -l B -c b\n")
    with pytest.raises(InputError, match="Makefile:2: the shell would change"):
        read(tmp_path, 'B:\n\tmqsub -l B -c "$$HOME/b"\n')


def test_mqsub_beside_other_commands_is_a_job_and_a_warning(tmp_path: Path) -> None:
    workflow = read(tmp_path, "a:\n\techo x\n\tmqsub -l A -c a\n")
    assert commands(workflow) == {"a": ["echo x", "mqsub -l A -c a"]}
    assert len(workflow.warnings) == 1


def test_a_job_without_command_cannot_be_written() -> None:
    workflow = Workflow()
    workflow.groups.add(Group("a", [Job()]))
    with pytest.raises(ModelError, match='the command of "a" is not known'):
        makefile.render(workflow)


NASTY = st.text(
    st.sampled_from(list("ab$#%:=;|&@-+~*?[](){}<>!^,./\\'\" \t\n\réλ\x7f\x0b\u2028\udc80")), min_size=1, max_size=8
)
WORDS = [
    "all",
    "include",
    "define",
    "$(MAKE)",
    "./a",
    "-lm",
    ".PHONY",
    "a/b",
    "lib(x)",
    'eval "$HEADWAY_COMMAND_1"',
    "mqsub -l x",
    "# GNU Make 4",
    "make: Entering directory 'x'",
    "Makefile:1: target 'a' does not exist",
    "rm a",
]
TEXT = NASTY | st.sampled_from(WORDS)


@st.composite
def jobs(draw: st.DrawFn, submitted: bool) -> Job:
    command = draw(TEXT.filter(str.strip) if submitted else TEXT)  # mqsub has another way to say: nothing
    job = Job(command, inputs=tuple(draw(st.lists(TEXT, max_size=2))), seconds=draw(st.none() | st.floats(0, 1e9)))
    pairs = draw(st.dictionaries(st.sampled_from(["note", "host", "env"]), TEXT | st.just(""), max_size=2))
    if submitted and draw(st.booleans()):
        pairs["release"] = "yes"
    if pairs:
        job.attributes = pairs
    return job


@st.composite
def members(draw: st.DrawFn, depth: int, submitted: bool) -> Members:
    found = Members()
    for name in draw(st.lists(TEXT, min_size=1, max_size=4, unique=True)):
        group = Group(name, draw(st.lists(jobs(submitted), max_size=2)))
        if depth:
            group.prologue = tuple(draw(st.lists(jobs(True), max_size=1)))
            group.epilogue = tuple(draw(st.lists(jobs(True), max_size=1)))
            if draw(st.booleans()):
                group.members = draw(members(depth - 1, True))
        found.add(group)
        for at in draw(st.sets(st.integers(0, len(found) - 1))) - {len(found) - 1}:
            found.arc(at, len(found) - 1)
    return found


def told(members: Members, prefix: str = "") -> list[str]:
    """Groups, jobs and arcs a line each, so that a difference is seen."""
    lines: list[str] = []
    for group in members:
        lines.append(f"{prefix}{group.name!r} after {sorted(members.parents_of().get(group.name, ()))}")
        lines += [f"{prefix}  {job.command!r} {attributes.pairs_of(job)}" for job in group.all_jobs()]
        lines += told(group.groups, prefix + "    ") if group.members else []
    return lines


def assert_same(found: Members, wanted: Members) -> None:
    assert told(found) == told(wanted)
    assert found == wanted


@SLOW
@given(members(0, False))
def test_rules_written_are_read_back_the_same(tmp_path: Path, groups: Members) -> None:
    assert_same(written(tmp_path, Workflow(groups=groups)).groups, groups)


@SLOW
@given(members(2, True))
def test_submissions_written_are_read_back_the_same(tmp_path: Path, groups: Members) -> None:
    assert_same(read(tmp_path, render_calls(Workflow(groups=groups)).text).groups, groups)


@SLOW
@given(members(0, False))
def test_the_order_of_groups_is_kept_even_if_children_come_first(tmp_path: Path, groups: Members) -> None:
    turned = Members()
    for group in reversed(groups.groups):
        turned.add(group)
    for parent, child in zip(groups.parents, groups.children, strict=True):
        turned.arc(len(groups) - 1 - parent, len(groups) - 1 - child)
    assert_same(written(tmp_path, Workflow(groups=turned)).groups, turned)


@SLOW
@given(st.lists(NASTY, min_size=1, max_size=4))
def test_make_passes_any_command_on_as_it_is(tmp_path: Path, texts: list[str]) -> None:
    workflow = Workflow()
    steps = workflow.group("steps")
    for text in texts:
        steps.run(f"printf %s, {shlex.quote(text)} >> log")
    (tmp_path / "log").write_text("")
    (tmp_path / "Makefile").write_bytes(makefile.render(workflow).text.encode("utf-8", "surrogateescape"))
    subprocess.run(["make", "-s"], cwd=tmp_path, check=True)
    assert (tmp_path / "log").read_bytes().decode("utf-8", "surrogateescape") == "".join(f"{text}," for text in texts)


@given(st.text())
def test_any_text_survives_a_make_variable(text: str) -> None:
    if "\0" not in text:
        assert decoded(encoded(text)) == text
        assert "\n" not in encoded(text)
