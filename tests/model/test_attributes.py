"""A job as key=value pairs and back, and from the Python API's options."""

from __future__ import annotations

from decimal import Decimal
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.formats.mqsub import parse_call
from headway.model.attributes import from_options, from_pairs, pairs_of
from headway.model.errors import ModelError
from headway.model.job import NO_ATTRIBUTES, ORDINARY, Job, Resources, Rules, Setting
from headway.model.near_misses import meant

FIELDS = {
    "seconds",
    "inputs",
    "outputs",
    "cores",
    "memory",
    "time",
    "retries",
    "directory",
    "stdin",
    "stdout",
    "stderr",
}


class NumpyLikeInt:
    """Neither an int nor a float, but a number all the same."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value

    def __str__(self) -> str:
        return str(self.value)


class NumpyLikeFloat(float):
    """NumPy's float64 is a float whose repr is no number."""

    def __repr__(self) -> str:
        return f"np.float64({float(self)})"


# --- round trip ----------------------------------------------------------------------------------------------------


def key_names() -> st.SearchStrategy[str]:
    letters = st.characters(exclude_characters="= ", exclude_categories=("C", "Z"))
    return st.text(letters, min_size=1, max_size=8)


def free_keys() -> st.SearchStrategy[str]:
    taken = FIELDS | {"release", "affinity"}
    return key_names().filter(lambda key: key not in taken and not key.startswith(("env.", "resource.")))


def times() -> st.SearchStrategy[float]:
    return st.floats(0, allow_nan=False, allow_infinity=False)


def named(values: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[tuple[str, str], ...]]:
    return st.dictionaries(key_names(), values, max_size=3).map(lambda found: tuple(found.items()))


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    maybe_text = st.none() | st.text()
    counts = st.dictionaries(key_names(), st.integers(0, 2**31 - 1), max_size=3)
    attributes = draw(st.dictionaries(free_keys(), st.text(), max_size=3))
    for key in draw(st.sets(st.sampled_from(["release", "affinity"]))):
        attributes[key] = draw(st.sampled_from(["yes", "no"]))
    words = st.lists(st.text(), max_size=3).map(tuple)
    return Job(
        draw(maybe_text),
        seconds=draw(st.none() | times()),
        inputs=draw(words),
        outputs=draw(words),
        attributes=attributes,
        resources=Resources(
            draw(st.integers(1, 2**31 - 1)),
            draw(st.none() | st.integers(0, 10**300)),
            draw(st.none() | times()),
            tuple(draw(counts).items()),
        ),
        setting=Setting(draw(maybe_text), draw(named(st.text())), draw(maybe_text), draw(maybe_text), draw(maybe_text)),
        rules=Rules(retries=draw(st.integers(0, 2**31 - 1))),
    )


@given(jobs())
def test_a_job_comes_back_from_its_pairs(job: Job) -> None:
    assert from_pairs(job.command, pairs_of(job)) == job


def test_a_plain_job_has_no_pairs_and_shares_what_is_ordinary() -> None:
    job = from_pairs("true", [])
    assert pairs_of(job) == []
    assert job.resources is ORDINARY
    assert job.attributes is NO_ATTRIBUTES


def test_pairs_are_what_a_person_would_write() -> None:
    job = from_pairs(
        "x", [("seconds", "1h 30m"), ("memory", "2G"), ("env.A", "b c"), ("inputs", "a 'b c'"), ("me", "1")]
    )
    assert pairs_of(job) == [
        ("seconds", "5400"),
        ("memory", "2147483648"),
        ("inputs", "a 'b c'"),
        ("env.A", "b c"),
        ("me", "1"),
    ]


def test_of_two_pairs_with_one_key_the_later_holds() -> None:
    pairs = [("cores", "2"), ("env.A", "1"), ("resource.gpu", "1"), ("mine", "1")]
    job = from_pairs("x", pairs + [(key, "3") for key, _ in pairs])
    assert pairs_of(job) == [("cores", "3"), ("resource.gpu", "3"), ("env.A", "3"), ("mine", "3")]


def test_release_and_affinity_are_attributes_that_a_job_answers_for() -> None:
    job = from_pairs("x", [("release", "yes"), ("affinity", "no")])
    assert job.release
    assert not job.affinity
    assert not Job("x").release


# --- bad values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seconds", "soon"),
        ("seconds", "-1"),
        ("seconds", "inf"),
        ("time", "nan"),
        ("cores", "0"),
        ("cores", "two"),
        ("cores", "1.5"),
        pytest.param("cores", "9" * 5000, id="cores-long"),
        ("cores", "2147483648"),
        ("memory", "lots"),
        ("memory", "1e999"),
        ("retries", "-1"),
        ("retries", ""),
        ("inputs", "it's"),
        ("outputs", '"open'),
        ("release", "true"),
        ("affinity", ""),
        ("resource.gpu", "some"),
        ("resource.gpu", "-1"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_what_was_expected(key: str, value: str) -> None:
    with pytest.raises(ModelError) as caught:
        from_pairs("x", [(key, value)])
    assert caught.value.what.startswith(f"attribute {key}=")
    assert caught.value.fix.startswith("Expected ")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "key", ["", " ", "a b", "a=b", "env.", "resource.", "env.A=B", "env.A B", "a\nb", "env.\x00", "\ud800"]
)
def test_a_key_that_could_not_be_written_as_a_pair_is_refused(key: str) -> None:
    with pytest.raises(ModelError, match="is no attribute name"):
        from_pairs("x", [(key, "1")])


@given(st.lists(st.tuples(st.sampled_from(sorted(FIELDS | {"release", "env.A", "resource.g"})) | st.text(), st.text())))
def test_any_pairs_make_a_job_or_a_model_error(pairs: list[tuple[str, str]]) -> None:
    try:
        job = from_pairs("x", pairs)
    except ModelError as error:
        assert str(error).isprintable()
    else:
        assert from_pairs("x", pairs_of(job)) == job


# --- the Python API's options --------------------------------------------------------------------------------------


def test_options_are_numbers_lists_and_mappings() -> None:
    job = from_options(
        "x",
        {
            "seconds": 1.5,
            "cores": 4,
            "memory": "2G",
            "time": "1h",
            "retries": 2,
            "inputs": ["a", "b c"],
            "outputs": ("d",),
            "directory": "/data",
            "stdin": "in",
            "stdout": "out",
            "stderr": "err",
            "environment": {"A": "1", "B": 2},
            "resources": {"gpu": 1},
            "release": True,
            "affinity": False,
            "attributes": {"colour": "blue", "own.retry": 3},
        },
    )
    assert job == Job(
        "x",
        seconds=1.5,
        inputs=("a", "b c"),
        outputs=("d",),
        attributes={"release": "yes", "affinity": "no", "colour": "blue", "retry": "3"},
        resources=Resources(4, 2 * 2**30, 3600.0, (("gpu", 1),)),
        setting=Setting("/data", (("A", "1"), ("B", "2")), "in", "out", "err"),
        rules=Rules(retries=2),
    )


def test_an_option_of_none_is_as_if_not_given() -> None:
    nothing = {"seconds": None, "environment": None, "inputs": None, "attributes": None}
    assert from_options("x", nothing) == Job("x")
    assert from_options("x", {"environment": {"A": None}}) == Job("x")


def test_numbers_need_not_be_pythons_own() -> None:
    job = from_options("x", {"cores": NumpyLikeInt(3), "seconds": NumpyLikeFloat(0.1), "time": Decimal("2.5")})
    assert job == Job("x", seconds=0.1, resources=Resources(3, time=2.5))


def test_a_whole_float_is_a_whole_number() -> None:
    assert from_options("x", {"cores": 2.0}).resources.cores == 2


def test_text_for_inputs_is_words_as_sh_splits_them_and_a_path_is_one_word() -> None:
    assert from_options("x", {"inputs": "a 'b c'"}).inputs == ("a", "b c")
    assert from_options("x", {"inputs": PurePosixPath("b c")}).inputs == ("b c",)
    assert from_options("x", {"inputs": [PurePosixPath("b c"), "d"]}).inputs == ("b c", "d")
    assert from_options("x", {"directory": PurePosixPath("/b c")}).setting.directory == "/b c"


def test_inputs_may_come_from_any_iterable() -> None:
    assert from_options("x", {"inputs": (f"part{number}" for number in range(2))}).inputs == ("part0", "part1")
    assert from_options("x", {"inputs": {"only"}}).inputs == ("only",)


def test_a_free_attribute_may_be_of_any_plain_type() -> None:
    job = from_options("x", {"attributes": {"flag": True, "ratio": 0.5, "words": ["a", "b c"], "count": 3}})
    assert job.attributes == {"flag": "yes", "ratio": "0.5", "words": "a 'b c'", "count": "3"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seconds", float("nan")),
        ("seconds", float("inf")),
        ("seconds", -1),
        ("seconds", True),
        ("seconds", [1]),
        ("seconds", object()),
        ("cores", 0),
        ("cores", 2.5),
        ("cores", [2]),
        pytest.param("cores", 10**5000, id="cores-huge"),
        ("cores", 1j),
        ("memory", {}),
        ("memory", float("inf")),
        ("retries", -1),
        ("inputs", {"a": 1}),
        ("inputs", b"a"),
        ("inputs", [["a"]]),
        ("inputs", object()),
        ("directory", b"/data"),
        ("directory", ["/data"]),
        ("stdout", object()),
        ("environment", "A=1"),
        ("environment", [("A", "1")]),
        ("environment", {1: "a"}),
        ("environment", {"": "a"}),
        ("environment", {"A=B": "a"}),
        ("environment", {"A": ["a"]}),
        ("environment", {"A": b"a"}),
        ("resources", 3),
        ("resources", {"gpu": "many"}),
        ("resources", {"gpu": True}),
        ("resources", {"gpu": -1}),
        ("release", "maybe"),
        ("release", 1),
        ("mine", object()),
        ("mine", {"a": 1}),
        pytest.param("mine", 10**5000, id="mine-huge"),
        ("not a key", 1),
    ],
)
def test_an_option_of_the_wrong_type_is_a_model_error(key: str, value: object) -> None:
    with pytest.raises(ModelError) as caught:
        from_options("x", {key: value})
    assert caught.value.fix


@pytest.mark.parametrize("command", [None, 5, ["echo", "hi"], b"echo"])
def test_a_command_that_is_not_text_is_a_model_error(command: object) -> None:
    with pytest.raises(ModelError, match="a command is of type"):
        from_options(command, {})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("option", "right"),
    [
        ("retry", "retries"),
        ("core", "cores"),
        ("timeout", "time"),
        ("Memory", "memory"),
        ("more-memory", "more_memory"),
        ("cpus", "cores"),
        ("output", "outputs"),
        ("env", "environment={…}"),
        ("resource", "resources={…}"),
        ("attribute", "attributes={…}"),
    ],
)
def test_an_option_that_nobody_knows_is_refused_and_the_right_one_named(option: str, right: str) -> None:
    with pytest.raises(ModelError) as caught:
        from_options("x", {option: 3})
    assert caught.value.what == f"a job has no option {option}."
    assert (
        caught.value.fix.startswith(f"Did you mean {right}? ")
        and f'attributes={{"{"" if option == "attribute" else "own."}{option}": …}}' in caught.value.fix
    )


def test_an_option_that_is_like_no_other_is_refused_too() -> None:
    with pytest.raises(ModelError, match="no option colour") as caught:
        from_options("x", {"colour": "red"})
    assert "Did you mean" not in caught.value.fix


@pytest.mark.parametrize("key", ["retry", "cores", "own.x", "env.X", "timeout", "colour"])
def test_an_attribute_of_one_s_own_stays_one(key: str) -> None:
    job = from_options("x", {"attributes": {f"own.{key}": "1"}})
    assert job == Job("x", attributes={key: "1"})
    assert from_pairs("x", pairs_of(job)) == job


NEAR_MISSES = [
    ("memroy", "memory"),
    ("memry", "memory"),
    ("memoryy", "memory"),
    ("memery", "memory"),
    ("mem", "memory"),
    ("mem_mb", "memory"),
    ("MEMORY", "memory"),
    ("retry", "retries"),
    ("retry_count", "retries"),
    ("maxretries", "retries"),
    ("max_retries", "retries"),
    ("max_retry", "retries"),
    ("max-retry", "retries"),
    ("retrys", "retries"),
    ("retires", "retries"),
    ("core", "cores"),
    ("coers", "cores"),
    ("cpus", "cores"),
    ("ncpus", "cores"),
    ("n_cpus", "cores"),
    ("time_out", "time"),
    ("timelimit", "time"),
    ("output", "outputs"),
    ("working_dir", "directory"),
    ("dirctory", "directory"),
    ("std-out", "stdout"),
    ("back_off", "backoff"),
    ("affinty", "affinity"),
]


@pytest.mark.parametrize(("key", "right"), NEAR_MISSES)
def test_an_attribute_that_is_nearly_an_option_is_refused_and_the_option_named(key: str, right: str) -> None:
    """It was taken for one of the user's own, and the job had none of the memory that was asked for."""
    with pytest.raises(ModelError) as caught:
        from_options("x", {"attributes": {key: "1"}})
    assert caught.value.what == f'"{key}" in attributes may mean the option {right}=….'
    assert f'attributes={{"own.{key}": …}}' in caught.value.fix
    assert from_options("x", {"attributes": {f"own.{key}": "1"}}).attributes == {key: "1"}
    with pytest.raises(ModelError, match=f'-attr "{key}" is like "{right}"'):
        parse_call(["-l", "A", "-c", "a", "-attr", f"{key}=1"])


@pytest.mark.parametrize(
    ("key", "option"),
    [
        ("gpu", 'resources={"gpu": …}'),
        ("n_gpus", 'resources={"gpu": …}'),
        ("disk", 'resources={"disk": …}'),
        ("resource.gpu", 'resources={"gpu": …}'),
        ("env.X", 'environment={"X": …}'),
        ("memory", "memory=…"),
        ("release", "release=…"),
    ],
)
def test_an_option_among_the_attributes_of_one_s_own_is_refused(key: str, option: str) -> None:
    with pytest.raises(ModelError) as caught:
        from_options("x", {"attributes": {key: "1"}})
    assert caught.value.what == f'"{key}" in attributes may mean the option {option}.'


@pytest.mark.parametrize(
    "key",
    """project owner stage memo member course disc score scores type host colour priority codes corps bores previous
    second entries delta limits relay trees times tile title image release_date released_by input_size output_format
    gpu_model disk_label memory_used peak_memory retry_reason core_version coverage center store order batch user group
    queue sample seed name note tag tags label version kind phase step run region chromosome temperature threshold cost
    weight slot course_id account comment lab date mesh grid epoch seconds2 cores4 mode model depth rate direct director
    """.split(),  # noqa: SIM905
)
def test_an_honest_attribute_of_one_s_own_needs_no_prefix(key: str) -> None:
    assert from_options("x", {"attributes": {key: "1"}}).attributes == {key: "1"}
    assert parse_call(["-l", "A", "-c", "a", "-attr", f"{key}=1"]).attributes == ((key, "1"),)


@pytest.mark.parametrize(
    ("key", "right"),
    [("enviroment.HOME", "env.HOME"), ("Environment.HOME", "env.HOME"), ("resorce.gpu", "resource.gpu")],
)
def test_a_slip_before_the_dot_is_a_near_miss_too(key: str, right: str) -> None:
    """It was taken for an attribute of the user's own."""
    assert meant(key) == right


def test_a_name_with_a_dot_that_is_like_none_of_ours_is_the_users_own() -> None:
    assert meant("project.gpu") is None and meant("source.x") is None
