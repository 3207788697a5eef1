"""What clients and a runner say: what is encoded is read back, and the greeting tells of another version."""

from __future__ import annotations

import socket
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.live.client.line import Line
from headway.live.client.messages import (
    REQUESTS,
    RESPONSES,
    AskPassword,
    Attach,
    Cancel,
    Failure,
    Fetch,
    Greeting,
    Heard,
    Look,
    Password,
    Piece,
    Place,
    Progress,
    Refusal,
    Request,
    Response,
    Run,
    Say,
    Serve,
    Stand,
    Stop,
    Use,
    Watch,
    Where,
)
from headway.live.doors.messages import Word
from headway.live.home.folder import Home
from headway.model.errors import HeadwayError

numbers = st.integers(0, 2**62)
texts = st.text(st.characters(exclude_categories=()), max_size=20)
flags = st.booleans()
times = st.floats(0, 1e9)
some = st.lists(numbers, max_size=3)
failures = st.builds(Failure, texts, st.none() | numbers, texts, st.none() | texts, numbers, flags)
requests: dict[type, st.SearchStrategy[Any]] = {
    Run: st.builds(
        Run,
        *(numbers, numbers, st.dictionaries(texts, texts), texts, flags, numbers, st.dictionaries(texts, numbers)),
        flags,
    ),
    Serve: st.builds(
        Serve, numbers, st.none() | times, times, st.none() | times, numbers, st.dictionaries(texts, numbers)
    ),
    Watch: st.builds(Watch, numbers),
    Stop: st.builds(Stop, texts),
    Cancel: st.builds(Cancel, numbers, flags),
    Look: st.builds(Look, flags),
    Say: st.builds(Say, st.builds(Word, numbers, texts, texts, flags)),
    Where: st.builds(Where, numbers),
    AskPassword: st.builds(AskPassword, flags),
    Attach: st.builds(Attach, flags),
    Fetch: st.builds(Fetch, texts, numbers),
    Use: st.builds(Use, st.dictionaries(texts, texts)),
    Stand: st.builds(Stand, numbers, st.booleans()),
}
responses: dict[type, st.SearchStrategy[Any]] = {
    Greeting: st.builds(Greeting, numbers),
    Progress: st.builds(
        Progress,
        *(numbers, numbers, st.lists(texts, max_size=3), st.lists(failures, max_size=2), texts, flags, flags),
        *(st.lists(texts, max_size=2), numbers),
    ),
    Place: st.builds(Place, numbers, st.none() | texts, some, some, some, some),
    Heard: st.builds(Heard, st.none() | flags),
    Password: st.builds(Password, st.none() | texts),
    Piece: st.builds(Piece, texts, numbers),
    Refusal: st.builds(Refusal, st.lists(texts, min_size=2, max_size=2)),
}


def test_every_kind_of_message_is_here() -> None:
    assert set(requests) == REQUESTS.kinds
    assert set(responses) == RESPONSES.kinds


@given(st.one_of(*requests.values()))
def test_what_a_client_says_is_read_back(message: Request) -> None:
    assert REQUESTS.decode(REQUESTS.encode(message)) == message


@given(st.one_of(*responses.values()))
def test_what_a_runner_says_is_read_back(message: Response) -> None:
    assert RESPONSES.decode(RESPONSES.encode(message)) == message


def test_a_runner_of_another_version_is_named(tmp_path: Path) -> None:
    home = Home(tmp_path / ".headway")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(home.folder / "runner.sock"))
        door.listen()

        def greet() -> None:
            line, _ = door.accept()
            with line:
                line.sendall(RESPONSES.encode(Greeting(99)))

        thread = Thread(target=greet)
        thread.start()
        with pytest.raises(HeadwayError, match="another version of Headway: it speaks 99"):
            Line.to(home, patience=20.0)
        thread.join()
