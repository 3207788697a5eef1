"""Python scripts that build a workflow, run in a child process."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headway import read
from headway.model.errors import InputError
from headway.model.flatten import flatten
from headway.model.job import Job
from headway.model.workflow import Group, Workflow
from tests.shell import ROOT, answer, headway

START = "from headway import Workflow\n"


def built(folder: Path, text: str, *arguments: str) -> Workflow:
    path = folder / "p.py"
    path.write_text(START + text)
    return read(path, *arguments)


def complaint(folder: Path, text: str) -> str:
    """What is said of a script, without its folder."""
    with pytest.raises(InputError) as caught:
        built(folder, text)
    return str(caught.value).replace(f"{folder}/", "")


def test_the_workflow_comes_back_as_it_was_built(tmp_path: Path) -> None:
    text = """
w = Workflow("mine")
own = {"colour": "red", "own.timeout": "9"}
a = w.job("a", ["echo", "it's", 5], seconds=1.5, retries=2, inputs=["x y"], environment={"K": "v"}, attributes=own)
g = w.group("g", after=a).before("p").run("m", release=True).afterwards("e")
g.job("k", "k 'q'", cores=2)
g.job("l", "l", after="k")
w.files["x y"] = 12
w.throttles["c"] = 3
"""
    names: dict[str, Workflow] = {}
    exec(START + text, names)
    expected = names["w"]
    expected.source, expected.format = str(tmp_path / "p.py"), "python"
    assert built(tmp_path, text) == expected


def test_nodes_outside_the_order_come_back_too(tmp_path: Path) -> None:
    text = """
from headway import Group
w = Workflow()
w.job("a", "a")
w.final = Group("end").run("f")
w.provisioner = Group("start").run("p")
w.services.append(Group("beside").run("s"))
"""
    workflow = built(tmp_path, text)
    assert workflow.final == Group("end", [Job("f")])
    assert workflow.provisioner == Group("start", [Job("p")])
    assert workflow.services == [Group("beside", [Job("s")])]


def test_what_does_not_come_back_is_told(tmp_path: Path) -> None:
    text = "w = Workflow()\nw.job('a', 'a')\nw.job('b', 'b')\nw.groups.arc(0, 1, weak=True)\n"
    workflow = built(tmp_path, text)
    assert workflow.warnings == ["not kept of what the script builds: that 1 arc is weak."]


def test_it_runs_as_a_program_with_its_arguments(tmp_path: Path) -> None:
    text = """
import sys
w = Workflow()
def main():
    for word in sys.argv[1:]:
        w.job(word, word)
if __name__ == "__main__":
    sys.exit(main())
"""
    assert [group.name for group in built(tmp_path, text, "x", "-y").groups] == ["x", "-y"]


@pytest.mark.parametrize("name", ["wf", "workflow"])
def test_one_of_several_workflows_is_chosen_by_its_name(tmp_path: Path, name: str) -> None:
    text = f"a = Workflow('no')\na.job('a', 'a')\n{name} = Workflow('yes')\n{name}.job('a', 'a')\n"
    assert built(tmp_path, text).name == "yes"


def test_two_names_of_one_workflow_are_no_problem(tmp_path: Path) -> None:
    assert built(tmp_path, "a = b = Workflow('one')\na.job('a', 'a')\n").name == "one"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "p.py:1: the script builds no workflow. Expected one that it defines outside of functions"),
        ("a = Workflow()\nb = Workflow()", 'p.py:2: the script builds several workflows: "a" and "b".'),
        ("w = Workflow()", "p.py:1: the workflow has no jobs."),
        (
            "w = Workflow()\nw.job('a', 'a', after='b')",
            'p.py:3: group "a" is to run after "b", which is not on its level.',
        ),
        ("w = Workflow()\nw.job('a', 'a', cores='x')", 'p.py:3: attribute cores="x" does not fit.'),
        ("w = Workflow()\nw.job('a', None)", 'p.py:3: a job\'s command is "None". Expected a command line, or a list'),
        ("w = Workflow()\nw.job('a', [])", "p.py:3: a job's command is"),
        ("w = Workflow()\nw.job('a')", "p.py:3: the script raises TypeError: Workflow.job() missing 1 required"),
        ("w = Workflow()\nw.job('a', 'a\\0')", "p.py:1: a name or command holds a NUL."),
        ("w = Workflow()\nw.job('a', '\\ud800')", "p.py:1: a name or command has a character that no file can hold."),
        ("import sys\nsys.exit(3)", "p.py:3: the script ends itself: exit(3)."),
        ("print 'x'", "p.py:2: print without parentheses is Python 2 ("),
        ("w = Workflow()\nw.job('a', 'a')\nw.groups.groups[0].jobs[0].command = 5", "p.py:1: the workflow raises"),
    ],
)
def test_what_is_wrong_is_told_at_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert complaint(tmp_path, f"{text}\n").startswith(said)


def test_what_the_script_prints_never_reaches_our_stdout(tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    path.write_text(START + "w = Workflow()\nw.job('a', 'a')\nprint('noise')\n")
    done = headway("show", str(path), "--json")
    assert done.stdout.startswith("{")
    assert "noise" not in done.stdout


# --- the example and the manual --------------------------------------------------------------------------------------


def test_the_example_is_as_wide_as_its_argument_says() -> None:
    found = answer("show", str(ROOT / "examples" / "pipeline.py"), "4")
    assert (found["name"], found["jobs"], found["width"]) == ("pipeline", 1 + 1 + 8 + 1 + 2, 4)


def test_the_manual_is_true(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python-api.md").read_text(), re.DOTALL)
    path = tmp_path / "census.py"
    path.write_text(blocks[0])
    flat = flatten(read(path, "3"))
    assert [flat.dag.names[node] for node in flat.dag.jobs()] == [
        "split",
        "count/1",
        "count/2",
        "count/3",
        "count",
        "plot",
    ]
    names: dict[str, object] = {}
    for block in blocks[1:]:
        exec(block.replace('"census.py"', repr(str(path))).replace('"census.mk"', repr(str(tmp_path / "m.mk"))), names)


def test_what_a_script_says_before_it_gives_up_is_shown(tmp_path: Path) -> None:
    asks = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--parts', required=True)\np.parse_args()\n"
    (tmp_path / "p.py").write_text(START + asks)
    done = headway("show", "p.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "the following arguments are required: --parts\n" in done.stderr
    assert "p.py:5: the script ends itself: exit(2)." in done.stderr


def test_a_script_that_reads_itself_does_not_go_on_for_ever(tmp_path: Path) -> None:
    said = complaint(tmp_path, "from headway import read\nworkflow = read(__file__)\n")
    assert said == "p.py:3: reading it runs Headway 10 levels deep. Does it read itself?"
