from __future__ import annotations

import pytest

from headway.formats.registry import detect
from headway.model.errors import InputError


@pytest.mark.parametrize(
    ("name", "head", "format"),
    [
        ("x.dag", "anything", "dagman"),
        ("dir.py/x.dag.xz", "JOB A a.sub\n", "dagman"),
        ("x.dag.rescue001", "DONE A\n", "dagman"),
        ("workflow", "# c\nJob A a.submit\nParent A Child B\n", "dagman"),
        ("workflow", "parent A B child C\n", "dagman"),
        ("Makefile", "all:\n", "makefile"),
        ("makefile.gz", "all:\n", "makefile"),
        ("rules.mk", "all:\n", "makefile"),
        ("Makefile.linux", "all:\n", "makefile"),
        ("build", "all: a b\n\ttouch $@\n", "makefile"),
        ("build", "include more.mk\nall: a b\n", "makefile"),
        ("workflow", "INCLUDE nodes.dag\nINCLUDE arcs.dag\n", "dagman"),
        ("x.sub", "queue\n", "submit"),
        ("job", "executable = /bin/true\nqueue 3\n", "submit"),
        ("submit.sh", "#!/bin/sh\nmqsub -l A -c a\n", "flat"),
        ("submit", 'for i in 1 2; do mqsub -l "$i" -c x; done\n', "flat"),
        ("x.py", "Levels = [['A', 1]]\ndef generateGroup(level, parent):\n", "description"),
        ("script", "#!/usr/bin/python\nimport sys\nLevels = []\n", "description"),
        ("x.py", "from headway import Workflow\n", "python"),
        ("script", "#!/usr/bin/env python3\nfrom headway import Workflow\n", "python"),
        ("x.json.xz", "{", "wfformat"),
        ("x", '\n {"name": "x"', "wfformat"),
        ("x.dax", "<adag>", "dax"),
        ("x", '<?xml version="1.0"?><adag>', "dax"),
    ],
)
def test_a_format_is_found_out_from_name_and_content(name: str, head: str, format: str) -> None:
    assert detect(name, head).name == format


def test_no_format_is_guessed() -> None:
    with pytest.raises(InputError, match="--format"):
        detect("letter", "Dear reader,\n")
