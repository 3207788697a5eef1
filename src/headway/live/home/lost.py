"""What has become of a runner's folder that is not where it was."""

from __future__ import annotations

from headway.live.store import FILE


def what_happened(folder: str, now: str | None) -> tuple[str, str]:
    """A sentence about a folder that is somewhere else `now` (None: nowhere), and the way out."""
    if now is None:
        what = f"{folder} was removed while its workflows ran, and with it what was recorded there."
        return what, "Run again: it starts from the beginning."
    if now == folder:
        what = f"{folder}/{FILE} was removed or replaced while its workflows ran."
        return what, "Restore it, or run again: it starts from the beginning."
    what = f"{folder} was moved to {now} while its workflows ran; what ran was stopped."
    return what, "Run again there: what was done stays done."
