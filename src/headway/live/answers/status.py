"""The answer of `headway status`: how far everything is. Of a hundred thousand jobs it looks at none one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from headway.engine.groups import WORDS, group_state, worded
from headway.live.client.asking import Prefetched, prefetched
from headway.live.store.views import Counted, RunningJob, Span, Submitted
from headway.model.messages import WorkflowId
from headway.model.record import mutable, record
from headway.model.states import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from headway.live.home.folder import Home
    from headway.live.store import Store

    HomeOf: TypeAlias = "Callable[[WorkflowId], Home | None]"  # the folder of the runner that has a workflow

Counts = dict[State, int]
# Where something happens or went wrong comes first, if not all can be shown.
_URGENT = (State.RUNNING, State.FAILED, State.DISABLED, State.LATER, State.ELIGIBLE, State.WAITING, State.DONE)
_ALL = (0, 1 << 62)  # places of all jobs


@mutable
class GroupStatus:
    """A group, or a job that is none of a group of the level asked for."""

    span: Span
    counts: Counts

    @property
    def path(self) -> str:
        return self.span.path

    @property
    def state(self) -> State:
        return group_state(self.counts)


@record
class Status:
    """How far everything is."""

    workflow: Submitted  # the one whose groups these are
    workflows: Sequence[tuple[Submitted, Counts]]
    groups: Sequence[GroupStatus]
    running: Sequence[RunningJob]
    premature_starts: Sequence[tuple[str, str]]  # jobs that began on an early release, and the one that then failed
    states: Collection[State]  # that some job of the groups is in
    more: int = 0  # groups that were left out


def status(
    store: Store,
    workflow: Submitted,
    group: str | None = None,
    only: bool = False,
    home_of: HomeOf | None = None,
    most: int | None = None,
) -> Status:
    """How far it is: the groups right below `group`, or at the top. `only`: nothing of other workflows.

    `most`: how many groups at most, those where something happens first. Jobs are given to a runner a few ahead while
    they are short. Which of them have not begun only the runner knows. It is asked last: what it has prefetched then
    was not running before.
    """
    span = None
    if group is not None:
        from headway.live.client.services import found_groups

        (span, *_) = found_groups(store, workflow, [group])
    counted = store.watching.seen_counts(workflow.id if only else None)
    listed = [one for one in store.watching.workflows() if one == workflow or not only]
    spans = _spans(store, workflow, span)
    running = store.watching.running(workflow.id if only or span else None)
    ahead = not_begun(store, running, home_of)
    if span is not None:
        running = [job for job in running if span.first <= job.job <= span.last or job.name.startswith(f"{span.path}/")]
    seen = {number: one.without(ahead) for number, one in counted.items()}
    own = seen.get(workflow.id, Counted())
    first, last = _ALL if span is None else span.places
    groups, more = _level(store, workflow, own, spans, range(first, min(last + 1, len(own.digits))), most)
    return Status(
        workflow,
        [(one, seen.get(one.id, Counted()).counts) for one in listed],
        groups,
        [job for job in running if job.lease not in ahead],
        store.watching.premature_starts(workflow.id),
        own.between(first, last + 1).keys(),
        more,
    )


def not_begun(store: Store, running: Iterable[RunningJob], home_of: HomeOf | None) -> Prefetched:
    """Leases that runners here have not begun; they are asked only if there are jobs that may run."""
    homes = {} if home_of is None else {one: home_of(one) for one in {job.workflow for job in running}}
    return prefetched({home.folder: home for home in homes.values() if home is not None}.values(), store.is_shared)


def _spans(store: Store, workflow: Submitted, above: Span | None) -> list[Span]:
    """The groups right below one, in order."""
    first, last = _ALL if above is None else above.places
    spans, end = list[Span](), -1
    for span in store.places.groups(workflow.id):
        if first <= span.first <= span.last <= last and span != above and span.first > end:
            spans.append(span)
            end = span.last
    return spans


def _level(
    store: Store, workflow: Submitted, own: Counted, spans: Sequence[Span], places: range, most: int | None
) -> tuple[list[GroupStatus], int]:
    """Groups, and the jobs that are of none of them, in order; and how many were left out."""
    groups = [GroupStatus(span, own.between(span.first, span.last + 1)) for span in spans]
    groups = [group for group in groups if group.counts]
    gaps = list(_gaps(spans, places))
    total = len(groups) + sum(sum(own.between(*gap).values()) for gap in gaps)
    most = total if most is None else most
    chosen = dict[int, GroupStatus | State]()  # by place: a group, or the state of a job
    for state in _URGENT:
        here: list[tuple[int, GroupStatus | State]] = [
            (group.span.first, group) for group in groups if group.state is state
        ]
        for gap in gaps:
            for _, place in zip(range(most - len(chosen)), own.are(state, *gap), strict=False):
                here.append((place, state))
        here.sort(key=lambda one: one[0])
        chosen.update(here[: most - len(chosen)])
    names = store.places.names(workflow.id, [place for place, one in chosen.items() if isinstance(one, State)])
    found = [
        GroupStatus(Span(names[place], place, place), {one: 1}) if isinstance(one, State) else one
        for place, one in sorted(chosen.items(), key=lambda one: one[0])
    ]
    return found, total - len(found)


def _gaps(spans: Sequence[Span], places: range) -> Iterator[tuple[int, int]]:
    """Places that are of no group: from one to before another."""
    at = places.start
    for span in spans:
        if at < span.first:
            yield at, span.first
        at = span.last + 1
    if at < places.stop:
        yield at, places.stop


def answer(found: Status) -> dict[str, Any]:
    """As docs/json.md says."""
    return {
        "workflow": found.workflow.id,
        "workflows": [
            {"id": one.id, "name": one.name, "source": one.source, "submitted": one.submitted, **worded(counts)}
            for one, counts in found.workflows
        ],
        "groups": [
            {"path": group.path, "state": WORDS[group.state], "counts": worded(group.counts)} for group in found.groups
        ],
        "running": [
            {
                "job": job.name,
                "workflow": job.workflow,
                "attempt": job.attempt,
                "command": job.command,
                "host": job.host,
                "site": job.site,
                "started": job.started,
                "status": job.status,
            }
            for job in found.running
        ],
        "in_doubt": [{"job": name, "because": because} for name, because in found.premature_starts],
    }
