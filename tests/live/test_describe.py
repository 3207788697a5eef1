"""DAG description scripts, run in a child process."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headway import read
from headway.model.errors import InputError
from headway.model.workflow import Workflow
from tests.shell import headway

SCRIPT = """\
import sys
Levels = [["G", 1]]
def generateGroup(level, parentGroup):
    return [[1], [2]]
def getDependent(level, group, parentGroup):
    return [[group[0] - 1]]
def getJobsExecutables(level, group):
    return ["run%d" % group[0]]
"""


def described(folder: Path, text: str, *arguments: str) -> Workflow:
    path = folder / "d.py"
    path.write_text(text)
    return read(path, *arguments, format="description")


def complaint(folder: Path, text: str, *arguments: str) -> str:
    """What is said of a script, without its folder."""
    with pytest.raises(InputError) as caught:
        described(folder, text, *arguments)
    return str(caught.value).replace(f"{folder}/", "")


def commands(workflow: Workflow) -> list[str | None]:
    return [job.command for _, group in workflow.walk() for job in group.all_jobs()]


def test_four_names_are_all_it_needs(tmp_path: Path) -> None:
    workflow = described(tmp_path, SCRIPT)
    assert commands(workflow) == ["run1", "run2"]
    assert workflow.groups.parents_of() == {"G_2": ["G_1"]}
    assert workflow.dropped == 1


def test_arguments_are_passed_on_and_the_script_runs_in_its_folder(tmp_path: Path) -> None:
    text = (
        SCRIPT + "import os\ndef getJobsExecutables(*_): return [sys.argv[0], *sys.argv[1:], os.getcwd(), __file__]\n"
    )
    path = str(tmp_path / "d.py")
    assert commands(described(tmp_path, text, "-x", "a b"))[:5] == [path, "-x", "a b", str(tmp_path), path]


def test_more_than_two_levels_work_and_the_top_has_no_parent(tmp_path: Path) -> None:
    text = SCRIPT + (
        "Levels = [['A', 1], ['B', 2], ['C', 3]]\n"
        "def generateGroup(level, parent):\n"
        "    assert parent == [] or level != 'A'\n"
        "    return [parent + [0], parent + [1]]\n"
        "def getDependent(level, group, parent): return [parent + [0]] if group[-1] else []\n"
        "def getJobsExecutables(level, group): return [level] if level == 'C' else []\n"
    )
    workflow = described(tmp_path, text)
    paths = [path for path, _ in workflow.walk()]
    assert len(paths) == 2 + 4 + 8
    assert paths[:3] == ["A_0", "A_0/B_0_0", "A_0/B_0_0/C_0_0_0"]
    assert paths[-1] == "A_1/B_1_1/C_1_1_1"


def test_sets_lists_tuples_mappings_and_generators_are_all_collections(tmp_path: Path) -> None:
    text = SCRIPT + (
        "def generateGroup(level, parent): return ((n,) for n in (1,))\n"
        "def getDependent(*_): return set()\n"
        "def getJobsExecutables(*_): return ('a', 'b', 'c', 'd', ['e f', 'g'])\n"
        "def getJobsAttributes(*_):\n"
        "    return [{'affinity=no', 'release=yes'}, ['affinity=yes'], {'cores': 2}, None, 'k=v']\n"
        "def getJobsParameters(*_): return ['-v', ['x y', 3], None]\n"
    )
    group = described(tmp_path, text).groups.groups[0]
    assert [job.command for job in group.jobs] == ["a -v", "b 'x y' 3", "c", "d", "'e f' g"]
    assert [dict(job.attributes) for job in group.jobs] == [
        {"affinity": "no", "release": "yes"},
        {"affinity": "yes"},
        {},
        {},
        {"k": "v"},
    ]
    assert group.jobs[2].resources.cores == 2


def test_prologue_and_epilogue_have_functions_of_their_own(tmp_path: Path) -> None:
    text = SCRIPT + (
        "def getPrologueExecutables(level, group): return ['p']\n"
        "def getEpilogueExecutables(level, group): return ['e']\n"
    )
    assert commands(described(tmp_path, text))[:3] == ["p", "run1", "e"]


def test_modules_beside_the_script_can_be_imported_and_none_of_ours_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "files.py").write_text("name = 'mine'\n")
    (tmp_path / "json.py").write_text("name = 'my json'\n")
    text = SCRIPT + "import files\ndef getJobsExecutables(*_): return [files.name, __name__]\n"
    assert commands(described(tmp_path, text))[:2] == ["mine", "description"]


def test_functions_get_copies_that_they_may_change(tmp_path: Path) -> None:
    text = SCRIPT + "def getDependent(level, group, parent):\n    group.append(9)\n    return []\n"
    assert [group.name for group in described(tmp_path, text).groups] == ["G_1", "G_2"]


def test_a_packed_script_and_one_in_another_encoding_are_read(tmp_path: Path) -> None:
    path = tmp_path / "d.py.gz"
    text = "# -*- coding: latin-1 -*-\n" + SCRIPT + "def getJobsExecutables(*_): return ['caf\xe9']\n"
    path.write_bytes(gzip.compress(text.encode("latin-1")))
    assert commands(read(path))[0] == "café"


def test_what_the_script_prints_disturbs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "d.py"
    path.write_text(SCRIPT + "import os\nprint('noise')\nos.write(1, b'more')\nsys.stdout.close()\n")
    done = headway("show", str(path), "--json")
    assert done.returncode == 0
    assert done.stdout.startswith("{")
    assert "noise" not in done.stdout
    assert "noise" in done.stderr


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ("del Levels", "d.py:1: the script has no Levels."),
        ("del getDependent", "d.py:1: the script has no function getDependent. Define getDependent(level, group, p"),
        ("getDependent = 5", "d.py:9: getDependent is no function."),
        ("getJobsAttributes = 5", "d.py:9: getJobsAttributes is no function."),
        ("Levels = 5", "d.py:2: Levels is"),
        ("Levels = ['G']", "d.py:2: Levels is"),
        ("Levels = [['G', 'x']]", "d.py:2: Levels is"),
        ("Levels = [['G', 0]]", "d.py:2: Levels has an entry"),
        ("Levels = [[5, 1]]", "d.py:2: Levels has an entry"),
        ("Levels = []", "d.py:2: there are 0 levels."),
        ("Levels = [['G', 1], ['G', 1]]", "d.py:2: two levels have the same name."),
        ("def generateGroup(l, p): pass", "d.py:9: generateGroup('G', []) returns \"None\" (is its return missing?);"),
        (
            "def generateGroup(l, p): return [[1, 2]]",
            "d.py:9: generateGroup('G', []) returns a group \"[1, 2]\"; expec",
        ),
        ("def generateGroup(l, p): return [1]", "d.py:9: generateGroup('G', []) returns a group \"1\"; expected a l"),
        ("def generateGroup(l, p): return ['a']", "d.py:9: generateGroup('G', []) returns a group"),
        ("def generateGroup(l, p): return 'ab'", "d.py:9: generateGroup('G', []) returns \"'ab'\"; expected a list"),
        ("def generateGroup(l, p): return [[10**30]]", "d.py:9: generateGroup('G', []) returns a group"),
        ("def generateGroup(l, p): return []", "d.py:9: the script generates no groups."),
        ("def generateGroup(l): return []", "d.py:9: generateGroup('G', []) raises TypeError: generateGroup() takes 1"),
        ("def getDependent(l, g, p): return [g]", 'd.py:9: getDependent says that "G_1" depends on itself.'),
        ("def getDependent(l, g, p): return [['x']]", "d.py:9: getDependent('G', [1], []) returns a group"),
        ("def getJobsExecutables(l, g): return [None]", "d.py:9: getJobsExecutables('G', [1]) returns \"None\" in it"),
        ("def getJobsExecutables(l, g): return 'x'", "d.py:9: getJobsExecutables('G', [1]) returns"),
        ("def getJobsAttributes(l, g): return [5]", "d.py:9: getJobsAttributes('G', [1]) returns"),
        ("def getJobsAttributes(l, g): return [['x']]", 'd.py:9: attribute "x" has no value.'),
        (
            "def f(): return 1/0\ndef getDependent(*a): return f()",
            "d.py:9: getDependent('G', [1], []) raises ZeroDivisio",
        ),
        ("import nothing_like_it", "d.py:9: the script raises ModuleNotFoundError: No module named 'nothing_like_it'."),
        ("1 +", "d.py:9: the script raises SyntaxError: invalid syntax."),
        ("sys.argv[1]", "d.py:9: the script needs more arguments. Give them after its name."),
        ("sys.exit('usage: d.py N')", "d.py:9: the script ends itself: exit(usage: d.py N)."),
        ("sys.exit(0)", "d.py:9: the script ends itself: exit(0)."),
        ("def getDependent(*a): sys.exit()", "d.py:9: getDependent('G', [1], []) ends itself: exit()."),
        ("raise KeyboardInterrupt", "d.py:9: the script raises KeyboardInterrupt."),
        ("def f(): f()\nf()", "d.py:9: the script raises RecursionError: maximum recursion depth exceeded"),
        ("class E(Exception):\n    def __str__(self): 1/0\nraise E", "d.py:11: the script raises E."),
        ("import os\nos._exit(0)", "d.py:1: the script ended without an answer (exit status 0)."),
        (
            "import os\nprint('oh', flush=True)\nos.abort()",
            'd.py:1: the script ended without an answer (signal SIGABRT): "',
        ),
    ],
)
def test_what_is_wrong_is_told_at_its_line(tmp_path: Path, extra: str, said: str) -> None:
    assert complaint(tmp_path, f"{SCRIPT}{extra}\n").startswith(said)


def test_an_error_in_a_module_beside_the_script_names_both_places(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("\n\ndef f():\n    raise ValueError('bad\\nworse')\n")
    said = complaint(tmp_path, SCRIPT + "import helper\nhelper.f()\n")
    assert said.startswith("d.py:10: the script raises ValueError: bad (helper.py:4).")


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (
            "import itertools\ndef generateGroup(l, p): return ([n] for n in itertools.count())",
            "d.py:10: generateGroup('G', []) returns over 1,000,000 entries.",
        ),
        ("while True: print('x' * 1000)", "d.py:1: the script has printed 64 MB and goes on."),
    ],
)
def test_answers_or_output_without_end_are_an_error(tmp_path: Path, extra: str, said: str) -> None:
    assert complaint(tmp_path, f"{SCRIPT}{extra}\n").startswith(said)


def test_an_interrupt_ends_a_script_that_hangs(tmp_path: Path) -> None:
    path = tmp_path / "d.py"
    path.write_text(
        SCRIPT + "import os\nopen('pid', 'w').write(f'{os.getpid()}\\n')\nsys.stdout.flush()\nwhile True: pass\n"
    )
    process = subprocess.Popen([sys.executable, "-m", "headway", "show", str(path)], stderr=subprocess.PIPE)
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text().endswith("\n")):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (130, b"headway: interrupted.")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


# --- Python 2 ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "what", "port"),
    [
        ("print 'hello'", "print without parentheses", "print(...)"),
        ("from itertools import izip", "itertools.izip", "zip(...)"),
        ("import urllib\nurllib.urlencode({})", "urllib.urlencode", "urllib.parse.urlencode(...)"),
        ("import types\ntypes.StringType", "types.StringType", "str"),
        ("from string import maketrans", "string.maketrans", "str.maketrans(...)"),
        ("import md5", "import md5", "hashlib"),
        ("'a'.decode('utf-8')", "decode() of text", "the text itself"),
        ("sorted([2, 1], cmp=None)", "sort(cmp=...)", "sort(key=functools.cmp_to_key(...))"),
        ("raise 'wrong'", "raise of a text", "raise Exception(message)"),
        ("exec 'x = 1'", "exec without parentheses", "exec(...)"),
        ("print >>sys.stderr, 'x'", "print >>file", "print(..., file=file)"),
        ("try: pass\nexcept ValueError, e: pass", "except with a comma", "except X as e:"),
        ("raise ValueError, 'x'", "raise with a comma", "raise X(message)"),
        ("x = `5`", "`...` in backticks", "repr(...)"),
        ("if 1 <> 2: pass", "<>", "!="),
        ("x = 0777", "an octal number such as 0777", "0o777"),
        ("x = 10L", "a long number such as 10L", "10"),
        ("def f(a, (b, c)): pass", "a tuple as parameter", "one name"),
        ("for i in range(4/2): pass", "/ for a whole number", "//, as in (n + 1)//2"),
        ("[1, 2][2/2]", "/ for a whole number", "//"),
        ("import string\nstring.join(['a'], '')", "string.join", "separator.join(words)"),
        ("import string\nstring.upper('a')", "string.upper", "text.upper(...)"),
        ("{}.has_key(1)", "has_key", "key in mapping"),
        ("{}.iteritems()", "iteritems", ".items()"),
        ("(n for n in '').next()", ".next()", "next(...)"),
        ("sys.maxint", "maxint", "sys.maxsize"),
        ("xrange(3)", "xrange", "range(...)"),
        ("raw_input()", "raw_input", "input(...)"),
        ("reduce(max, [1])", "reduce", "functools.reduce(...)"),
        ("import ConfigParser", "import ConfigParser", "configparser"),
        ("range(3) + [4]", "a list that is none now", "list(...) of it"),
        ("map(str, [])[0]", "a list that is none now", "list(...) of it"),
        ("len(filter(None, []))", "a list that is none now", "list(...) of it"),
        ("{}.keys().sort()", "a list that is none now", "list(...) of it"),
        ("[].sort(max)", "sort(compare)", "sort(key=...)"),
    ],
)
def test_a_python_2_idiom_is_named_with_its_line_and_its_port(tmp_path: Path, line: str, what: str, port: str) -> None:
    said = complaint(tmp_path, f"{SCRIPT}{line}\n")
    assert said.startswith(f"d.py:{9 + line.count(chr(10))}: {what} is Python 2 (")
    assert f"Write {port}" in said


@pytest.mark.parametrize("line", ["file", "x = {}\nx.nexxt()", "int('a')", "[][1.5:2]", "'a' + 1", "x = = 1"])
def test_other_errors_are_not_taken_for_python_2(tmp_path: Path, line: str) -> None:
    assert "Python 2" not in complaint(tmp_path, f"{SCRIPT}{line}\n")


def test_what_will_fail_next_is_told_as_well(tmp_path: Path) -> None:
    text = SCRIPT + "import string\nx = xrange(3)\ndef f(d):\n    return string.join(d), d.has_key(1), range(1/2)\n"
    said = complaint(tmp_path, text)
    assert said.startswith("d.py:10: xrange is Python 2 (NameError: name 'xrange' is not defined). Write range(...).")
    assert "string.join in line 12" in said
    assert "has_key in line 12" in said
    assert "/ in range in line 12" in said


def test_ids_divided_the_python_2_way_are_explained(tmp_path: Path) -> None:
    said = complaint(tmp_path, SCRIPT + "def generateGroup(l, p): return [[4/2]]\n")
    assert "in Python 3, // divides whole numbers, not /" in said
