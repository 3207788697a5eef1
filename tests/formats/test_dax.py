from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway import Job, Workflow, flatten, read
from headway.formats.dax import parse
from headway.model.errors import InputError
from tests.shell import ROOT
from tests.texts import Texts

DATA = (ROOT / "../shared/data/wf").resolve()
FILES = sorted(DATA.glob("dax*/*.xz"))

TWO = """\
<?xml version="1.0" encoding="UTF-8"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" name="black">
  <filename file="f.a" link="input"/>
  <job id="ID1" namespace="diamond" name="preprocess" version="2.0" runtime="13.85">
    <argument>-a top -T60 -i <filename file="f a"/> -o <filename file="f.b"/> *.txt > x</argument>
    <uses file="f a" link="input" size="304"/>
    <uses file="f.b" link="output" size="12"/>
  </job>
  <job id="ID2" name="analyze"/>
  <child ref="ID2"><parent ref="ID1"/></child>
</adag>
"""
THREE = """\
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="3.6" name="tri">
  <metadata key="creator"><anything/></metadata>
  <file name="f.a"><pfn url="file:///data/f.a" site="local"/></file>
  <executable name="keg" installed="true"><pfn url="file:///usr/bin/pegasus-keg" site="x"/></executable>
  <transformation name="keg"><uses name="keg" executable="true"/></transformation>
  <job id="j1" name="keg" node-label="x">
    <argument>-i <file name="f.a"/></argument>
    <profile namespace="pegasus" key="runtime">90</profile>
    <profile namespace="pegasus" key="cores">4</profile>
    <profile namespace="pegasus" key="memory">512</profile>
    <profile namespace="env" key="LANG">C x</profile>
    <profile namespace="dagman" key="RETRY">3</profile>
    <profile namespace="condor" key="universe">vanilla</profile>
    <stdin name="in" link="input"/>
    <stdout name="out" link="output"/>
    <uses name="f.a" link="inout"/>
    <uses name="keg" executable="true" link="input"/>
    <invoke when="end">mail</invoke>
  </job>
  <dag id="j2" file="inner.dag"/>
  <dax id="j3" file="inner.dax"><argument>--sites x</argument></dax>
  <child ref="j3"><parent ref="j1"/><parent ref="j2" edge-label="x"/></child>
</adag>
"""


def parsed(text: str) -> Workflow:
    return parse("w.dax", Texts({"w.dax": text}))


def job(workflow: Workflow, name: str) -> Job:
    group = workflow.groups.get(name)
    assert group is not None
    return group.jobs[0]


def test_a_job_of_dax_2_keeps_its_command_files_and_run_time() -> None:
    workflow = parsed(TWO)
    first = job(workflow, "ID1")
    assert workflow.name == "black"
    assert first.seconds == 13.85
    assert first.command == "preprocess -a top -T60 -i 'f a' -o f.b '*.txt' '>' x"
    assert (first.inputs, first.outputs) == (("f a",), ("f.b",))
    assert dict(first.attributes) == {"transformation": "preprocess", "namespace": "diamond", "version": "2.0"}
    assert workflow.files == {"f a": 304, "f.b": 12}
    assert job(workflow, "ID2").command == "analyze"
    assert [(parent.name, child.name) for parent, child, _ in workflow.groups.arcs()] == [("ID1", "ID2")]


def test_a_job_of_dax_3_keeps_profiles_streams_and_its_executable() -> None:
    first = job(parsed(THREE), "j1")
    assert first.command == "/usr/bin/pegasus-keg -i f.a"
    assert first.seconds == 90
    assert (first.resources.cores, first.resources.memory) == (4, 512 * 2**20)
    assert first.rules.retries == 3
    assert first.setting.environment == (("LANG", "C x"),)
    assert (first.setting.stdin, first.setting.stdout) == ("in", "out")
    assert (first.inputs, first.outputs) == (("f.a",), ("f.a",))
    assert first.attributes["condor.universe"] == "vanilla"


def test_sub_workflows_run_in_their_job_s_place() -> None:
    workflow = parsed(THREE)
    assert [job(workflow, name).rules.subdag for name in ("j2", "j3")] == ["inner.dag", "inner.dax"]
    assert len(workflow.warnings) == 1
    assert "arguments of a sub-workflow" in workflow.warnings[0]


def test_prefixes_of_tags_do_not_matter() -> None:
    text = '<p:adag xmlns:p="http://pegasus.isi.edu/schema/DAX"><p:job id="a" name="x"/></p:adag>'
    assert job(parsed(text), "a").command == "x"


def test_other_encodings_are_read() -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><adag><job id="\udce9" name="x"/></adag>'
    assert [group.name for group in parsed(text).groups] == ["é"]


@pytest.mark.skipif(not DATA.is_dir(), reason="the files are not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_real_file_loads_with_the_jobs_it_counts_itself(path: Path) -> None:
    text = lzma.decompress(path.read_bytes()).decode()
    dag = flatten(read(path)).dag
    assert dag.job_count == text.count("<job ") > 0
    children = re.findall(r'<child ref="(\w+)">(.*?)</child>', text, re.DOTALL)
    pairs = {(parent, child) for child, inner in children for parent in re.findall(r'<parent ref="(\w+)"', inner)}
    assert dag.arc_count == len(pairs)


@pytest.mark.skipif(not DATA.is_dir(), reason="the files are not here")
def test_negative_run_times_and_sizes_of_the_known_generator_are_taken_as_unknown() -> None:
    workflow = read(DATA / "dax/Epigenomics_997.xml.xz")
    assert [warning.partition(": ")[2] for warning in workflow.warnings] == [
        "209 sizes are negative, and taken as unknown.",
        "57 run times are negative, and taken as unknown.",
    ]


LAUGHS = '<!DOCTYPE adag [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>\n<adag><job id="&b;" name="x"/></adag>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<adag>\n<job", ":2: this is no well-formed XML"),
        ("<adag/>", "there is no job"),
        ("<html/>", "the root element is <html>. Expected <adag>"),
        ('<adag version="1.8"/>', 'DAX version "1.8" is not known'),
        (LAUGHS, ":1: a document type (<!DOCTYPE …>) is not read"),
        ('<?xml version="1.0" encoding="x-none"?><adag/>', "w.dax:1: "),
        ('<?xml version="1.0" encoding="utf-16-le"?><adag/>', "w.dax:1: "),
        ('<adag>\n\n<job name="x"/></adag>', ":3: <job> has no id"),
        ('<adag><job id="a"/></adag>', "<job> has no name"),
        ('<adag><job id="a" name="x"/>\n<job id="a" name="x"/></adag>', ':2: group "a" is there already'),
        ('<adag><jobb id="a"/></adag>', "<jobb> is not expected in <adag>"),
        ('<adag><job id="ID1" name="x"/>\n<child ref="ID1"><parent ref="ID2"/></child></adag>', 'mean "ID1"?)'),
        ('<adag><job id="a" name="x"/>\n<child ref="a"><parent ref="a"/></child></adag>', ':2: "a" depends on itself'),
        ('<adag><job id="a" name="x"/><child ref="a"><job/></child></adag>', "<job> is not expected in <child>"),
        ('<adag><job id="a" name="x" runtime="inf"/></adag>', 'attribute seconds="inf" does not fit'),
        (f'<adag><job id="a" name="x" runtime="{"9" * 999}"/></adag>', "does not fit"),
        ('<adag><job id="a" name="x"><uses name="f" size="1k"/></job></adag>', 'size "1k"'),
        ('<adag><job id="a" name="x"><uses name="f" link="up"/></job></adag>', 'link "up"'),
        ('<adag><job id="a" name="x"><uses link="input"/></job></adag>', "<uses> has no name"),
        ('<adag><job id="a" name="x"><profile key="cores" namespace="pegasus">no</profile></job></adag>', "cores"),
    ],
)
def test_bad_input_is_refused_with_a_place_and_a_reason(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parsed(text)
    assert message in str(error.value)


def test_an_unknown_element_in_a_job_is_passed_over_with_a_warning() -> None:
    workflow = parsed('<adag><job id="a" name="x"><odd><uses name="f" link="input"/></odd></job></adag>')
    assert workflow.warnings == ["w.dax:1: <odd> is not known and passed over."]
    assert job(workflow, "a").inputs == ()


def test_a_cycle_is_told_with_its_line() -> None:
    arcs = '<child ref="a"><parent ref="b"/></child>\n<child ref="b"><parent ref="a"/></child>'
    workflow = parsed(f'<adag><job id="a" name="x"/><job id="b" name="x"/>\n{arcs}</adag>')
    workflow.source = "w.dax"
    with pytest.raises(InputError, match=r"w\.dax:3: cycle: a -> b -> a"):
        flatten(workflow)


def test_deep_nesting_is_no_trouble() -> None:
    deep = "<x>" * 50_000 + "</x>" * 50_000
    assert len(parsed(f'<adag><job id="a" name="x"><metadata>{deep}</metadata></job></adag>').groups) == 1


PIECES = ["", "<", ">", '"', "&", "&#0;", "&amp;", "<job", "</job>", "ID1", "-", "9" * 30, "\udc80", "\ud800", "\n"]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from([TWO, THREE]), st.data())
def test_whatever_is_changed_in_a_file_it_is_read_or_refused(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(PIECES)) + text[at + data.draw(st.integers(0, 9)) :]
    try:
        parsed(text)
    except InputError as error:
        assert str(error)
