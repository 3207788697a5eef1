"""How many bytes a message takes, about: MessagePack over TCP."""

from __future__ import annotations

from headway.engine.peering.messages import Message
from headway.model.record import fields
from headway.policies.by_when.summary import Summary

HEADERS = 90  # bytes of TCP/IP and of a frame


def size(body: Message) -> int:
    """About how many bytes a message takes: integers of seven bits a byte, and headers."""
    return HEADERS + 1 + _size(body)


def _size(value: object) -> int:
    if isinstance(value, bool) or value is None:
        return 1
    if isinstance(value, int):
        return max(1, (value.bit_length() + 6) // 7)
    if isinstance(value, bytes):
        return 1 + len(value)
    if isinstance(value, str):
        return 1 + len(value.encode())
    if isinstance(value, Summary):
        return 4 + sum(_size(count) for count in value.counts.values()) + 2 * len(value.counts)
    if isinstance(value, tuple):
        return 1 + sum(map(_size, value))
    parts = [getattr(value, name) for name in fields(value)]
    while parts and parts[-1] is None:  # what is not there at the end is not sent
        parts.pop()
    return 1 + sum(map(_size, parts))
