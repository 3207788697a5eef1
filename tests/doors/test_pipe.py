"""A port over a connection that can be lost."""

from __future__ import annotations

import os
import socket

import pytest

from headway.engine.ready import Room
from headway.live.doors.codec import decode, encode
from headway.live.doors.messages import Hello, Leave, Question, Trouble, Welcome
from headway.live.doors.pipe import Pipe
from headway.model.errors import HeadwayError
from headway.model.messages import PlaceholderId


class Store:
    """The other end of each connection, in the hands of the test."""

    def __init__(self) -> None:
        self.lines: list[socket.socket] = []

    def connect(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        self.lines.append(theirs)
        return ours

    def heard(self) -> object:
        return decode(self.lines[-1].recv(1 << 16).splitlines()[-1])


HELLO = Hello("here", 1, 0.0, 120.0)
WELCOME = Welcome("store", False, PlaceholderId(7), [], [])


def connected(store: Store) -> Pipe:
    pipe = Pipe(store.connect)
    pipe.call_again(HELLO)
    store.lines[-1].sendall(encode(WELCOME))
    assert pipe.responses() == [WELCOME]
    return pipe


def test_a_lost_connection_stays_open_until_whoever_polls_it_has_taken_it_out() -> None:
    store = Store()
    pipe = connected(store)
    handle = pipe.fileno()
    store.lines[-1].close()
    with pytest.raises(HeadwayError, match="connection to the store is lost"):
        pipe.responses()
    assert pipe.fileno() == -1 and not pipe.is_connected
    os.fstat(handle)
    pipe.call_again(HELLO)
    assert pipe.is_connected and len(store.lines) == 2


def test_an_answer_that_comes_in_pieces_is_one() -> None:
    store = Store()
    pipe = connected(store)
    line = encode(Trouble("away", "wait", 3))
    store.lines[-1].sendall(line[:5])
    assert pipe.responses() == []
    store.lines[-1].sendall(line[5:] + line)
    assert pipe.responses() == [Trouble("away", "wait", 3)] * 2


def test_nothing_waits_for_a_store_that_does_not_read() -> None:
    store = Store()
    pipe = connected(store)
    long = Question([], Room(1, 1, named={"x" * 1000: 1}), list(range(1 << 20)))  # type: ignore[arg-type]
    pipe.ask(long)
    assert pipe.is_behind


def test_what_is_no_answer_of_a_store_ends_the_connection() -> None:
    store = Store()
    pipe = connected(store)
    store.lines[-1].sendall(encode(Leave()))
    with pytest.raises(HeadwayError):
        pipe.responses()
    assert not pipe.is_connected


def test_who_said_why_it_goes_has_gone_for_that_reason_and_not_twice() -> None:
    """A placeholder whose store was away said by turns that it could not be reached and that it was lost."""
    store = Store()
    pipe = connected(store)
    store.lines[-1].sendall(encode(Trouble("the store cannot be reached: refused.", "")))
    assert pipe.responses() == [Trouble("the store cannot be reached: refused.", "")]
    store.lines[-1].close()
    with pytest.raises(HeadwayError, match="the store cannot be reached: refused"):
        pipe.responses()
    pipe.call_again(HELLO)
    store.lines[-1].sendall(encode(WELCOME))
    assert pipe.responses() == [WELCOME]
    store.lines[-1].close()
    with pytest.raises(HeadwayError, match="connection to the store is lost"):
        pipe.responses()
