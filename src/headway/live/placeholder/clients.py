"""Who watches the runner: lines of JSON over a Unix socket, in both directions."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any

from headway.live.home import Home
from headway.model.messages import Finish, Lease, WorkflowId

PACE = 0.1  # seconds between two reports of how far it is; ends of the workflow and failures are told at once


class Client:
    """One line to a client: what it wants, and what it has not been told yet."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._heard = b""
        self._unsent = b""
        self.gone = False
        self.workflow: WorkflowId | None = None
        self.environment: Mapping[str, str] = os.environ
        self.wants_more = False  # new jobs may be started for it
        self.fail_fast = False
        self._done = self._failed = 0
        self._failures: list[dict[str, Any]] = []
        self._over = False  # the end was told
        self._last = 0.0
        self._changed = False

    def messages(self) -> Iterator[dict[str, Any]]:
        """What the client has said; a line that makes no sense ends the talk."""
        try:
            data = self._line.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.gone = True
            self.wants_more = False
            return
        self._heard += data
        while b"\n" in self._heard:
            text, _, self._heard = self._heard.partition(b"\n")
            try:
                message = json.loads(text)
                self._take(message)
            except (ValueError, TypeError, AttributeError):
                self.gone = True
                return
            yield message

    def _take(self, message: dict[str, Any]) -> None:
        if "workflow" in message:
            self.workflow = WorkflowId(int(message["workflow"]))
            self.environment = dict(message.get("environment", os.environ))
            self.fail_fast = bool(message.get("fail_fast"))
            self.wants_more, self._over = True, False
        if message.get("stop"):
            self.wants_more = False

    def note(self, finish: Finish, lease: Lease, home: Home) -> None:
        """Remembers an end to tell."""
        if lease.workflow != self.workflow or finish.exit_code is None:
            return
        self._changed = True
        if finish.exit_code == 0:
            self._done += 1
            return
        self._failures.append(
            {
                "job": lease.name,
                "attempt": lease.attempt,
                "exit_code": finish.exit_code,
                "reason": finish.reason,
                "log": str(home.log(lease.workflow, lease.job, lease.attempt)),
            }
        )
        if self.fail_fast:
            self.wants_more = False

    def due(self) -> float | None:
        """When there will be something to tell."""
        return self._last + PACE if self._changed else None

    def tell(self, slots: int, running: int, ended: bool) -> None:
        """Reports, if it is time; `ended`: nothing of its workflow runs, and nothing more is started."""
        now = time.monotonic()
        ended = ended and self.workflow is not None
        if self._over or not (ended or self._failures or (self._changed and now - self._last >= PACE)):
            self._flush()
            return
        said = {"done": self._done, "running": running, "slots": slots, "failures": self._failures, "ended": ended}
        self._failures, self._changed, self._last = [], False, now
        self._unsent += json.dumps(said).encode() + b"\n"
        self._flush()
        if ended:
            self.wants_more, self._over = False, True

    def _flush(self) -> None:
        if not self._unsent:
            return
        try:
            sent = self._line.send(self._unsent)
            self._unsent = self._unsent[sent:]
        except BlockingIOError:
            pass
        except OSError:
            self.gone = True
            self.wants_more = False
