"""The checkers application, up to three pieces (benchmarks/checkers.py: four). Section 2 of TrellisDAG."""

from __future__ import annotations

import copy
import importlib
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from headway.formats import description
from headway.live.reading.files import Files
from headway.model.flatten import flatten
from headway.model.workflow import Workflow
from tests.infra.hosts import HostsInNamespaces
from tests.live.crew_of_runners import Crew
from tests.shell import ROOT, answer, headway

EXAMPLE = ROOT / "examples/checkers"
MODULES = ("slices", "rules", "retrograde", "slice_file", "look")
Slice = tuple[int, int, int, int]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A copy of the example in which nothing has been computed, but rules are compiled already if they ever were."""
    shutil.copytree(EXAMPLE, tmp_path / "checkers", ignore=shutil.ignore_patterns("out", ".headway"))
    return tmp_path / "checkers"


@pytest.fixture(scope="module")
def code() -> Iterator[Callable[[str], Any]]:
    """The example's modules."""
    sys.path.insert(0, str(EXAMPLE))
    yield importlib.import_module
    sys.path.remove(str(EXAMPLE))
    for name in MODULES:
        sys.modules.pop(name, None)


def python(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=place, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def two_pieces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("two") / "checkers"
    shutil.copytree(EXAMPLE, place, ignore=shutil.ignore_patterns("out", ".headway"))
    done = headway("run", "endgames.py", "2", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def computed(two_pieces: Path, tmp_path: Path) -> Path:
    """A copy of the example in which the slices of two pieces have been computed."""
    return Path(shutil.copytree(two_pieces, tmp_path / "checkers", ignore=shutil.ignore_patterns(".headway")))


def described(pieces: int) -> Workflow:
    return description.parse(str(EXAMPLE / "endgames.py"), Files(), [str(pieces)])


def slice_of(name: str) -> Slice:
    bk, wk, bm, wm = map(int, name.removeprefix("Slice_").split("_"))
    return bk, wk, bm, wm


def arcs() -> list[tuple[Slice, Slice]]:
    """Of slices up to three pieces of which one waits directly for the other."""
    found = []
    for group in described(3).groups:
        for child, parents in group.groups.parents_of().items():
            found += [(slice_of(parent), slice_of(child)) for parent in parents]
    return found


# --- what there is to compute ---------------------------------------------------------------------------------------


def test_positions_of_1_to_4_pieces_number_as_the_paper_has_them() -> None:
    trusted = json.loads((EXAMPLE / "trusted.json").read_text())["slices"]
    found = Counter[int]()
    for name, each in trusted.items():
        found[sum(map(int, name))] += each["placements"]
    assert found == {1: 120, 2: 6_972, 3: 261_224, 4: 7_092_774}


def test_the_slices_of_fig_14_hold_half_of_them_by_symmetry(code: Callable[[str], Any]) -> None:
    retrograde = code("retrograde")
    found = Counter[int]()
    for group in described(4).groups:
        for inner in group.groups:
            counts = slice_of(inner.name)
            found[sum(counts)] += int(retrograde.placements(*retrograde.kinds(counts)).sum())
    assert (found[3], found[4]) == (98_016, 3_605_970)


def test_the_workflow_has_the_slices_that_the_program_knows(code: Callable[[str], Any]) -> None:
    for pieces in (2, 3, 4, 5, 6):
        named = [slice_of(inner.name) for group in described(pieces).groups for inner in group.groups]
        assert sorted(named) == sorted(code("slices").slices(pieces))


@pytest.mark.parametrize("pieces", [3, 4, 5, 7])
def test_two_slices_of_one_vs_are_unordered_exactly_when_the_inequality_of_section_2_holds(pieces: int) -> None:
    compared = 0
    for group in described(pieces).groups:
        above: dict[str, set[str]] = {}
        parents = group.groups.parents_of()

        def ancestors(name: str, above: dict[str, set[str]] = above, parents: Any = parents) -> set[str]:
            if name not in above:
                direct = set(parents.get(name, ()))
                above[name] = direct.union(*(ancestors(each) for each in direct))
            return above[name]

        for one, other in combinations([inner.name for inner in group.groups], 2):
            (bk1, wk1, *_), (bk2, wk2, *_) = slice_of(one), slice_of(other)
            is_unordered = one not in ancestors(other) and other not in ancestors(one)
            assert is_unordered == ((wk1 > wk2 and bk1 < bk2) or (wk1 < wk2 and bk1 > bk2)), (one, other)
            compared += 1
    assert compared > 10


def test_fig_4_has_20_slices_and_0340_is_independent_of_1231_and_waits_for_1330() -> None:
    (group,) = [group for group in described(7).groups if group.name == "VS_4_3"]
    assert len(list(group.groups)) == 20
    parents = group.groups.parents_of()
    assert "Slice_1_3_3_0" in parents["Slice_0_3_4_0"] and "Slice_1_3_3_0" in parents["Slice_1_2_3_1"]


def test_a_slice_waits_for_every_slice_that_it_plays_into(code: Callable[[str], Any]) -> None:
    """Also for those of two captures at once, which no arc names: the arcs between value sets lead there."""
    graph = flatten(described(5)).dag
    first = {name: node for node, name in enumerate(graph.names)}
    before: list[set[int]] = [set() for _ in graph.names]
    for node in graph.order:
        before[node] = {node}.union(*(before[parent] for parent in graph.parents_of(node)))
    for numbers in code("slices").slices(5):
        for other in code("slices").plays_into(numbers):
            assert first[job_of(other)] in before[first[job_of(numbers)]], (numbers, other)


def job_of(numbers: Slice) -> str:
    bk, wk, bm, wm = numbers
    return f"VS_{bk + bm}_{wk + wm}/Slice_{bk}_{wk}_{bm}_{wm}"


# --- a run ------------------------------------------------------------------------------------------------------------


def test_a_run_computes_the_databases_of_the_independent_program(place: Path) -> None:
    run = headway("run", "endgames.py", "3", cwd=place)
    assert run.returncode == 0, run.stderr
    done = python(place, "check.py", "3")
    assert (done.returncode, done.stdout) == (0, "9 of 9 slices, 100636 placements: all are as in trusted.json.\n")
    look = python(place, "look.py", "W:WK32:BK1,K9")
    assert look.stdout.splitlines()[-1] == "White is to move and loses."


def test_what_the_independent_program_says_is_in_trusted_json() -> None:
    done = python(EXAMPLE, "plain.py", "3")
    trusted = json.loads((EXAMPLE / "trusted.json").read_text())["slices"]
    found = json.loads(done.stdout)["slices"]
    assert len(found) == 34 and found.items() <= trusted.items()


def test_several_placeholders_compute_the_same(place: Path, postgres_url: str) -> None:
    crew = Crew(place, postgres_url, ["#"])
    crew.workflow = place / "endgames.py"
    runs = [crew.start(number, "--slots", "1", "3") for number in range(2)]
    assert [crew.ended(run)[0] for run in runs] == [0, 0]
    assert python(place, "check.py", "3").returncode == 0
    attempts = json.loads(crew.ask("history", "--json"))["attempts"]
    assert len(attempts) == 18 and {one["exit_code"] for one in attempts} == {0}


def test_each_slice_is_verified_on_the_host_that_computed_it(place: Path) -> None:
    hosts = HostsInNamespaces(2)
    try:
        sites = [f'[sites.{name}]\nhost = "{name}"\nshared = true\nslots = 1\n' for name in ("h1", "h2")]
        (place / "headway.toml").write_text("".join(sites))
        run = headway("run", "endgames.py", "3", "--site", "h1", "--site", "h2", cwd=place, env=hosts.environment)
        assert run.returncode == 0, run.stderr
        assert python(place, "check.py", "3").returncode == 0
        ran = {one["job"]: one["host"] for one in answer("history", cwd=place)["attempts"]}
    finally:
        hosts.remove()
    assert len(ran) == 18 and len(set(ran.values())) == 2
    computed = [job for job in ran if not job.endswith("#2")]
    assert {job: ran[job] for job in computed} == {job: ran[f"{job}#2"] for job in computed}


def without_one_arc(place: Path) -> None:
    """2100 is computed only after 1110 was, which should wait for it and is verified once 2100 is there."""
    script = place / "endgames.py"
    text = script.read_text().replace(
        "    bk, wk, bm, wm = group\n    return [[bk + 1,",
        "    bk, wk, bm, wm = group\n    if group == [1, 1, 1, 0]:\n        return []\n    return [[bk + 1,",
    )
    text = text.replace(
        '    return [[sys.executable, "comp.py", name],',
        "    line = f'{sys.executable} comp.py {name}'\n"
        "    if name == '2100':\n"
        "        return [f'until test -e go; do sleep 0.05; done; {line}']\n"
        "    if name == '1110':\n"
        "        then = f'until test -e out/2100.slice; do sleep 0.05; done; {sys.executable} ver.py 1110'\n"
        "        return [f'{line}; code=$?; touch go; exit $code', then]\n"
        '    return [[sys.executable, "comp.py", name],',
    )
    text = text.replace(
        '    return [{"affinity=no", "release=yes"}',
        "    if group in ([2, 1, 0, 0], [1, 1, 1, 0]):\n"
        '        return [{"release=yes"}, {"release=no"}][: len(getJobsExecutables(level, group))]\n'
        '    return [{"affinity=no", "release=yes"}',
    )
    script.write_text(text)


def test_a_run_without_one_arc_fails_since_a_slice_is_not_there(place: Path) -> None:
    without_one_arc(place)
    found = headway("run", "endgames.py", "3", "--slots", "2", "--json", cwd=place)
    assert found.returncode == 3
    assert [one["job"] for one in json.loads(found.stdout)["failures"]] == ["VS_2_1/Slice_1_1_1_0"]
    logs = answer("logs", "VS_2_1/Slice_1_1_1_0", cwd=place)["logs"]
    assert logs[0]["text"].endswith("2100.slice: this slice has not been computed.\n")
    done = python(place, "check.py", "3")
    assert done.returncode == 1 and "1110.slice: this slice has not been computed." in done.stdout


def test_if_a_missing_slice_counts_as_drawn_it_fails_by_wrong_values_that_are_found(
    place: Path,
) -> None:
    without_one_arc(place)
    program = place / "comp.py"
    text = program.read_text()
    first = "        digests[each], _, values"
    assert first in text
    program.write_text(
        text.replace(first, f"        if slice_file.digest_of(each) is None:\n            continue\n{first}")
    )
    found = headway("run", "endgames.py", "3", "--slots", "2", "--json", cwd=place)
    assert found.returncode == 3
    failed = {one["job"] for one in json.loads(found.stdout)["failures"]}
    assert "VS_2_1/Slice_1_1_1_0#2" in failed and all(job.endswith("#2") for job in failed)  # and what follows from it
    logs = answer("logs", "VS_2_1/Slice_1_1_1_0#2", cwd=place)["logs"]
    assert logs[0]["text"].endswith("values do not follow from those after each move.\n")
    done = python(place, "check.py", "3")
    assert done.returncode == 1 and "1110" in done.stdout and "has not been computed" not in done.stdout


@pytest.mark.parametrize(("parent", "child"), arcs(), ids=str)
def test_no_arc_can_be_left_out(code: Callable[[str], Any], parent: Slice, child: Slice) -> None:
    """If a slice is computed before one that it waits for, whose values are all unknown then, its values are others."""
    slices = code("slices").slices(3)
    before = code("retrograde").Values(slices)
    for each in slices[: slices.index(child)]:
        before.solve(each)
    without = copy.deepcopy(before)
    without.of(parent)[:] = code("rules").DRAW
    before.solve(child)
    without.solve(child)
    assert (before.of(child) != without.of(child)).any()


def test_nor_can_the_arc_between_two_value_sets(code: Callable[[str], Any]) -> None:
    slices = code("slices").slices(3)
    with_two, without = code("retrograde").Values(slices), code("retrograde").Values(slices)
    for each in slices:
        with_two.solve(each)
        if sum(each) == 3:
            without.solve(each)
    assert all((with_two.of(each) != without.of(each)).any() for each in slices)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("comp.py",), "python comp.py 2100"),
        (("ver.py", "2100", "1110"), "python ver.py 2100"),
        (("look.py",), "python look.py W:WK32:BK1,K9"),
        (("check.py",), "python check.py 4"),
        (("check.py", "all"), "python check.py 4"),
        (("check.py", "100"), "from 2 to 7"),
        (("plain.py",), "python plain.py 4"),
        (("comp.py", "9999"), "36 pieces, and 7 are the most"),
        (("comp.py", "0012"), "by symmetry it is 0021"),
    ],
)
def test_what_a_program_of_it_is_for_is_told_who_calls_it_wrongly(words: tuple[str, ...], said: str) -> None:
    done = python(EXAMPLE, *words)
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr


# --- files that are not what they should be -------------------------------------------------------------------------


def test_a_file_that_is_cut_short_is_found_before_it_is_used(computed: Path) -> None:
    path = computed / "out/1100.slice"
    whole = path.read_bytes()
    for length, *words in (
        (0, "comp.py", "0110"),
        (30, "ver.py", "1100"),
        (70, "check.py", "2"),
        (200, "look.py", "W:WK32:BK1"),
        (len(whole) - 1, "comp.py", "0110"),
    ):
        path.write_bytes(whole[:length])
        done = python(computed, *map(str, words))
        assert done.returncode == 1 and "1100.slice is cut short" in done.stdout + done.stderr


def test_a_file_with_one_byte_changed_is_found_before_it_is_used(computed: Path) -> None:
    path = computed / "out/1100.slice"
    whole = bytearray(path.read_bytes())
    whole[-1] ^= 1
    path.write_bytes(whole)
    done = python(computed, "comp.py", "0110")
    assert done.returncode == 1 and "1100.slice is cut short or damaged" in done.stderr


def test_a_file_of_another_version_is_found_before_it_is_used(computed: Path) -> None:
    module = computed / "slice_file.py"
    module.write_text(module.read_text().replace("VERSION = 1", "VERSION = 2"))
    done = python(computed, "comp.py", "0110")
    assert done.returncode == 1
    assert "1100.slice holds slice 1100 in version 1, not 1100 in version 2" in done.stderr


def test_a_file_that_holds_another_slice_is_found_before_it_is_used(computed: Path) -> None:
    out = computed / "out"
    (out / "1100.slice").write_bytes((out / "0011.slice").read_bytes())
    done = python(computed, "comp.py", "0110")
    assert done.returncode == 1 and "1100.slice holds slice 0011" in done.stderr


def test_a_file_that_was_computed_from_another_version_is_found_before_it_is_used(computed: Path) -> None:
    script = (
        "import slice_file\n"
        "digest, head, values = slice_file.read((1, 1, 0, 0))\n"
        "slice_file.write((1, 1, 0, 0), values[:-1] + bytes([values[-1] ^ 1]), {})\n"
    )
    assert python(computed, "-c", script).returncode == 0
    done = python(computed, "comp.py", "0011")
    assert done.returncode == 1 and "0110.slice was computed from another version of slice 1100" in done.stderr


def test_a_wrong_value_in_a_file_with_the_right_digest_is_found_by_the_verification(computed: Path) -> None:
    script = (
        "import slice_file\n"
        "digest, head, values = slice_file.read((0, 0, 1, 1))\n"
        "sources = {tuple(map(int, each)): digest for each, digest in head['sources'].items()}\n"
        "slice_file.write((0, 0, 1, 1), values[:-1] + bytes([(values[-1] + 1) % 3]), sources)\n"
    )
    assert python(computed, "-c", script).returncode == 0
    done = python(computed, "ver.py", "0011")
    assert done.returncode == 1 and "values do not follow from those after each move" in done.stderr
    assert "1 of 3 slices are missing or wrong" in python(computed, "check.py", "2").stderr


# --- the rules --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(code: Callable[[str], Any]) -> Any:
    """All slices up to three pieces."""
    slices = code("slices").slices(3)
    found = code("retrograde").Values(slices)
    for each in slices:
        found.solve(each)
    return found


@pytest.mark.parametrize(
    ("position", "value"),
    [
        ("B:W18:BK15", 2),  # a capture, and nobody is left
        ("B:W18,26:BK15", 2),  # two with one move
        ("B:W18,26:B15", 2),  # and by a man, which goes on
        ("B:W18,K19:B14", 0),  # it must capture, and is captured
        ("B:W32:B28", 0),  # no move
        ("B:WK32:BK1", 1),  # both in a double corner
        ("W:WK32:BK1", 1),
        ("W:WK32:BK1,K9", 0),  # two kings beat one
        ("B:WK32:BK1,K9", 2),
    ],
)
def test_positions_that_players_know(code: Callable[[str], Any], table: Any, position: str, value: int) -> None:
    side, pieces = code("look").position(position)
    assert code("look").worth(side, pieces, table) == value


def test_a_man_that_is_crowned_by_a_capture_does_not_go_on(code: Callable[[str], Any], table: Any) -> None:
    """Black captures 26 and is crowned on 31. If it could go on it would capture 27 as well and have won at once."""
    pieces = code("look").position("B:W26,27:B22")[1]
    (men, kings), (white, _) = pieces["B"], pieces["W"]
    counted: list[int] = []
    rules = code("rules")
    after = rules.best_capture.py_func

    def noted(men: int, kings: int, other_men: int, *_: object) -> int:
        counted.append(bin(other_men).count("1"))
        return 0

    namespace = {**after.__globals__, "after": noted}
    namespace["best_capture"] = type(after)(after.__code__, namespace)
    namespace["best_capture"](21, False, 0, 0, sum(1 << each for each in white), 0, None, None)
    assert counted == [1] and not kings and men == {21}
