"""Starts a job's command: few system calls, its own session, nothing inherited but what it is given."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping

from headway.live.store.spec import Spec

# Words that mean to sh just what they say: the program can be started without one.
_WORDS_ONLY = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./ -")
_DEFAULTED = [
    *(signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGIO),
]
_LOG = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def spawn(spec: Spec, environment: Mapping[bytes, bytes], log: str) -> int:
    """The process id of a job that now runs, in the folder that we are in; OSError says why it cannot."""
    actions: list[tuple[int, ...] | tuple[object, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, spec.stdin or os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, spec.stdout or log, _LOG, 0o666),
    ]
    if spec.stderr and spec.stderr != spec.stdout:
        actions.append((os.POSIX_SPAWN_OPEN, 2, spec.stderr, _LOG, 0o666))
    elif spec.stdout and not spec.stderr:
        actions.append((os.POSIX_SPAWN_OPEN, 2, log, _LOG, 0o666))
    else:
        actions.append((os.POSIX_SPAWN_DUP2, 1, 2))
    if "PATH" not in dict(spec.environment) and _WORDS_ONLY.issuperset(spec.command):
        argv = spec.command.split()
        try:
            return os.posix_spawnp(
                argv[0], argv, environment, file_actions=actions, setsid=True, setsigdef=_DEFAULTED, setsigmask=()
            )
        except (FileNotFoundError, IndexError):
            pass  # a word that only sh knows
        except OSError as error:
            _check_quota(error)
            raise
    argv = ["/bin/sh", "-c", spec.command]
    try:
        return os.posix_spawn(
            argv[0], argv, environment, file_actions=actions, setsid=True, setsigdef=_DEFAULTED, setsigmask=()
        )
    except OSError as error:
        _check_quota(error)
        _try_to_open(spec)
        raise


def _check_quota(error: OSError) -> None:
    """Raises the true error where the quota of processes is used up: glibc before 2.34 says EPERM for it."""
    if error.errno == errno.EPERM:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)


def _try_to_open(spec: Spec) -> None:
    """Raises OSError for the file that a job cannot be connected to; the system names the program instead."""
    for path, flags in ((spec.stdin, os.O_RDONLY), (spec.stdout, _LOG), (spec.stderr, _LOG)):
        if path:
            os.close(os.open(path, flags | os.O_NONBLOCK, 0o666))
