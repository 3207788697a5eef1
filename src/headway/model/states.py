"""The states of a job and the ways between them, as one table: the engine obeys it, the docs draw it."""

from __future__ import annotations

from enum import IntEnum


class State(IntEnum):
    """Stored as a number; the names are what people see."""

    WAITING = 0  # some parent is not done
    ELIGIBLE = 1  # may run now
    RUNNING = 2  # leased to a placeholder, or in the hands of its own processes
    DONE = 3
    FAILED = 4
    LATER = 5  # may run, but not before a certain time
    DISABLED = 6  # may run, but its user does not want it to


class Kind(IntEnum):
    """What a row of the store is. From NODE on it has rules of its own beside its row."""

    JOB = 0
    MILESTONE = 1
    NODE = 2  # a job with scripts, rules or processes of its own
    PART = 3  # one process of a node
    SERVICE = 4  # runs beside the rest, and ends with it
    FINAL = 5  # runs last, whatever happened
    PROVISIONER = 6  # runs first; the rest waits until it is ready


class Halt(IntEnum):
    """Why nothing new begins in a workflow, but for the job that runs last."""

    NOT = 0
    ABORTED = 1  # by one of its jobs
    REMOVED = 2  # with the workflow that it is part of
    ENDED = 3  # by one of its jobs, which says that all is well


class Off(IntEnum):
    """Why a job is not to be started: bits of one number."""

    BY_USER = 1  # until its user enables it
    LEFT_OUT = 2  # of this run; the next one looks again
    ASSUMED = 4  # left out, and nobody waits for it


class Needs(IntEnum):
    """What a child needs of a parent. The last two are met, and count no second time."""

    SUCCESS = 0
    END = 1  # well or not: a weak arc
    END_MET = 2
    SUCCESS_MET = 3


MET: dict[int, Needs] = {Needs.SUCCESS: Needs.SUCCESS_MET, Needs.END: Needs.END_MET}
UNMET: dict[int, int] = {met: needs for needs, met in MET.items()}

COUNTED = frozenset((Kind.JOB, Kind.NODE, Kind.FINAL, Kind.PROVISIONER))  # what people call a job


class Step(IntEnum):
    """What of a node runs next, or runs."""

    MAIN = 0
    PRE = 1
    POST = 2


# From, to: what happened.
TRANSITIONS: dict[tuple[State, State], str] = {
    (State.WAITING, State.ELIGIBLE): "the last parent is done",
    (State.WAITING, State.DISABLED): "the last parent is done, and it is disabled",
    (State.WAITING, State.DONE): "a milestone's last parent is done, or its user says so",
    (State.ELIGIBLE, State.RUNNING): "a placeholder takes it, or one that was thought lost still has it",
    (State.ELIGIBLE, State.DISABLED): "its user disables it",
    (State.ELIGIBLE, State.WAITING): "a process whose node is over, or its parent is run again",
    (State.ELIGIBLE, State.DONE): "its user says so",
    (State.RUNNING, State.DONE): "it ended with exit code 0",
    (State.RUNNING, State.ELIGIBLE): "it failed and has retries left, was given back, or its placeholder is lost",
    (State.RUNNING, State.LATER): "it failed or was put off, and is tried again after a while",
    (State.RUNNING, State.DISABLED): "it was stopped, and is disabled",
    (State.RUNNING, State.FAILED): "it failed for the last time",
    (State.RUNNING, State.WAITING): "a process whose node has failed, or it goes back and its parent is run again",
    (State.LATER, State.ELIGIBLE): "its time has come",
    (State.LATER, State.DISABLED): "its user disables it",
    (State.LATER, State.WAITING): "a process whose node is over, or its parent is run again",
    (State.LATER, State.DONE): "its user says so",
    (State.DISABLED, State.ELIGIBLE): "its user enables it",
    (State.DISABLED, State.LATER): "its user enables it, and its time has not come yet",
    (State.DISABLED, State.WAITING): "its parent is run again",
    (State.DISABLED, State.DONE): "its user says so",
    (State.FAILED, State.ELIGIBLE): "its user wants it retried",
    (State.FAILED, State.DISABLED): "its user wants it retried, and it is disabled",
    (State.FAILED, State.WAITING): "its user wants it run again, and a parent before it",
    (State.FAILED, State.DONE): "its user says so",
    (State.DONE, State.ELIGIBLE): "its user wants it run again",
    (State.DONE, State.DISABLED): "its user wants it run again, and it is disabled",
    (State.DONE, State.WAITING): "its user wants it run again, and a parent before it; or its node is stopped",
}
