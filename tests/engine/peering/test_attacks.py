"""What a peer does not believe."""

from __future__ import annotations

import pytest

from headway.engine.peer import Peer
from headway.engine.peering.messages import (
    KINDS,
    OWN,
    Commit,
    Ended,
    Letter,
    Nack,
    Offer,
    Request,
    Rollback,
    Start,
    Submit,
)
from headway.engine.peering.settings import Settings
from headway.engine.peering.sizes import size
from headway.engine.peering.tree_messages import Update
from headway.policies.by_when.cells import cell_of
from headway.policies.by_when.reference_points import epoch, of_epoch
from headway.policies.by_when.summary import Summary, summary
from tests.engine.peering.net import MINUTE, NOW, Net, submit

OWNER, OTHER = 77, 78


def one_peer() -> tuple[Net, Peer]:
    """A peer whose father is another one."""
    net = Net().grown(2)
    child = next(peer for peer in net.peers.values() if peer.tree.branch is None)
    return net, child


def request(net: Net, first: int = 0, owner: int = OWNER, minutes: int = 10) -> Request:
    piece = (owner, 1, 1, first)
    works = minutes * MINUTE * 1000
    return Request(
        piece, ((first, works, net.now, net.now + 300 * MINUTE),), net.now, net.now + 300 * MINUTE,
        net.now + 15_000, (owner, owner), level=0, down=True,
    )  # fmt: skip


def asks(net: Net, child: Peer, body: Request) -> list[Letter]:
    """What a leaf answers its father."""
    father = child.tree.leaf.father
    assert father
    return child.handle(Letter(child.number, father.peer, net.now, body), net.now)


def test_a_replayed_request_is_refused() -> None:
    net, child = one_peer()
    body = request(net)
    assert any(isinstance(letter.body, Offer) for letter in asks(net, child, body))
    net.tell(child.number, Rollback(body.piece), OWNER)
    assert not any(isinstance(letter.body, Offer | Nack) for letter in asks(net, child, body))
    net.run(16_000)  # and when it has been forgotten it has expired
    asks(net, child, body)
    assert child.refused["replayed"] == 1 and child.refused["expired"] == 1 and child.leaf.pieces == {}


def test_a_request_that_would_have_to_be_remembered_for_ever_is_refused() -> None:
    net, child = one_peer()
    body = request(net)
    far = Request(body.piece, body.jobs, body.start, body.deadline, net.now + 10**9, body.low, level=0, down=True)
    asks(net, child, far)
    assert child.refused["forged"] == 1 and child.leaf.pieces == {}


def test_only_the_father_asks_a_leaf_for_room() -> None:
    net, child = one_peer()
    net.tell(child.number, request(net), OTHER)
    assert child.leaf.pieces == {}


def test_only_its_owner_commits_to_a_piece_starts_it_or_gives_it_up() -> None:
    net, child = one_peer()
    body = request(net)
    asks(net, child, body)
    for message in (Commit(body.piece, (0,)), Start(body.piece, 0), Rollback(body.piece)):
        net.tell(child.number, message, OTHER)
    assert list(child.leaf.pieces) == [body.piece] and not child.leaf.pieces[body.piece].committed


def test_a_forged_summary_is_not_counted() -> None:
    """From a stranger, from a child for another epoch, of more free nodes than there are leaves."""
    net, child = one_peer()
    father = child.tree.leaf.father
    assert father
    branch = net.peers[father.peer].tree.branch
    assert branch
    before = branch.summary(net.now)
    number = epoch(net.now)
    lie = summary(number, [(net.now, net.now + 10**10, 50_000, 0)] * 5000)
    for sender, told in ((OTHER, lie), (child.number, lie), (child.number, Summary(number + 900, {}))):
        net.tell(father.peer, Update(0, 10**6, (1, 1), 1, (), 1000, told), sender)
    assert branch.summary(net.now) == before
    assert net.peers[father.peer].refused["forged"] == 2 and net.peers[father.peer].refused["stranger"] == 1


def test_an_old_summary_does_not_replace_a_newer_one() -> None:
    net, child = one_peer()
    father = child.tree.leaf.father
    assert father
    net.tell(father.peer, Update(0, 0, child.low, 1, (), 1000, Summary(epoch(net.now), {})), child.number)
    assert net.peers[father.peer].refused["old"] == 1


def test_a_child_that_never_has_what_it_tells_of_is_left_out_for_a_while() -> None:
    net, child = one_peer()
    father = child.tree.leaf.father
    assert father
    branch = net.peers[father.peer].tree.branch
    assert branch
    honest = summary(epoch(net.now), [(net.now, net.now + 10**10, 1000, 0)])
    for at in range(12):
        net.tell(father.peer, Nack(request(net, at), honest), child.number)
    assert branch.children[child.number].left_out_until > net.now
    assert branch.parts(net.now)[branch.order.index(child.number)] == {}


def test_a_hoarder_gets_so_many_holds_and_each_of_them_for_so_long() -> None:
    net, child = one_peer()
    for at in range(50):
        asks(net, child, request(net, at, minutes=1))
    assert len(child.leaf.pieces) == net.settings.holds
    assert any(isinstance(letter.body, Offer) for letter in asks(net, child, request(net, 0, OTHER)))
    for _ in range(30):
        for piece in list(child.leaf.pieces):
            from headway.engine.peering.messages import Renew

            net.tell(child.number, Renew(piece), piece[0])
        net.run(10_000)
    assert child.leaf.pieces == {}


def test_a_flood_of_one_neighbour_is_cut_off_and_others_are_heard() -> None:
    net, child = one_peer()
    for _ in range(5000):
        net.tell(child.number, Start((OTHER, 1, 1, 1), 1), OTHER)
    most = net.settings.rate * 10
    answered = [letter for letter in net.sent if letter.sender == child.number and letter.to == OTHER]
    assert child.refused["flood"] == 5000 - most and len(answered) == most
    assert any(isinstance(letter.body, Offer) for letter in asks(net, child, request(net)))


def test_a_clock_that_is_off_by_a_minute_is_detected_and_its_peer_is_told() -> None:
    net, child = one_peer()
    father = child.tree.leaf.father
    assert father
    update = Update(0, 10**6, child.low, 1, (), 1000)
    net.tell(father.peer, update, child.number, sent=net.now + MINUTE)
    net.run(1000)
    assert net.peers[father.peer].refused["clock"] == 1 and child.clock_off == MINUTE


def test_another_version_is_not_followed() -> None:
    net, child = one_peer()
    child.handle(Letter(child.number, OTHER, net.now, Start((OTHER, 1, 1, 1), 1), version=2), net.now)
    assert child.refused["version"] == 1


def test_nobody_else_speaks_for_the_own_world_of_a_peer() -> None:
    net, child = one_peer()
    for body in (Ended((OWNER, 1, 1, 0), 0), submit(net)):
        net.tell(child.number, body, OTHER)
    assert child.refused["forged"] == 2 and child.owner.flows == {}


def test_an_offer_that_nobody_asked_for_is_given_back() -> None:
    net, child = one_peer()
    net.tell(child.number, Offer((child.number, 5, 1, 0), ((0, NOW),), 0), OTHER)
    assert [letter.body for letter in net.sent if letter.to == OTHER] == [Rollback((child.number, 5, 1, 0))]


@pytest.mark.parametrize("jobs", [((4, NOW),), ((0, NOW), (0, NOW)), ((99, NOW),), ()])
def test_an_offer_of_jobs_that_were_not_asked_for_yet_is_given_back(jobs: tuple[tuple[int, int], ...]) -> None:
    """Job 4 waits for an answer about others. The owner crashed on an offer for it."""
    net = Net().grown(2)
    net.lose = lambda letter: isinstance(letter.body, Request)
    arcs = ((0, 1), (1, 2), (0, 3), (3, 4), (4, 2))
    net.tell(1, Submit(1, tuple(work * MINUTE * 1000 for work in (5, 9, 5, 1, 1)), arcs, net.now + 60 * MINUTE))
    net.tell(1, Offer((1, 1, 1, 7), jobs, 0), OTHER)
    assert [letter.body for letter in net.sent if letter.to == OTHER] == [Rollback((1, 1, 1, 7))]


def test_a_second_offer_for_the_same_jobs_is_given_back() -> None:
    net = Net().grown(2)
    net.lose = lambda letter: isinstance(letter.body, Request)
    net.tell(1, Submit(1, (MINUTE * 1000,) * 2, ((0, 1),), net.now + 60 * MINUTE))
    for first, sender in ((0, OWNER), (1, OTHER)):
        net.tell(1, Offer((1, 1, 1, first), ((0, NOW + MINUTE),), 0), sender)
    assert [letter.body for letter in net.sent if letter.to == OTHER] == [Rollback((1, 1, 1, 1))]
    assert not any(letter.to == OWNER for letter in net.sent)


def test_a_leaf_that_says_that_it_is_many_is_not_believed() -> None:
    """So it could tell of as many free nodes as it liked."""
    net, child = one_peer()
    father = child.tree.leaf.father
    assert father
    lie = summary(epoch(net.now), [(net.now, net.now + 10**10, 1000, 0)] * 10**5)
    net.tell(father.peer, Update(0, 10**6, child.low, 10**6, (), 1000, lie), child.number)
    assert net.peers[father.peer].refused["forged"] == 1


def test_more_holes_than_a_leaf_has_jobs_are_not_believed() -> None:
    net, child = one_peer()
    father = child.tree.leaf.father
    assert father
    lie = Summary(epoch(net.now), {cell_of(0, MINUTE, 1000, of_epoch(0)): 10**12})
    net.tell(father.peer, Update(0, 10**6, child.low, 1, (), 1000, lie), child.number)
    assert net.peers[father.peer].refused["forged"] == 1


def test_a_refusal_with_a_summary_of_another_time_does_not_replace_what_a_child_has_told() -> None:
    net, child = one_peer()
    father = child.tree.leaf.father
    assert father
    branch = net.peers[father.peer].tree.branch
    assert branch
    before = branch.children[child.number].summary
    net.tell(father.peer, Nack(request(net), Summary(epoch(net.now) + 10**6, {})), child.number)
    assert branch.children[child.number].summary == before


def test_the_numbers_of_messages_stay() -> None:
    """A new kind gets a new number at the end."""
    found = {kind.__name__: number for kind, number in KINDS.items()}
    assert len(set(found.values())) == len(found) == 33
    assert (found["Attach"], found["Update"], found["Request"], found["Offer"], found["Commit"]) == (1, 3, 13, 16, 17)
    assert all(kind in KINDS for kind in OWN)


def test_a_request_of_five_jobs_is_small() -> None:
    jobs = tuple((at, 10**9, 0, 0) for at in range(5))
    body = Request((1, 1, 1, 0), jobs, NOW, NOW + 10**7, NOW + 10**4, (1, 1))
    assert 90 < size(body) < 90 + 100 and Settings().update == 1000
