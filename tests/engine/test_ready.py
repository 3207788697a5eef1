from headway.engine.ready import Candidate, Lane, Room


def names(candidates: str, free: int, slots: int = 4, ahead: int = 0) -> str:
    """Candidates as letters with the cores they want: "a1 b2"."""
    return "".join(name for name, _ in Room(free, slots, ahead).take(wanted(candidates)))


def wanted(candidates: str) -> list[Candidate]:
    return [Candidate(word[0], int(word[1:])) for word in candidates.split()]


def test_jobs_are_taken_in_order_while_they_fit() -> None:
    assert names("a1 b2 c1", 4) == "abc"
    assert names("a1 b2 c1", 3) == "ab"


def test_a_wide_job_at_the_front_is_not_passed_over() -> None:
    assert names("a3 b1", 2) == ""


def test_a_job_that_wants_more_than_there_is_gets_everything() -> None:
    assert Room(4, 4).take(wanted("a64")) == [("a", 4)]
    assert names("a64 b1", 3) == ""


def test_single_core_jobs_can_be_taken_ahead() -> None:
    assert names("a1 b1 c1 d1", 1, ahead=2) == "abc"
    assert names("a1 b2 c1", 1, ahead=2) == "a"


def test_nothing_fits_into_nothing() -> None:
    assert names("a1", 0) == ""


def test_room_is_shared_by_workflows_in_turn() -> None:
    room = Room(free=2, slots=2, ahead=1)
    assert room.take(wanted("a1")) == [("a", 1)] and room.most == 2
    assert room.take(wanted("b1 c1")) == [("b", 1), ("c", 1)] and room.most == 0


def test_who_waits_for_room_holds_back_later_workflows() -> None:
    room = Room(free=1, slots=2, ahead=4)
    assert room.take(wanted("w2")) == [] and room.most == 0


def test_memory_is_shared_out_like_cores() -> None:
    room = Room(free=4, slots=4, memory=10, all_memory=10)
    jobs = [Candidate("a", 1, 6), Candidate("b", 1, 6), Candidate("c", 1, 1)]
    assert room.take(jobs) == [("a", 1)]  # b waits for memory and is not passed over
    assert Room(free=4, slots=4, memory=10, all_memory=10).take([Candidate("huge", 1, 99)]) == [("huge", 1)]


def test_a_job_that_waits_for_a_named_resource_holds_up_only_its_lane() -> None:
    lanes = {1: Lane(named=(("gpu", 1),))}
    jobs = [Candidate("a", 1, lane=1), Candidate("b", 1, lane=1), Candidate("c", 1)]
    assert Room(free=4, slots=4, named={"gpu": 1}).take(jobs, lanes) == [("a", 1), ("c", 1)]
    assert Room(free=4, slots=4).take(jobs, lanes) == [("c", 1)]


def test_a_category_is_throttled_over_all_its_lanes() -> None:
    lanes = {1: Lane("io", 2), 2: Lane("io", 2, (("gpu", 1),))}
    jobs = [Candidate("a", 1, lane=1), Candidate("b", 1, lane=2), Candidate("c", 1, lane=1), Candidate("d", 1)]
    room = Room(free=9, slots=9, named={"gpu": 5})
    assert room.take(jobs, lanes, {"io": 1}) == [("a", 1), ("d", 1)] and room.named == {"gpu": 5}


def test_a_place_of_several_hosts_is_for_jobs_of_several_and_other_places_for_the_rest() -> None:
    lanes = {1: Lane(named=(("nodes", 2),)), 2: Lane(named=(("gpu", 1),))}
    jobs = [Candidate("a", 1), Candidate("b", 1, lane=1), Candidate("c", 1, lane=1), Candidate("d", 1, lane=2)]
    there = {"nodes": 3, "gpu": 1}
    assert Room(free=4, slots=4, named=there).take(jobs, lanes) == [("b", 1)]  # c waits for two more hosts
    assert Room(free=4, slots=4, named={"nodes": 0, "gpu": 1}).take(jobs, lanes) == []  # all of them are busy
    assert Room(free=4, slots=4, named={"gpu": 1}).take(jobs, lanes) == [("a", 1), ("d", 1)]
