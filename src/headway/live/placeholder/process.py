"""How a process becomes the runner: detached from the process that started it, alone with its store."""

from __future__ import annotations

import gc
import os
import signal

from headway.live.home.folder import Home, say
from headway.live.placeholder.limits import FEWEST, most_files
from headway.live.placeholder.runner import Runner
from headway.live.store import SITES, opened
from headway.model.errors import HeadwayError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from headway.live.doors.port import Port
    from headway.live.doors.tls_relay import Address


def become_runner(home: Home, sync: str, server: str | None, told: int) -> int:
    """Makes this process, a fresh child in a session of its own, the runner; its exit code when its life is over.

    `told`: the end of a pipe that is closed when clients can come.
    """
    return live(home, told, lambda: Runner(home, _port(home, sync, server), server).run)


def become_far_runner(home: Home, channel: socket.socket, told: int) -> int:
    """The same on a host whose store is elsewhere: the first channel to it is there, others may call later."""
    from headway.live.doors.pipe import Called, Pipe

    called = Called(channel)
    return live(home, told, lambda: Runner(home, Pipe(called.connect), None, called).run, channel.fileno())


def become_runner_behind_a_door(home: Home, address: Address, told: int) -> int:
    """The same in an allocation of a batch queue: its store is behind a door, and a process of its own goes there."""
    from headway.live.doors.pipe import Forked, Pipe

    def serve(handle: int) -> None:
        from headway.live.doors.tls_relay import relay

        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends when its runner does
        _keep(handle)
        relay(address, handle)

    return live(home, told, lambda: Runner(home, Pipe(Forked(serve).connect), is_apart=True).run)


def live(home: Home, told: int, make: Callable[[], Callable[[int], None]], *handles: int) -> int:
    """The life of a process that is alone with its folder. Of the handles that it inherited it keeps these."""
    _connect(os.open(os.devnull, os.O_RDWR), 0, 1, 2)
    try:
        lock = home.locked()
        if lock is None:
            return 0
        _connect(home.opened_talk(), 1, 2)
        _check_handles()
        _keep(told, *lock.handles, *handles)
        # SIGIO: somebody opens a job's output at the very moment we see whether anybody has.
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGIO):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, lambda number, frame: None)  # the runner hears of it where it waits
        run = make()
        gc.freeze()  # what was imported stays, and need not be looked at for cycles
        gc.enable()
        run(told)
    except HeadwayError as error:
        say(str(error))
        return 1
    except BaseException:
        import traceback

        traceback.print_exc()
        return 1
    return 0


def _port(home: Home, sync: str, server: str | None) -> Port:
    """The way to the store: a file is in our hands. Where others use it too we hear of them by a process of its own."""
    place = home.database if server is None else server
    if server is None and not (home.folder / SITES).is_dir():
        from headway.live.doors.port import Direct
        from headway.live.doors.store_end import StoreEnd

        return Direct(StoreEnd(opened(place, sync)))
    from headway.live.doors.pipe import Forked, Pipe

    def serve(handle: int) -> None:
        from headway.live.doors.serving import serve

        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends when its runner does
        _keep(handle)
        serve(lambda: opened(place, sync), handle, handle)

    return Pipe(Forked(serve).connect)


def _keep(*handles: int) -> None:
    """Closes all other handles, which were inherited from the process that started us."""
    least = 3
    for handle in sorted(handles):
        os.closerange(least, handle)
        least = handle + 1
    os.closerange(least, most_files())


def _check_handles() -> None:
    """Too few open files may be had for a single job: jobs would be begun and taken back, or never begun."""
    if most_files() < FEWEST:
        raise HeadwayError(
            f"only {most_files()} open files are allowed here; running jobs takes {FEWEST}.",
            f"Allow more: ulimit -n {FEWEST}, or better 1024.",
        )


def _connect(source: int, *numbers: int) -> None:
    for number in numbers:
        os.dup2(source, number)
