from headway.engine.ready import Room, chosen


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


def test_room_is_shared_by_workflows_in_turn() -> None:
    room = Room(free=2, slots=2, ahead=1)
    assert room.take([("a", 1)]) == [("a", 1)] and room.most == 2
    assert room.take([("b", 1), ("c", 1)]) == [("b", 1), ("c", 1)] and room.most == 0


def test_who_waits_for_room_holds_back_later_workflows() -> None:
    room = Room(free=1, slots=2, ahead=4)
    assert room.take([("wide", 2)]) == [] and room.most == 0
