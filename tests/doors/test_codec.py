"""Messages of a runner's port: what is encoded is read back, and nothing else is taken for a message."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.engine.ready import Room
from headway.live.codec import NoMessageError
from headway.live.doors.codec import CODEC, decode, encode
from headway.live.doors.messages import (
    Hello,
    Leave,
    Left,
    News,
    Question,
    Reply,
    Setting,
    Trouble,
    Welcome,
    Word,
)
from headway.model.messages import Answer, Finish, Lease

numbers = st.integers(0, 2**62)
times = st.floats(0, 1e10)
texts = st.text(st.characters(exclude_categories=()), max_size=20)  # lone surrogates, as file names have them, too
flags = st.booleans()


def lists(one: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(one, max_size=3)


names = st.lists(st.tuples(texts, numbers), max_size=2).map(tuple)
finishes = st.builds(Finish, numbers, st.none() | numbers, times, times, numbers, times, texts)
leases = st.builds(
    Lease,
    *(numbers, numbers, numbers, texts, numbers, numbers, texts, st.none() | times, st.none() | flags, numbers),
    *(names, numbers, numbers, lists(numbers).map(tuple)),
)
rooms = st.builds(Room, numbers, numbers, numbers, st.none() | numbers, numbers, st.dictionaries(texts, numbers), flags)
answers = st.builds(
    Answer,
    *(lists(leases), st.none() | times, lists(numbers).map(tuple), st.dictionaries(numbers, numbers)),
    *(lists(numbers).map(tuple), lists(numbers).map(tuple), flags, lists(numbers).map(tuple)),
)
words = st.builds(Word, numbers, texts, texts, flags)
left = st.builds(Left, numbers, st.none() | leases, texts, texts, times)
settings = st.builds(Setting, texts, st.dictionaries(texts, texts))
messages: dict[type, st.SearchStrategy[Any]] = {
    Hello: st.builds(
        Hello,
        *(texts, numbers, times, times, st.none() | numbers, lists(numbers), lists(finishes), lists(numbers), numbers),
    ),
    Question: st.builds(
        Question,
        *(lists(finishes), rooms, lists(numbers), times, lists(numbers), st.none() | lists(numbers), lists(numbers)),
        *(lists(numbers), lists(words), lists(numbers), numbers),
    ),
    Leave: st.builds(Leave, numbers),
    Welcome: st.builds(Welcome, texts, flags, numbers, lists(left), lists(numbers)),
    Reply: st.builds(
        Reply,
        *(answers, st.dictionaries(numbers, settings), lists(numbers), lists(flags)),
        *(st.none() | st.dictionaries(numbers, st.none() | lists(numbers)), numbers),
    ),
    News: st.builds(News, st.dictionaries(numbers, flags)),
    Trouble: st.builds(Trouble, texts, texts, numbers),
}


def test_every_kind_of_message_is_here() -> None:
    assert set(messages) == CODEC.kinds


@given(st.one_of(*messages.values()))
def test_a_message_is_read_back_as_it_was(message: Any) -> None:
    line = encode(message)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert decode(line) == message


@given(
    st.binary(max_size=60)
    | st.recursive(st.none() | numbers | texts, lists, max_leaves=8).map(json.dumps).map(str.encode)
)
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(NoMessageError):
        decode(line)


@given(st.one_of(*messages.values()), st.data())
def test_a_field_of_another_type_is_refused(message: Any, data: st.DataObject) -> None:
    name, values = json.loads(encode(message))
    at = data.draw(st.integers(0, len(values) - 1))
    values[at] = {"no": {"such": "thing"}}
    with pytest.raises(NoMessageError):
        decode(json.dumps([name, values]).encode())


def test_a_message_of_another_length_is_refused() -> None:
    with pytest.raises(NoMessageError, match="Leave has 1 fields"):
        decode(b'["Leave", [0, 0]]')
