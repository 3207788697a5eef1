"""Named random streams: the same seed and the same words give the same numbers, no matter who draws them, and when."""

from __future__ import annotations

from hashlib import sha256


def key(seed: int, *words: object) -> int:
    """The 64 bits that name a stream."""
    named = "\0".join([str(seed), *map(str, words)])
    return int.from_bytes(sha256(named.encode("utf-8", "surrogateescape")).digest()[:8], "little")
