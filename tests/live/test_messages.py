"""What is said to a runner's socket: no message ends the runner, only the line of whoever has said it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from headway.live.client.door import full
from headway.live.home.folder import Home
from tests.live.ledger import kill, until
from tests.live.test_crashes_and_company import HOLD, ended, runs, site_of

HELLO = b'{"workflow": %s, "slots": %s, "environment": %s, "memory": %s, "named": %s}\n'


def hello(
    workflow: str = "1", slots: str = "2", environment: str = "{}", memory: str = "0", named: str = "{}"
) -> bytes:
    return HELLO % tuple(part.encode() for part in (workflow, slots, environment, memory, named))


def answers(line: socket.socket) -> list[dict[str, object]]:
    """What the runner says until it ends the line."""
    line.settimeout(60)
    heard = b""
    try:
        while data := line.recv(1 << 16):
            heard += data
    except ConnectionResetError:
        pass
    return [json.loads(text) for text in heard.splitlines()]


BAD = {
    "too many slots": hello(slots="1e400"),
    "slots that are no number": hello(slots="NaN"),
    "an unknown workflow": hello(workflow="77"),
    "a workflow that no database can have": hello(workflow=str(1 << 70)),
    "no workflow": hello(workflow="0"),
    "to watch an unknown workflow": b'{"watch": 77}\n',
    "to watch one that no database can have": b'{"watch": 1e300}\n',
    "to cancel one that no database can have": b'{"cancel": 1e400}\n',
    "endless memory": hello(memory="Infinity"),
    "endless resources": hello(named='{"gpu": 1e999}'),
    "deep JSON": b"[" * 100_000 + b"\n",
    "deep JSON in a message": hello(environment='{"A": ' * 50_000 + "1" + "}" * 50_000),
    "an environment with a NUL": hello(environment='{"A": "\\u0000"}'),
    "an environment with a name that is none": hello(environment='{"A=B": "1"}'),
    "an environment that is no text": hello(environment='{"A": 1}'),
    "where an endless lease is": b'{"where": 1e400}\n',
    "a number of 5,000 digits": hello(slots="9" * 5000),
    "no JSON": b"nonsense\n",
    "no object": b"[1]\n",
    "nothing that is known": b'{"hello": 1}\n',
    "a field that is not known": b'{"watch": 1, "colour": "red"}\n',
    "a flag that is no flag": b'{"cancel": 1, "now": "yes"}\n',
    "no UTF-8": b"\xff\xfe\n",
    "a line without an end": b"x" * (33 << 20),
}


@pytest.mark.parametrize("words", BAD.values(), ids=BAD.keys())
def test_a_bad_message_ends_only_the_line_of_its_client(tmp_path: Path, words: bytes) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'", "mqsub -deps A -l B -c true")
    process = site.start()
    until((tmp_path / "begun").exists)
    runner = site.runner()
    found = Home(site.home).connect()
    assert found is not None
    with full(found) as line:
        try:
            line.sendall(words)
        except (BrokenPipeError, ConnectionResetError):
            assert len(words) > 1 << 20
        said = answers(line)
    assert "error" in said[-1], said
    assert site.runner() == runner
    (tmp_path / "go").touch()
    ended(process)
    assert runs(site) == [("A", 1, 0), ("B", 1, 0)]


def test_a_hundred_thousand_messages_at_once_do_not_keep_the_runner_from_its_work(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'", "mqsub -deps A -l B -c true")
    process = site.start()
    until((tmp_path / "begun").exists)
    found = Home(site.home).connect()
    assert found is not None
    with full(found) as line:
        line.sendall(b'{"where": 1}\n' * 100_000)
        (tmp_path / "go").touch()
        ended(process)


def test_the_end_of_a_runner_that_was_killed_names_its_log(tmp_path: Path) -> None:
    site = site_of(tmp_path, f"mqsub -l A -c 'touch begun; {HOLD}'")
    process = site.start()
    until((tmp_path / "begun").exists)
    kill(site.runner())
    (tmp_path / "go").touch()
    talk = ended(process, 1)
    assert "the runner has died. Run again: what was done stays done." in talk
    assert str(site.home / "runner.log") in talk
