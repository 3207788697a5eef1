"""Whatever a file holds, a reader gives a workflow or an InputError, and what it gives can be shown and written.

Valid files are changed here and there: that reaches further into a reader than random bytes do.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headway.cli.display.report import text
from headway.formats.registry import FORMATS
from headway.formats.submit import resolved
from headway.live.answers.show import report
from headway.model.errors import HeadwayError, InputError, ModelError
from tests.texts import Texts

DAG = """\
# a bit of everything
CONFIG x.conf
SUBMIT-DESCRIPTION shared {
  executable = /bin/echo
  arguments = "$(greeting) 'big world'"
  queue 2
}
JOB A a.sub DIR d NOOP
JOB B shared DONE
JOB C @=end
executable = c
@end
SUBDAG EXTERNAL D inner.dag
SPLICE S s.dag DIR sub
SPLICE T s.dag
FINAL F a.sub
PROVISIONER P a.sub
SERVICE V a.sub
PARENT A B CHILD C D \\
  S
WEAK PARENT S CHILD T
CONNECT S T
VARS A greeting="hello \\"you\\"" other = 'x' +Attr=3
VARS ALL_NODES APPEND z="1"
SCRIPT DEFER 1 60 DEBUG log ALL PRE A pre.sh $JOB
SCRIPT POST ALL_NODES post.sh $RETURN
RETRY A 3 UNLESS-EXIT 2
ABORT-DAG-ON B 3 RETURN 1
PRIORITY A 10
CATEGORY A big
MAXJOBS big 2
PRE_SKIP A 1
TOLERANCE A 10% FAIL-FAST
SAVE_POINT_FILE A here
DONE C
DOT x.dot UPDATE
NODE_STATUS_FILE status 30
JOBSTATE_LOG log
SET_JOB_ATTR x = "y"
ENV SET a=b;c=d
INCLUDE more.inc
"""
SPLICED = "JOB X a.sub\nJOB Y a.sub\nPARENT X CHILD Y\nPIN_IN X 1\nPIN_OUT Y 1\n"
SUBMIT = """\
# a submit file
executable = /bin/$(program:echo)
program = cat
arguments = "one 'two three' ""four"" $(Process) $INT(number,%03d)"
number = 7
environment = "A=1 B='2 3'"
initialdir = work/$(Cluster)
input = in.$(Process)
output = out
request_memory = 2 GB
request_cpus = 4
transfer_input_files = a, b
+HeadwaySeconds = 12.5
if defined number
  x = $(number)
else
  x = none
endif
queue 3 name in (a b c)
"""
FLAT = """\
#!/bin/sh
mqsub -deps "" -l "2100" -c "2100.sh"
mqsub -deps "2100" -l "1110" -c "1110.sh" -attr seconds=3.5 -attr release=yes
mqsub -l "1110" -c '1110.ver.sh "x"' -attr affinity=yes  # checked
mqsub -deps "2100 1110" -l X
mqsub -l "X/K" -c k \\
   -attr memory=2G
mqsub -deps "K" -l "X/L" -prologue -c l -attr env.A=b
mqsub -l X -epilogue -c done
"""
WFFORMAT = json.dumps(
    {
        "name": "w",
        "createdAt": "2024-01-01T00:00:00Z",
        "schemaVersion": "1.5",
        "workflow": {
            "specification": {
                "tasks": [
                    {
                        "name": "a",
                        "id": "a1",
                        "parents": [],
                        "children": ["b1"],
                        "inputFiles": ["f"],
                        "outputFiles": ["g"],
                    },
                    {
                        "name": "b",
                        "id": "b1",
                        "parents": ["a1"],
                        "children": [],
                        "inputFiles": ["g"],
                        "outputFiles": [],
                    },
                ],
                "files": [{"id": "f", "sizeInBytes": 10}, {"id": "g", "sizeInBytes": 20}],
            },
            "execution": {
                "makespanInSeconds": 3,
                "executedAt": "2024-01-01T00:00:00Z",
                "tasks": [
                    {"id": "a1", "runtimeInSeconds": 1.5, "command": {"program": "x", "arguments": ["1", "2"]}},
                    {"id": "b1", "runtimeInSeconds": 2, "coreCount": 2, "memoryInBytes": 100},
                ],
            },
        },
    },
    indent=1,
)
DAX = """\
<?xml version="1.0" encoding="UTF-8"?>
<adag xmlns="http://pegasus.isi.edu/schema/DAX" version="2.1" name="test">
  <job id="ID1" namespace="m" name="project" version="1.0" runtime="13.5">
    <argument>-x <filename file="f"/> &lt;y&gt;</argument>
    <uses file="f" link="input" size="304"/>
    <uses file="g" link="output" size="40"/>
  </job>
  <job id="ID2" name="add" runtime="1"/>
  <child ref="ID2"><parent ref="ID1"/></child>
</adag>
"""
SAMPLES = {"dagman": DAG, "submit": SUBMIT, "flat": FLAT, "wfformat": WFFORMAT, "dax": DAX}
OTHERS = {"a.sub": SUBMIT, "s.dag": SPLICED, "sub/s.dag": SPLICED, "more.inc": "JOB Z a.sub\nPARENT A CHILD Z\n"}

_PIECES = st.sampled_from(
    [
        *(
            "",
            " ",
            "\n",
            "\t",
            "\r\n",
            "\\",
            "\\\n",
            '"',
            "'",
            "{",
            "}",
            "[",
            "]",
            "<",
            ">",
            "&",
            "#",
            "//",
            "%",
            "=",
            ",",
        ),
        *(
            ":",
            ";",
            "$",
            "$(",
            "$(x)",
            "$$(",
            ")",
            "@=",
            "@",
            "+",
            "-",
            "/",
            "\x00",
            "\x0b",
            "\udcff",
            "é",
            "\u2028",
            "0",
        ),
        *(
            "-1",
            "1e999",
            "9" * 5000,
            "nan",
            "null",
            "true",
            "[[[[",
            "PARENT",
            "CHILD",
            "JOB",
            "A",
            "ALL_NODES",
            "mqsub",
        ),
        *(
            "queue",
            "if",
            "endif",
            "else",
            "include : a.sub",
            "-l",
            "-deps",
            "-c",
            "-attr",
            "x=y",
            "&a;",
            "<!DOCTYPE a>",
        ),
    ]
)


@st.composite
def changed(draw: st.DrawFn, sample: str) -> str:
    """A valid text with a few changes."""
    content = sample
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(content)))
        if draw(st.booleans()):  # a line out, twice, or elsewhere
            lines = content.splitlines(keepends=True) or [""]
            at = draw(st.integers(0, len(lines) - 1))
            line = lines.pop(at)
            for _ in range(draw(st.integers(0, 2))):
                lines.insert(draw(st.integers(0, len(lines))), line)
            content = "".join(lines)
        else:
            end = min(len(content), start + draw(st.integers(0, 12)))
            content = content[:start] + draw(_PIECES) + content[end:]
    return content


def check(format: str, content: str) -> None:
    """Reads a text; a result must be fit to show and to write in every format."""
    path = f"x.{format}"
    world = Texts({path: content, **OTHERS})
    try:
        workflow = FORMATS[format].parse(path, world)
    except InputError as error:
        assert error.path and error.line >= 1 and error.what.endswith(".") and len(str(error)) < 1000
        return
    try:
        answer, _ = report(workflow)
    except (InputError, ModelError) as error:  # a cycle, for example
        assert len(str(error)) < 2000
        return
    assert text(answer) and json.dumps(answer)
    for other in FORMATS.values():
        if other.writes:
            try:
                found = resolved(workflow, world) if other.needs_commands else workflow
                assert other.render(found).text
            except HeadwayError as error:
                assert len(str(error)) < 2000


@pytest.mark.parametrize("format", sorted(SAMPLES))
def test_the_samples_are_valid(format: str) -> None:
    path = f"x.{format}"
    assert len(FORMATS[format].parse(path, Texts({path: SAMPLES[format], **OTHERS})).groups) >= 1


@pytest.mark.parametrize("format", sorted(SAMPLES))
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_a_changed_file_gives_a_workflow_or_an_error_with_its_place(format: str, data: st.DataObject) -> None:
    check(format, data.draw(changed(SAMPLES[format])))


@pytest.mark.parametrize("format", sorted(SAMPLES))
@settings(max_examples=100, deadline=None)
@given(content=st.text())
def test_any_text_gives_a_workflow_or_an_error_with_its_place(format: str, content: str) -> None:
    check(format, content)
