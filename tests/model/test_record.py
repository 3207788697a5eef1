"""Records are to their users what dataclasses are."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest

from headway.model.record import asdict, field, fields, mutable, record, replace


@record
class Point:
    """A place."""

    x: int
    y: int = 0
    names: tuple[str, ...] = ()

    @property
    def sum(self) -> int:
        return self.x + self.y


@mutable
class Shape:
    points: list[Point] = field(default_factory=list)
    by_name: dict[str, Point] = field(default_factory=dict)
    _closed: bool = False


@mutable
class Filled(Shape):
    colour: str = "red"

    def __post_init__(self) -> None:
        self.colour = self.colour.lower()


def test_fields_are_given_by_position_or_by_name_and_have_defaults() -> None:
    assert (Point(1).x, Point(1).y, Point(y=2, x=1).sum) == (1, 0, 3)
    with pytest.raises(TypeError, match=r"Point.__init__.*missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(1, z=2)  # type: ignore[call-arg]


def test_records_are_equal_by_their_fields_and_only_to_their_own_kind() -> None:
    assert Point(1, 2) == Point(1, 2) != Point(1, 3)
    others: list[object] = [(1, 2, ()), Shape()]
    assert Point(1, 2) not in others and Shape() != Filled()
    assert len({Point(1), Point(1), Point(2)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Shape())


def test_a_default_that_is_made_is_made_for_each() -> None:
    one, other = Shape(), Shape()
    one.points.append(Point(1))
    assert other.points == [] and one.by_name is not other.by_name
    assert Shape([Point(2)]).points == [Point(2)]


def test_a_record_has_its_fields_and_no_others() -> None:
    with pytest.raises(AttributeError):
        Shape().colour = "red"  # type: ignore[attr-defined]
    assert not hasattr(Point(1), "__dict__")


def test_a_kind_of_record_has_the_fields_of_both() -> None:
    assert fields(Filled) == ("points", "by_name", "_closed", "colour")
    assert Filled([Point(1)], colour="BLUE") == Filled(points=[Point(1)], colour="blue")
    assert Filled().colour == "red"


def test_a_copy_may_differ_and_a_dictionary_tells_all() -> None:
    assert replace(Point(1, 2), y=3) == Point(1, 3)
    shape = Shape([Point(1, names=("a",))], {"b": Point(2)})
    plain = {"x": 1, "y": 0, "names": ("a",)}
    assert asdict(shape) == {"points": [plain], "by_name": {"b": {"x": 2, "y": 0, "names": ()}}, "_closed": False}
    assert pickle.loads(pickle.dumps(shape)) == copy.deepcopy(shape) == shape


def test_it_is_shown_as_it_is_written() -> None:
    assert repr(Point(1, 2)) == "Point(x=1, y=2, names=())"
    assert eval(repr(Filled([Point(1)]))) == Filled([Point(1)])
    assert Point.__doc__ == "A place." and Point.__module__ == __name__


def test_a_record_can_be_taken_apart_by_a_match() -> None:
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_what_a_run_waits_for_is_made_without_dataclasses() -> None:
    asked = (
        "import sys, headway.live.runs.session, headway.live.placeholder.runner; print('dataclasses' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
