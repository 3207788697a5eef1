"""Bytes and events of each peer, and the most in any second."""

from __future__ import annotations

from headway.model.record import mutable

SECOND = 1000


@mutable
class Traffic:
    """Of one peer: of this second, and the most in any."""

    second: int = -1
    out: int = 0
    into: int = 0
    events: int = 0
    peak_out: int = 0
    peak_in: int = 0
    peak_events: int = 0
    all_events: int = 0


class Counts:
    """Of all peers."""

    def __init__(self) -> None:
        self.peers: dict[int, Traffic] = {}

    def _now(self, peer: int, now: int) -> Traffic:
        one = self.peers.get(peer)
        if one is None:
            one = self.peers[peer] = Traffic()
        if one.second != now // SECOND:
            one.second, one.out, one.into, one.events = now // SECOND, 0, 0, 0
        return one

    def event(self, peer: int, now: int) -> None:
        one = self._now(peer, now)
        one.events += 1
        one.all_events += 1
        one.peak_events = max(one.peak_events, one.events)

    def sent(self, peer: int, amount: int, now: int) -> None:
        one = self._now(peer, now)
        one.out += amount
        one.peak_out = max(one.peak_out, one.out)

    def received(self, peer: int, amount: int, now: int) -> None:
        one = self._now(peer, now)
        one.into += amount
        one.peak_in = max(one.peak_in, one.into)
