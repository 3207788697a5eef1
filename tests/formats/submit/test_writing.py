"""Jobs written as submit descriptions and read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.formats.submit import description_text, parse_description, processes
from headway.model.errors import InputError, ModelError
from headway.model.job import Job, Resources, Setting
from tests.texts import Texts

# A lone \r would be a line end to the DAG file around the description; dollars have tests of their own.
TEXT = st.text(
    st.one_of(
        st.sampled_from(" \t'\"\\$(){}[],;=#%&|<>*?~!@+-./:azAZ09_é\u2028\udcff"),
        st.characters(exclude_characters="\n\r\0"),
    ),
    max_size=20,
)
NAME = st.text(st.sampled_from("abcXYZ_09"), min_size=1, max_size=6).filter(lambda name: not name[0].isdigit())
COMMAND = st.one_of(
    TEXT,
    st.sampled_from(
        [
            *("/bin/echo hi", "./a.sh 'b c'", "a.sh", "x=1 ./y", "echo $(date) $HOME $$ `x`", "echo $ENV(X) $$(x)", ""),
            *("/bin/sh -c 'a b'", "/bin/sh -c", "cd x && make -j2 > log 2>&1", "./*.sh", "'/a b' c", ":", "/x ''"),
        ]
    ),
    st.lists(TEXT, max_size=4).map(lambda words: " ".join(["/bin/x", *words])),
)


def _named(name: str) -> bool:
    return name.isprintable() and name != "" and "=" not in name and " " not in name


OPTIONAL = st.none() | TEXT
JOBS = st.builds(
    Job,
    command=COMMAND,
    seconds=st.none() | st.floats(0, 1e300) | st.integers(0, 10**6).map(float),
    inputs=st.lists(TEXT, max_size=3).map(tuple),
    outputs=st.lists(TEXT, max_size=3).map(tuple),
    attributes=st.dictionaries(NAME.map(lambda name: f"k.{name}"), TEXT, max_size=3),
    resources=st.builds(
        Resources,
        cores=st.integers(1, 2**31 - 1),
        memory=st.none() | st.integers(0, 2**60) | st.integers(0, 2**30).map(lambda mb: mb * 1024**2),
        time=st.none() | st.floats(0, 1e300) | st.integers(0, 10**6).map(float),
        named=st.dictionaries(NAME | TEXT.filter(_named), st.integers(0, 2**31 - 1), max_size=3).map(
            lambda named: tuple(named.items())
        ),
    ),
    setting=st.builds(
        Setting,
        directory=OPTIONAL,
        environment=st.dictionaries(NAME, TEXT, max_size=3).map(lambda pairs: tuple(pairs.items())),
        stdin=OPTIONAL,
        stdout=OPTIONAL,
        stderr=OPTIONAL,
    ),
)


def read_back(text: str) -> Job:
    (job,) = processes(parse_description("x.sub", text, None), "N")
    return job


@given(JOBS)
def test_a_written_job_reads_back_as_itself(job: Job) -> None:
    assert read_back(description_text(job, "N")) == job


def test_a_plain_program_is_the_executable() -> None:
    assert description_text(Job("/bin/echo 'a b' \"c\"".replace('"', "")), "N") == (
        "executable = /bin/echo\narguments = \"'a b' c\"\n"
    )


@pytest.mark.parametrize(
    "command", ["echo a", "x=1 /bin/echo", "/bin/echo $x", "/bin/echo *", "/bin/a; /bin/b", "~/x/y"]
)
def test_whatever_needs_a_shell_gets_one(command: str) -> None:
    text = description_text(Job(command), "N")
    assert text.startswith('executable = /bin/sh\ntransfer_executable = false\narguments = "-c ')
    assert read_back(text).command == command


def test_a_relative_program_in_another_directory_needs_a_shell() -> None:
    assert description_text(Job("./a.sh", setting=Setting("d")), "N").startswith("executable = /bin/sh\n")
    assert description_text(Job("./a.sh"), "N") == "executable = ./a.sh\n"


@pytest.mark.parametrize("command", ["$" * dollars + word for dollars in range(1, 6) for word in ("(x)", "F(x)", "x")])
def test_any_number_of_dollars_reads_back(command: str) -> None:
    assert read_back(description_text(Job(command), "N")).command == command


def test_dollars_that_htcondor_would_expand_are_said_in_its_own_way() -> None:
    text = description_text(Job("echo $(date) $$(x) $HOME $ENV(A)"), "N")
    assert "$(DOLLAR)(date) $$(DOLLARDOLLAR)(x) $HOME $(DOLLAR)ENV(A)" in text


@pytest.mark.parametrize(
    "job",
    [
        Job("a\nb"),
        Job(None),
        Job("a", setting=Setting(environment=(("a=b", "c"),))),
        Job("a", attributes={"k": "a\nb"}),
        Job("a", resources=Resources(named=(("a=b", 1),))),
    ],
)
def test_what_a_submit_description_cannot_say_is_an_error(job: Job) -> None:
    with pytest.raises(ModelError):
        description_text(job, "N")


SAMPLE = """\
# a sweep
executable = /bin/$(program:echo)
x = 1
x = $(x)$INT(Process,%03d)
arguments = "one 'two three' ""four"" $(x) $Fnx(file) $SUBSTR(x,1,-1) $CHOICE(0,a,b)"
environment = "A=1 B='2 3'"
initialdir = run.$(Process)
request_memory = 1.5 GB
request_disk = 10 MB
request_cpus = 2 * 2
allowed_execute_duration = 60
transfer_input_files = a, b
+HeadwaySeconds = 12.5
+HeadwayAttributes = "k=v 'x=y z' cores=2"
text @=end
 several
 lines
@end
if defined x && version >= 9.0
  include : more.inc
elif ! $(x)
  error : no
else
  warning : yes
endif
queue 2 file, n from [0:2] (
  a.txt, 1
  b.txt 2
)
queue file in (c d)
"""
PIECES = [
    "",
    " ",
    "\n",
    "\\\n",
    "\r\n",
    '"',
    "'",
    "(",
    ")",
    "$(",
    "$(x)",
    "$$(",
    "$INT(",
    "$ENV(",
    "=",
    ",",
    "@",
    "#",
    "+",
]
PIECES += [
    "[",
    "]",
    ":",
    "!",
    "%",
    "-1",
    "1e999",
    "9" * 5000,
    "\x0b",
    "\udcff",
    "if 1\n",
    "endif\n",
    "else\n",
    "queue\n",
    "nan",
]


@given(st.lists(st.tuples(st.integers(0, len(SAMPLE)), st.integers(0, 12), st.sampled_from(PIECES)), max_size=5))
def test_a_damaged_submit_file_is_read_or_is_an_error_with_a_line(changes: list[tuple[int, int, str]]) -> None:
    text = SAMPLE
    for at, length, piece in changes:
        text = text[:at] + piece + text[at + length :]
    world = Texts({"more.inc": "y = 2\ninclude : $(z)\n"})
    try:
        for job in processes(parse_description("x.sub", text, world), "N", (("x", "0"),), (("y", "$(x)"),), world):
            assert job.command
    except InputError as error:
        assert error.line >= 1
