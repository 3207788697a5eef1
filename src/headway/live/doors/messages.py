"""What a runner and its store say to each other: three requests (hello, question, leave) and what comes back."""

from __future__ import annotations

from collections.abc import Sequence

from headway.engine.ready import Room
from headway.model.messages import Answer, Finish, Lease, LeaseId, PlaceholderId, Seconds, WorkflowId
from headway.model.record import record

VERSION = 2
Count = int  # not negative, and no larger than databases take


@record
class Hello:
    """A runner introduces itself; again, when its connection was lost."""

    host: str
    pid: int
    clock: Seconds  # the time on its host: all times that it tells are by that clock
    patience: Seconds  # how long it may be silent before its jobs are given to others
    placeholder: PlaceholderId | None = None  # the number it has, if it was here before
    before: Sequence[PlaceholderId] = ()  # placeholders that ran in its place and are dead
    ends: Sequence[Finish] = ()  # that may not be recorded yet
    holds: Sequence[LeaseId] = ()  # leases that it has, if it was here before
    version: int = VERSION
    home: str = ""  # its folder, if that is not the store's


@record
class Left:
    """An attempt of a dead runner that has not ended."""

    id: LeaseId
    lease: Lease | None  # as it was given; None: nobody counts on it any more
    directory: str = ""  # of its workflow
    outputs: str = ""  # the spec of a job that may have written some
    given: Seconds = 0.0  # when it got the lease


@record
class Welcome:
    """The store knows the runner now."""

    store: str  # the mark that its jobs carry
    is_shared: bool  # other runners may use the store at the same time
    placeholder: PlaceholderId
    left: Sequence[Left] = ()
    lost: Sequence[LeaseId] = ()  # leases that it holds and that others have now


@record
class Word:
    """What a job says of itself (`mqstatus`)."""

    lease: Count
    store: str  # its id, if it is known
    text: str
    ready: bool  # a provisioner: the rest of its workflow may start


@record
class Question:
    """An exchange, asked: how attempts ended, and what there is room for."""

    ends: Sequence[Finish]
    room: Room
    workflows: Sequence[WorkflowId]
    clock: Seconds = 0.0  # the time on the runner's host
    idle: Sequence[WorkflowId] = ()  # workflows of which it has nothing, to be told whether they are over
    holds: Sequence[LeaseId] | None = None  # all its leases: a sign of life, and it is told which are lost
    adopts: Sequence[LeaseId] = ()  # leases of dead runners whose jobs go on
    news: Sequence[WorkflowId] = ()  # workflows that it knows nothing about yet
    says: Sequence[Word] = ()
    winds_up: Sequence[WorkflowId] = ()  # workflows to be ended but for their final job
    number: int = 0  # its answer has the same
    serves: bool = False  # it takes jobs of every workflow that wants its site; those that it knows are in `workflows`


@record
class Setting:
    """What the jobs of a workflow find wherever they run."""

    directory: str
    exported: dict[str, str]  # of their user's environment, what is to be known on other hosts


@record
class Reply:
    """An exchange, answered."""

    answer: Answer
    settings: dict[WorkflowId, Setting]  # of the workflows that were asked about
    unknown: Sequence[WorkflowId] = ()  # those of them that are not in the store
    heard: Sequence[bool] = ()  # for each word, whether its job still has its lease
    wound_up: dict[WorkflowId, Sequence[LeaseId] | None] | None = None  # attempts to end; None: it has no final job
    number: int = 0
    wanted: Sequence[WorkflowId] | None = None  # to one that serves: all workflows that want its site


@record
class Leave:
    """The runner ends, and gives back what it holds."""

    number: int = 0


@record
class News:
    """Others have changed workflows; True: attempts may have to end."""

    workflows: dict[WorkflowId, bool]


@record
class Trouble:
    """What was asked could not be done; nothing of it was. 0: nothing was asked, but the store is away."""

    what: str
    fix: str = ""
    number: int = 0


TYPE_CHECKING = False
if TYPE_CHECKING:  # the Python 3.9 of other hosts has no unions at run time
    Request = Hello | Question | Leave
    Response = Welcome | Reply | News | Trouble
else:
    Request = Response = object
RESPONSES = (Welcome, Reply, News, Trouble)
