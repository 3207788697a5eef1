"""Requests that are signed: with Ed25519, as peers would, and with a key for each owner."""

from __future__ import annotations

import hmac

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from headway.engine.peer import Peer
from headway.engine.peering.messages import Letter, Offer, Request, Rollback
from headway.engine.peering.seals import Signing, problem, sealed
from headway.model.record import replace
from tests.engine.peering.net import MINUTE, Net, submit

KEYS = {number: Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in range(1, 100)}


def ed25519(peer: int) -> Signing:
    """Every peer knows the public keys of all."""

    def verify(other: int, told: bytes, signature: bytes) -> bool:
        try:
            KEYS[other].public_key().verify(signature, told)
        except InvalidSignature:
            return False
        return True

    return Signing(KEYS[peer].sign, verify)


def with_secrets(peer: int) -> Signing:
    """Every peer knows the secrets of all: enough for a test."""

    def sign(told: bytes, other: int = peer) -> bytes:
        return hmac.digest(bytes([other]) * 32, told, "sha256")

    return Signing(sign, lambda other, told, signature: hmac.compare_digest(sign(told, other), signature))


def a_request(net: Net, owner: int = 77) -> Request:
    jobs = tuple((at, 5 * MINUTE * 1000, 0, 0) for at in range(4))
    low, high = net.now, net.now + 300 * MINUTE
    return Request((owner, 1, 1, 0), jobs, low, high, net.now + 15_000, (owner, owner), level=0, down=True)


def a_leaf() -> tuple[Net, Peer]:
    """One whose father is another peer."""
    net = Net()
    for number in range(1, 3):
        net.add(Peer(number, number, 1000, net.settings, net.now, signing=ed25519(number)), list(net.peers)[:3])
        net.run(12_000)
    return net, next(peer for peer in net.peers.values() if peer.tree.branch is None)


def asks(net: Net, leaf: Peer, body: Request) -> bool:
    """Whether a leaf holds room for what its father passes on."""
    father = leaf.tree.leaf.father
    assert father
    letters = leaf.handle(Letter(leaf.number, father.peer, net.now, body), net.now)
    return any(isinstance(letter.body, Offer) for letter in letters)


@pytest.mark.parametrize("signing", [ed25519, with_secrets])
def test_a_piece_of_what_was_signed_is_its_owners_and_nothing_else_is(signing: object) -> None:
    make = ed25519 if signing is ed25519 else with_secrets
    whole = sealed(a_request(Net()), make(77).sign)
    verify = make(1).verify
    piece = replace(
        whole, piece=(77, 1, 1, 1), jobs=whole.jobs[1:3], start=whole.start + 5, deadline=whole.deadline - 5
    )
    assert problem(whole, verify) == problem(piece, verify) == ""
    assert problem(replace(whole, seal=None), verify) == "unsigned"
    for lie in (
        replace(whole, piece=(78, 1, 1, 0)),
        replace(whole, piece=(77, 2, 1, 0)),
        replace(whole, piece=(77, 1, 2, 0)),
        replace(whole, expires=whole.expires + 1),
        replace(whole, needed=1),
        replace(whole, start=whole.start - 1),
        replace(whole, deadline=whole.deadline + 1),
        replace(whole, jobs=()),
        replace(whole, jobs=((0, 10**12, 0, 0), *whole.jobs[1:])),
        replace(whole, jobs=whole.jobs[:1] + whole.jobs[2:]),
        replace(piece, piece=(77, 1, 1, 2)),
    ):
        assert problem(lie, verify) == "forged", lie


def test_a_branch_cannot_ask_in_the_name_of_an_owner() -> None:
    net, leaf = a_leaf()
    body = a_request(net)
    assert not asks(net, leaf, body)
    assert not asks(net, leaf, sealed(body, ed25519(78).sign))
    assert leaf.refused == {"unsigned": 1, "forged": 1} and leaf.leaf.pieces == {}
    assert asks(net, leaf, sealed(body, ed25519(77).sign))


def test_a_request_that_was_signed_once_is_not_good_for_twice() -> None:
    net, leaf = a_leaf()
    body = sealed(a_request(net), ed25519(77).sign)
    assert asks(net, leaf, body)
    net.tell(leaf.number, Rollback(body.piece), 77)
    assert not asks(net, leaf, body) and leaf.refused["replayed"] == 1


def test_a_branch_does_not_pass_on_what_nobody_has_signed() -> None:
    net, leaf = a_leaf()
    father = leaf.tree.leaf.father
    assert father
    net.tell(father.peer, replace(a_request(net), level=1, down=False), leaf.number)
    assert net.peers[father.peer].refused["unsigned"] == 1


def test_workflows_of_peers_that_sign_are_done_and_split_as_ever() -> None:
    net = Net()
    for number in range(1, 7):
        net.add(Peer(number, number, 1000, net.settings, net.now, signing=ed25519(number)), list(net.peers)[:3])
        net.run(12_000)
    net.run(30_000)
    net.tell(2, submit(net, deadline=50))
    net.run(60 * MINUTE)
    assert net.state(2) == ["accepted", "done"]
    assert not any(peer.refused for peer in net.peers.values())
