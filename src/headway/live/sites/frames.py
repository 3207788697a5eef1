"""What goes over a channel between two hosts: lines, each with the number of the stream that it belongs to.

Stream 0 is the channel's own; 1 is the runner's port; each further one is a client of the runner. All are lines of
JSON.
"""

from __future__ import annotations

from headway.live.codec import Codec
from headway.live.doors.codec import LONGEST
from headway.model.errors import HeadwayError
from headway.model.record import record

VERSION = 1
CONTROL, PORT, FIRST_CLIENT = 0, 1, 2


@record
class Begin:
    """The near end wants a runner for a site of a store."""

    begin: int  # the version of the near end
    store: str  # its mark
    site: str
    directory: str = ""  # for the runner's own files, if not in the user's home


@record
class Ready:
    """The far end has one, or has just started it."""

    ready: int  # the version of the far end
    host: str
    cores: int
    home: str  # the runner's folder
    directory: str = ""  # where jobs run, if that is not as here


@record
class Open:
    """A client comes."""

    open: int


@record
class Shut:
    """A stream ends."""

    shut: int


@record
class Folder:
    """A folder for jobs is needed; it is made if it is not there."""

    folder: str


@record
class Read:
    """A client wants a piece of a file."""

    read: str
    at: int
    stream: int


@record
class Found:
    """A piece of it, as client.messages.Piece has it."""

    found: str
    size: int
    stream: int


@record
class Look:
    """What is known of a file is wanted."""

    look: str
    number: int


@record
class Put:
    """A piece of a file, in base64; the file ends behind it."""

    put: str
    at: int
    data: str
    number: int


@record
class Seal:
    """A file is whole, and gets another name if it is what was sent."""

    seal: str
    name: str
    size: int
    digest: str
    mode: int
    number: int


DAMAGED = "what came is not what was sent"  # an error of one that is Seen


@record
class Seen:
    """What is known of a file, or why it could not be written."""

    seen: int  # the number of what was asked
    size: int  # -1: there is none
    digest: str = ""
    mode: int = 0
    error: str = ""


@record
class Tree:
    """The files below a folder are wanted."""

    tree: str
    number: int


@record
class Leaves:
    """Their paths there; "": it is a file itself."""

    names: list[str]
    number: int


@record
class Sorry:
    """The far end cannot go on: what is wrong, and the way out."""

    sorry: str
    fix: str = ""


_CODEC = Codec(
    (Begin, Ready, Open, Shut, Folder, Read, Found, Look, Put, Seal, Seen, Tree, Leaves, Sorry), by_name=True
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Answer = Seen | Leaves | Found
    Control = Begin | Ready | Open | Shut | Folder | Read | Look | Put | Seal | Tree | Answer | Sorry


def control(message: Control) -> bytes:
    """A message of the channel's own as a frame."""
    return frame(CONTROL, _CODEC.encode(message))


def controlled(line: bytes) -> Control:
    message: Control = _CODEC.decode(line)
    return message


def frame(stream: int, line: bytes) -> bytes:
    """A line as it goes over the channel."""
    return b"%d %s" % (stream, line)


class Lines:
    """Cuts what has come into lines; the rest waits."""

    def __init__(self) -> None:
        self._rest = b""

    def of(self, data: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > LONGEST:
            raise HeadwayError("the other end of a channel sends a line without an end.")
        return [line + b"\n" for line in lines]


def unframed(line: bytes) -> tuple[int, bytes]:
    """The stream of a frame, and its line."""
    number, blank, rest = line.partition(b" ")
    if not blank or not number.isdigit():
        raise HeadwayError(f"the other end of a channel sends what is no frame: {line[:60]!r}.")
    return int(number), rest
