from __future__ import annotations

import csv
import json
import shlex
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway import Group, Job, Workflow, flatten, read
from headway.formats.registry import FORMATS
from headway.formats.wfformat import parse, render
from headway.model.errors import InputError, ModelError
from headway.model.job import Resources, Rules, Setting
from tests.shell import ROOT
from tests.texts import Texts

DATA = (ROOT / "../shared/data/wf").resolve()
INSTANCES = sorted((DATA / "wfinstances").glob("*.json.xz")) if DATA.is_dir() else []
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the instances are not here")

TEXT = {"type": "string", "minLength": 1}
TASK_ID = {"type": "string", "pattern": "^[0-9a-zA-Z_.#:/-]+$"}
NUMBER = {"type": "number"}
SCHEMA = {
    "type": "object",
    "required": ["name", "schemaVersion", "workflow"],
    "properties": {
        "name": TEXT,
        "description": TEXT,
        "createdAt": TEXT,
        "schemaVersion": {"const": "1.5"},
        "workflow": {
            "type": "object",
            "required": ["specification"],
            "properties": {
                "specification": {
                    "type": "object",
                    "required": ["tasks"],
                    "properties": {
                        "tasks": {
                            "type": "array",
                            "minItems": 1,
                            "items": {
                                "type": "object",
                                "required": ["name", "id", "parents", "children"],
                                "properties": {
                                    "name": TEXT,
                                    "id": TASK_ID,
                                    **{key: {"type": "array", "items": TASK_ID} for key in ("parents", "children")},
                                    **{
                                        key: {"type": "array", "items": TASK_ID}
                                        for key in ("inputFiles", "outputFiles")
                                    },
                                },
                            },
                        },
                        "files": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["id", "sizeInBytes"],
                                "properties": {"id": TASK_ID, "sizeInBytes": {"type": "integer", "minimum": 0}},
                            },
                        },
                    },
                },
                "execution": {
                    "type": "object",
                    "required": ["makespanInSeconds", "executedAt", "tasks"],
                    "properties": {
                        "makespanInSeconds": NUMBER,
                        "executedAt": TEXT,
                        "machines": {"type": "array", "minItems": 1, "items": {"required": ["nodeName"]}},
                        "tasks": {
                            "type": "array",
                            "minItems": 1,
                            "items": {
                                "type": "object",
                                "required": ["id", "runtimeInSeconds"],
                                "properties": {
                                    "id": TASK_ID,
                                    "runtimeInSeconds": NUMBER,
                                    "coreCount": {"type": "number", "minimum": 1},
                                    "memoryInBytes": NUMBER,
                                    "avgCPU": NUMBER,
                                    "priority": NUMBER,
                                    "machines": {"type": "array", "items": TEXT},
                                    "command": {
                                        "type": "object",
                                        "properties": {
                                            "program": TEXT,
                                            "arguments": {"type": "array", "items": TEXT},
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


def instance() -> dict[str, Any]:
    """Two tasks with everything."""
    return {
        "name": "two",
        "description": "for a test",
        "createdAt": "2023-05-04T10:54:31",
        "schemaVersion": "1.6",
        "workflow": {
            "specification": {
                "tasks": [
                    {
                        "name": "split",
                        "id": "ID01",
                        "parents": [],
                        "children": ["ID02"],
                        "inputFiles": ["in.txt"],
                        "outputFiles": ["a.txt"],
                    },
                    {"name": "ID02", "id": "ID02", "parents": ["ID01"], "children": [], "inputFiles": ["a.txt"]},
                ],
                "files": [{"id": "in.txt", "sizeInBytes": 10}, {"id": "a.txt", "sizeInBytes": 0}],
                "metrics": {"numberOfTasks": 2},
            },
            "execution": {
                "makespanInSeconds": 5,
                "executedAt": "2023-05-04T10:54:31",
                "tasks": [
                    {
                        "id": "ID01",
                        "runtimeInSeconds": 1.5,
                        "coreCount": 2.5,
                        "memoryInBytes": 4096,
                        "avgCPU": 99.5,
                        "priority": 20,
                        "machines": ["node 1"],
                        "command": {"program": "split", "arguments": ["-n", "two words"]},
                    },
                    {"id": "ID02", "runtimeInSeconds": 2},
                ],
                "machines": [{"nodeName": "node 1", "cpu": {"coreCount": 8}}],
            },
        },
    }


def parsed(value: object) -> Workflow:
    text = value if isinstance(value, str) else json.dumps(value, indent=1)
    return parse("w.json", Texts({"w.json": text}))


def job(workflow: Workflow, name: str) -> Job:
    group = workflow.groups.get(name)
    assert group is not None
    return group.jobs[0]


def arcs(workflow: Workflow) -> set[tuple[str, str]]:
    return {(parent.name, child.name) for parent, child, _ in workflow.groups.arcs()}


# --- reading ---------------------------------------------------------------------------------------------------


@needs_data
def test_every_instance_given_is_in_the_manifest() -> None:
    with (DATA / "manifest.tsv").open() as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    assert {row["file"] for row in rows} == {path.name for path in INSTANCES}


@needs_data
@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: path.name)
def test_a_real_instance_loads_with_its_jobs_and_arcs_and_survives_a_round_trip(path: Path) -> None:
    with (DATA / "manifest.tsv").open() as lines:
        row = next(row for row in csv.DictReader(lines, delimiter="\t") if row["file"] == path.name)
    workflow = read(path)
    dag = flatten(workflow).dag
    assert (dag.job_count, dag.arc_count) == (int(row["jobs"]), int(row["arcs"]))
    assert dag.timed == dag.job_count
    rendering = render(workflow)
    assert rendering.lost == []
    jsonschema.validate(json.loads(rendering.text), SCHEMA)
    again = parsed(rendering.text)
    assert (again.name, again.groups, again.files) == (workflow.name, workflow.groups, workflow.files)


def test_a_task_is_a_group_of_one_job_with_what_is_known_of_it() -> None:
    workflow = parsed(instance())
    first = job(workflow, "ID01")
    assert workflow.name == "two"
    assert arcs(workflow) == {("ID01", "ID02")}
    assert first.command == "split -n 'two words'"
    assert first.seconds == 1.5
    assert first.resources.cores == 3  # cores are whole: 2.5 of them are 3
    assert first.rules.priority == 20
    assert first.inputs == ("in.txt",)
    assert first.outputs == ("a.txt",)
    assert dict(first.attributes) == {
        "transformation": "split",
        "memoryInBytes": "4096",
        "avgCPU": "99.5",
        "machines": "'node 1'",
    }
    assert job(workflow, "ID02").command is None
    assert workflow.files == {"in.txt": 10, "a.txt": 0}


def test_measured_memory_is_no_request_for_memory() -> None:
    assert job(parsed(instance()), "ID01").resources.memory is None


@pytest.mark.parametrize("key", ["parents", "children"])
def test_one_side_of_a_dependency_is_enough(key: str) -> None:
    value = instance()
    for task in value["workflow"]["specification"]["tasks"]:
        del task[key]
    assert arcs(parsed(value)) == {("ID01", "ID02")}


def test_tasks_may_share_a_name() -> None:
    value = instance()
    for task in value["workflow"]["specification"]["tasks"]:
        task["name"] = "ALIGN"
    workflow = parsed(value)
    assert [group.name for group in workflow.groups] == ["ID01", "ID02"]
    assert job(workflow, "ID02").attributes["transformation"] == "ALIGN"


def test_a_specification_alone_is_a_workflow() -> None:
    value = instance()
    del value["workflow"]["execution"]
    assert job(parsed(value), "ID01").seconds is None


def test_a_byte_order_mark_does_no_harm() -> None:
    assert len(parsed("\ufeff" + json.dumps(instance())).groups) == 2


# --- bad input -------------------------------------------------------------------------------------------------

SPEC = ("workflow", "specification")


def changed(value: object, *steps: str | int) -> dict[str, Any]:
    """The instance with one value replaced."""
    whole: Any = instance()
    holder = whole
    for step in steps[:-1]:
        holder = holder[step]
    holder[steps[-1]] = value
    result: dict[str, Any] = whole
    return result


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('{"a', ":1: this is no JSON: unterminated string starting at column 2."),
        ("{\n\n nonsense", ":3: this is no JSON: expecting property name"),
        ("[]", ":1: expected an object, found a list"),
        ("7", "found the number 7"),
        ('{"schemaVersion": NaN}', "NaN is no number in JSON"),
        ('{\n"a": -Infinity}', ":2: -Infinity is no number"),
        ('{\n\n"a": ' + "9" * 5000 + "}", ":3: a number is too long"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "schemaVersion is missing: this is no WfFormat"),
        (changed("1.4", "schemaVersion"), "this is WfFormat 1.4"),
        (changed("9.9", "schemaVersion"), 'schemaVersion "9.9" is not known. Headway reads WfFormat 1.5 and 1.6.'),
        (changed(1.5, "schemaVersion"), "schemaVersion is the number 1.5. Expected a string."),
        (changed([], "workflow"), "workflow is a list. Expected an object."),
        (changed([], *SPEC, "tasks"), "workflow.specification.tasks is empty"),
        (changed([3], *SPEC, "tasks"), "workflow.specification.tasks[0] is the number 3"),
        (changed("x", *SPEC, "tasks", 1, "parents"), "workflow.specification.tasks[1].parents is the string"),
        (changed([None], *SPEC, "tasks", 1, "parents"), "tasks[1].parents[0] is null"),
        (changed("ID01", *SPEC, "tasks", 1, "id"), 'task "ID01" is there already'),
        (changed("", *SPEC, "tasks", 1, "id"), "tasks[1].id is empty"),
        (changed(["ID00"], *SPEC, "tasks", 1, "parents"), 'names "ID00", which is no task (did you mean "ID0'),
        (changed(["ID02"], *SPEC, "tasks", 1, "parents"), '"ID02" depends on itself'),
        (changed("a\0b", *SPEC, "tasks", 1, "id"), "holds the character \\u0000"),
        (changed(-1, *SPEC, "files", 0, "sizeInBytes"), "sizeInBytes is -1"),
        (changed(0.5, *SPEC, "files", 0, "sizeInBytes"), "Expected bytes"),
        (changed(-1, "workflow", "execution", "tasks", 0, "runtimeInSeconds"), "runtimeInSeconds is -1."),
        (changed(10**400, "workflow", "execution", "tasks", 0, "runtimeInSeconds"), "a very large number"),
        (changed(True, "workflow", "execution", "tasks", 0, "runtimeInSeconds"), "is true. Expected a number"),
        (changed(1e12, "workflow", "execution", "tasks", 0, "coreCount"), "coreCount is too large"),
        (changed("ID03", "workflow", "execution", "tasks", 0, "id"), 'execution.tasks[0].id names "ID03"'),
        (changed("ID02", "workflow", "execution", "tasks", 0, "id"), 'has "ID02" twice'),
        (changed([5], "workflow", "execution", "tasks", 0, "command", "arguments"), "arguments[0] is the number 5"),
        (changed({"attributes": {"cores": "x"}}, *SPEC, "tasks", 0, "headway"), "attribute cores"),
    ],
)
def test_bad_input_is_refused_with_a_place_and_a_reason(value: object, message: str) -> None:
    with pytest.raises(InputError) as error:
        parsed(value)
    assert message in str(error.value)


def test_an_infinite_run_time_is_refused() -> None:
    text = json.dumps(instance()).replace('"runtimeInSeconds": 1.5', '"runtimeInSeconds": 1e999')
    with pytest.raises(InputError, match="runtimeInSeconds is inf"):
        parsed(text)


def test_a_lone_surrogate_is_refused() -> None:
    text = json.dumps(instance()).replace('"ID02"', '"\\ud800"')
    with pytest.raises(InputError, match="ud800"):
        parsed(text)


def test_the_line_is_that_of_the_value() -> None:
    value = changed(["nobody"], *SPEC, "tasks", 1, "parents")
    text = json.dumps(value, indent=1)
    with pytest.raises(InputError) as error:
        parsed(text)
    assert '"nobody"' in text.split("\n")[error.value.line - 1]


def test_a_cycle_is_told_with_a_line() -> None:
    value = changed(["ID02"], *SPEC, "tasks", 0, "parents")
    text = json.dumps(value, indent=1)
    workflow = parsed(text)
    workflow.source = "w.json"
    with pytest.raises(InputError, match="cycle: ID01 -> ID02 -> ID01") as error:
        flatten(workflow)
    assert '"id"' in text.split("\n")[error.value.line - 1]


def every_place(value: object, way: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    pairs: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    return [place for key, inner in pairs for place in [(*way, key), *every_place(inner, (*way, key))]]


ODD: list[Any] = [None, True, -1, 0, 1.5, 1e308, 10**400, "", "ID01", "\0", [], [[]], [1], ["ID01"], {}, {"id": 3}]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(every_place(instance())), st.sampled_from(ODD)), min_size=1, max_size=3))
def test_whatever_is_replaced_in_an_instance_it_is_read_or_refused(
    changes: list[tuple[tuple[str | int, ...], Any]],
) -> None:
    value: Any = instance()
    for steps, new in changes:
        holder = value
        try:
            for step in steps[:-1]:
                holder = holder[step]
            holder[steps[-1]] = deepcopy(new)  # or a list could be put into itself
        except (KeyError, TypeError, IndexError, AttributeError):
            continue
    try:
        flatten(parsed(value))
    except (InputError, ModelError) as error:
        assert str(error)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_whatever_is_cut_from_an_instance_it_is_read_or_refused(data: st.DataObject) -> None:
    text = json.dumps(instance())
    start = data.draw(st.integers(0, len(text)))
    piece = data.draw(st.sampled_from(["", '"', "\\", "\\u", "{", "]", ",", "1e999", "NaN", "\udc80", "\n"]))
    text = text[:start] + piece + text[start + data.draw(st.integers(0, 9)) :]
    try:
        parsed(text)
    except InputError as error:
        assert str(error)


# --- writing ---------------------------------------------------------------------------------------------------


def test_what_is_built_in_code_comes_back_from_a_file() -> None:
    workflow = Workflow("demo")
    workflow.job(
        "first job",
        "echo 'a  b' > \"$OUT\" && true",
        seconds=2.5,
        cores=4,
        memory="2G",
        time="1h",
        retries=3,
        inputs=["in put.txt", "x"],
        outputs=["dir/ö.txt"],
        environment={"OUT": "y"},
        directory="sub",
        attributes={"colour": "red", "machines": "a b", "avgCPU": "07", "own.retry": "3", "own.own.x": "1"},
    )
    workflow.job("second", "sh -c 'exit 0'", after="first job")
    workflow.group("third/x#2", after="second").jobs.append(Job())
    workflow.files = {"x": 0, "in put.txt": 7, "unused": 3}
    rendering = render(workflow)
    assert rendering.lost == []
    jsonschema.validate(json.loads(rendering.text), SCHEMA)
    again = parsed(rendering.text)
    assert (again.name, again.groups, again.files) == (workflow.name, workflow.groups, workflow.files)


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    workflow = Workflow(draw(WORDS))
    names = draw(st.lists(WORDS, min_size=1, max_size=5, unique=True))
    seconds = st.none() | st.floats(0, 1e9)
    for at, name in enumerate(names):
        job = Job(
            draw(st.none() | WORDS | st.lists(WORDS, min_size=1).map(shlex.join)),
            draw(seconds),
            tuple(draw(st.lists(WORDS, max_size=2))),
            tuple(draw(st.lists(WORDS, max_size=2))),
            draw(st.dictionaries(st.sampled_from(["a", "avgCPU", "machines", "executedAt"]), WORDS)),
            Resources(draw(st.integers(1, 9)), draw(st.none() | st.integers(0, 2**40))),
            Setting(draw(st.none() | WORDS)),
            Rules(draw(st.integers(0, 9)), priority=draw(st.integers(-9, 9))),
        )
        here = workflow.groups.add(Group(name, [job]))
        for parent in draw(st.sets(st.integers(0, at - 1))) if at else ():
            workflow.groups.arc(parent, here)
    workflow.files = draw(st.dictionaries(WORDS, st.integers(0, 2**40), max_size=3))
    return workflow


@settings(max_examples=150, deadline=None)
@given(workflows())
def test_any_workflow_of_single_jobs_survives_a_round_trip(workflow: Workflow) -> None:
    rendering = render(workflow)
    jsonschema.validate(json.loads(rendering.text), SCHEMA)
    again = parsed(rendering.text)
    assert (again.name, again.groups, again.files) == (workflow.name, workflow.groups, workflow.files)


def test_groups_are_flattened_and_said_to_be_lost() -> None:
    workflow = Workflow("groups")
    outer = workflow.group("outer")
    outer.job("a", "true")
    outer.job("b", "true", after="a")
    workflow.group("barrier", after="outer")
    workflow.job("last", "true", after="barrier")
    workflow.final = Group("end", [Job("true")])
    rendering = render(workflow)
    again = parsed(rendering.text)
    assert arcs(again) == {("outer/a", "outer/b"), ("outer/b", "last")}
    assert rendering.lost == [
        "the grouping of 1 group",
        "1 final, provisioner or service node",
        "1 group without jobs, though not the order they stand for",
    ]


def test_both_sides_of_every_dependency_are_written() -> None:
    tasks = json.loads(render(parsed(instance())).text)["workflow"]["specification"]["tasks"]
    assert [(task["id"], task["parents"], task["children"]) for task in tasks] == [
        ("ID01", [], ["ID02"]),
        ("ID02", ["ID01"], []),
    ]


def test_without_run_times_and_commands_there_is_no_execution() -> None:
    workflow = Workflow("shape")
    workflow.group("a").jobs.append(Job())
    assert "execution" not in json.loads(render(workflow).text)["workflow"]


def test_an_empty_workflow_cannot_be_written() -> None:
    with pytest.raises(ModelError, match="no jobs"):
        render(Workflow("empty"))


def test_both_versions_are_written(tmp_path: Path) -> None:
    workflow = Workflow("w")
    workflow.job("a", "echo hello", seconds=2)
    for name, version in (("wfformat", "1.5"), ("wfformat-1.6", "1.6")):
        path = tmp_path / "x.json"
        path.write_text(FORMATS[name].render(workflow).text)
        assert json.loads(path.read_text())["schemaVersion"] == version
        assert flatten(read(path)).dag.work == 2.0
