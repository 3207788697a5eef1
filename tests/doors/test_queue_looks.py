"""Whether the list of a host's processes tells of a placeholder that is there."""

from __future__ import annotations

import pytest

from headway.live.doors.queue_looks import would_list


@pytest.mark.parametrize(
    ("sched_id", "here", "is_told"),
    [
        ("old-7-100+abc_1000", "+abc_1000", True),
        ("old-7-100+abc_1000", "+abc_0", True),  # root sees everybody's
        ("old-7-100+abc_1000", "+abc_1001", False),
        ("old-7-100+abc_1000", "+def_1000", False),  # another host of that name
    ],
)
def test_a_list_tells_of_placeholders_of_its_machine_and_user(sched_id: str, here: str, is_told: bool) -> None:
    assert would_list({"probe", here}, sched_id, is_ours=not is_told) == is_told


@pytest.mark.parametrize(
    ("sched_id", "here"),
    [("mine", "+abc_0"), ("old-7-100+abc_", "+abc_0"), ("old+abc_1", "+_1"), ("x+abc_0", "+uninitialize_0")],
)
@pytest.mark.parametrize("is_ours", [True, False])
def test_where_one_of_them_does_not_say_it_the_list_counts_if_it_ever_had_one(
    sched_id: str, here: str, is_ours: bool
) -> None:
    assert would_list({"probe", here}, sched_id, is_ours) == is_ours


def test_a_queue_has_the_jobs_of_all_users() -> None:
    assert would_list({"17", "18"}, "17", is_ours=True)
