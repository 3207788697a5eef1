"""What is told of a host that cannot be used: the way out is a command that does what Headway does."""

from __future__ import annotations

import pytest

from headway.live.sites.faults import LastingError, fault
from headway.live.sites.site import Site

OTHER_PORT = Site("a", "me@h1", ssh_options=("-p", "2222", "-i", "my key"))


@pytest.mark.parametrize(
    ("said", "lasts"),
    [
        ("ssh: connect to host h1 port 2222: Connection refused", False),
        ("ssh: connect to host h1 port 2222: Connection timed out", False),
        ("ssh: connect to host h1 port 2222: No route to host", False),
        ("Host key verification failed.", True),
        ("something that nobody has heard of", False),
    ],
)
def test_what_to_try_by_hand_has_the_options_of_the_site(said: str, lasts: bool) -> None:
    error = fault(OTHER_PORT, 255, said, was_ready=False)
    assert "ssh -p 2222 -i 'my key' me@h1 true" in error.fix and isinstance(error, LastingError) is lasts


def test_without_options_it_is_plain() -> None:
    assert fault(Site("a", "h1"), 255, "Connection refused", was_ready=False).fix.endswith("by hand: ssh h1 true")
