"""What of an edited workflow is still done."""

from __future__ import annotations

from headway.engine.edited import KEEP, RERUN, still_done
from headway.model.dag import Dag


def kept(way: str, now: str, before: str, *arcs: str, done: str = "") -> str:
    """Jobs are letters; capitals are milestones. `now` and `before` list them, a job that has changed with a !."""
    letters = [letter for letter in now if letter != "!"]
    definitions = [None if letter.isupper() else letter + "!" * (letter + "!" in now) for letter in letters]
    pairs = [(letters.index(arc[0]), letters.index(arc[1])) for arc in arcs]
    dag = Dag(letters, [a for a, _ in pairs], [b for _, b in pairs], milestones=bytes(d is None for d in definitions))
    known = {letter: (letter in (done or before), letter) for letter in before}
    return "".join(sorted(letters[node] for node in still_done(dag, definitions, known, way)))


def test_what_is_the_same_stays_done() -> None:
    assert kept(RERUN, "abc", "ab", "ab", "bc") == "ab" == kept(KEEP, "abc", "ab", "ab", "bc")


def test_what_has_changed_runs_again_and_so_does_what_follows() -> None:
    assert kept(RERUN, "a!bcd", "abcd", "ab", "bc") == "d"
    assert kept(KEEP, "a!bcd", "abcd", "ab", "bc") == "abcd"


def test_a_new_job_in_between_makes_what_follows_run_again() -> None:
    assert kept(RERUN, "axb", "ab", "ax", "xb") == "a" and kept(KEEP, "axb", "ab", "ax", "xb") == "ab"


def test_a_change_passes_through_milestones() -> None:
    assert kept(RERUN, "a!Mb", "ab", "aM", "Mb") == ""


def test_what_was_not_done_is_not_done_now() -> None:
    assert kept(KEEP, "ab", "ab", "ab", done="a") == "a"
