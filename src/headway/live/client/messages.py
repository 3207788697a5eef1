"""What clients and a runner say to each other over its socket: JSON objects, each known by its first field."""

from __future__ import annotations

from headway.live.codec import Codec
from headway.live.doors.messages import Count, Word
from headway.model.messages import Seconds
from headway.model.record import field, record

VERSION = 2  # 1: runners from before messages had types; those close the line on a run without an environment


# --- what a client says ---------------------------------------------------------------------------------------------


@record
class Run:
    """Runs a workflow until its end, or until the client goes."""

    workflow: Count
    slots: Count
    environment: dict[str, str] | None = None  # for its jobs; None: it is in the private file of the run
    mark: str = ""  # of the job that the client is part of
    fail_fast: bool = False  # nothing new begins after a failure
    memory: Count = 0  # bytes that jobs may have; 0: all of the machine's
    named: dict[str, Count] = field(default_factory=dict)  # named resources that are there
    recipes: bool = False  # its groups are recipes of make


@record
class Serve:
    """Has the runner take jobs of every workflow that wants its site: a placeholder that nobody waits for.

    All times are seconds from now.
    """

    serve: Count  # slots; 0: one for each core there
    until: Seconds | None = None  # then it ends; None: it goes on until its client goes
    unknown: Seconds = 0.0  # what a job counts as of which no run time is known
    idle: Seconds | None = None  # how long it stays when nothing for it can come; None: always
    memory: Count = 0  # bytes that jobs may have; 0: all of the machine's
    named: dict[str, Count] = field(default_factory=dict)  # named resources that are there
    launcher: list[str] = field(default_factory=list)  # what starts a command on several hosts at once


@record
class Watch:
    """Wants to know how far others are with a workflow."""

    watch: Count


@record
class Stop:
    """Nothing new is to begin for this client: "gently", or "now", and then what runs is to end."""

    stop: str


@record
class Cancel:
    """Nothing of a workflow is to begin for anybody; `now`: what runs is to end."""

    cancel: Count
    now: bool = False


@record
class Look:
    """The store was changed."""

    look: bool = True


@record
class Say:
    """A job says something of itself."""

    say: Word


@record
class Where:
    """Asks where the job of a lease writes, and what the runner does; 0: only that."""

    where: Count = 0


@record
class AskPassword:
    """Asks for the password of the store's server."""

    password: bool = True


@record
class Attach:
    """Makes this line the way to the store, in place of the one before: the far end of a new channel."""

    attach: bool = True


@record
class Fetch:
    """Asks the channel to a site for a piece of a file there, such as a log."""

    fetch: str
    at: Count = 0  # bytes to pass over


@record
class Use:
    """The settings of its site, for a channel: they may have changed since it was started."""

    use: dict[str, str]  # each as JSON


@record
class Stand:
    """Has the process of a site work for all workflows that were submitted, though no client stays."""

    stand: Count  # placeholders at once; 0: nothing more is begun for them
    now: bool = False  # and what runs there is given back


# --- what the runner says -------------------------------------------------------------------------------------------


@record
class Greeting:
    """The first that a client hears: from then on the runner does not leave without it."""

    runner: int = VERSION


@record
class Failure:
    """A job has failed, or one attempt at it."""

    job: str
    exit_code: int | None
    reason: str
    log: str | None
    attempt: int = 0
    final: bool = True  # it is not tried again


@record
class Progress:
    """How far the runner is with a workflow."""

    done: int = 0  # in this run
    running: int = 0
    names: list[str] = field(default_factory=list)  # some of the jobs that run
    failures: list[Failure] = field(default_factory=list)
    trouble: str = ""  # why nothing can be written or started just now
    ended: bool = False
    others: bool = False  # other runs go on with it
    warnings: list[str] = field(default_factory=list)
    stops: int = 0  # how often its user has asked it to stop, which the client itself knows
    left: bool = False  # it has ended since what is left was not given to it: another site may run that


@record
class Place:
    """Where a job writes, and what the runner does."""

    where: int
    output: str | None
    clients: list[int]  # the workflows that they are there for; 0: none yet
    ahead: list[int]  # leases that it has prefetched, and has not begun
    begun: list[int]  # leases whose jobs run, or whose ends the store does not know yet
    wanted: list[int]  # workflows for which it may start jobs


@record
class Piece:
    """A piece of a file at a site, from the place that was asked for."""

    piece: str  # in base64; "": there is nothing more, or no such file
    size: int  # of the file; -1: there is none


@record
class Heard:
    """Whether the job that said something still has its lease; None: it is of another store."""

    said: bool | None


@record
class Password:
    password: str | None


@record
class Refusal:
    """Why nothing is done for a client: what, and the way out."""

    error: list[str]


TYPE_CHECKING = False
if TYPE_CHECKING:  # the Python 3.9 of other hosts has no unions at run time
    Request = Run | Serve | Watch | Stop | Cancel | Look | Say | Where | AskPassword | Attach | Fetch | Use | Stand
    Response = Greeting | Progress | Place | Heard | Password | Refusal | Piece
else:
    Request = Response = object
REQUESTS = Codec(
    (Run, Serve, Watch, Stop, Cancel, Look, Say, Where, AskPassword, Attach, Fetch, Use, Stand),
    records=(Word,),
    by_name=True,
)
RESPONSES = Codec((Greeting, Progress, Place, Heard, Password, Refusal, Piece), records=(Failure,), by_name=True)
