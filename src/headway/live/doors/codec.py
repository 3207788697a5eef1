"""The messages of a runner's port as lines of JSON."""

from __future__ import annotations

from headway.engine.ready import Room, Within
from headway.live.codec import Codec
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from headway.live.doors.messages import Request, Response

LONGEST = 64 << 20  # bytes of a line
CODEC = Codec(
    (Hello, Question, Leave, Welcome, Reply, News, Trouble),
    records=(Finish, Lease, Room, Within, Left, Setting, Word, Answer),
)


def encode(message: Request | Response) -> bytes:
    """A message as a line."""
    return CODEC.encode(message)


def decode(line: bytes) -> Request | Response:
    """The message of a line."""
    message: Request | Response = CODEC.decode(line)
    return message
