from headway.engine.ready import chosen


def names(candidates: str, free: int, slots: int = 4, ahead: int = 0) -> str:
    """Candidates as letters with the cores they want: "a1 b2"."""
    wanted = [(word[0], int(word[1:])) for word in candidates.split()]
    return "".join(name for name, _ in chosen(wanted, free, slots, ahead))


def test_jobs_are_taken_in_order_while_they_fit() -> None:
    assert names("a1 b2 c1", 4) == "abc"
    assert names("a1 b2 c1", 3) == "ab"


def test_a_wide_job_at_the_front_is_not_passed_over() -> None:
    assert names("a3 b1", 2) == ""


def test_a_job_that_wants_more_than_there_is_gets_everything() -> None:
    assert chosen([("a", 64)], 4, 4, 0) == [("a", 4)]
    assert names("a64 b1", 3) == ""


def test_single_core_jobs_can_be_taken_ahead() -> None:
    assert names("a1 b1 c1 d1", 1, ahead=2) == "abc"
    assert names("a1 b2 c1", 1, ahead=2) == "a"


def test_nothing_fits_into_nothing() -> None:
    assert names("a1", 0) == ""
