"""Joining, leaving, and a tree that becomes whole again."""

from __future__ import annotations

from random import Random

import pytest

from headway.engine.peer import Peer
from headway.engine.peering.messages import Letter, Withdraw
from headway.engine.peering.settings import Settings
from tests.engine.peering.net import Net

QUICK = Settings(refresh=5000)


def joined(addresses: list[int], apart: int = 12_000) -> Net:
    net = Net(QUICK)
    for number, address in enumerate(addresses, 1):
        net.add(Peer(number, address, 1000, QUICK, net.now), list(net.peers)[-3:])
        net.run(apart)
    net.run(60_000)
    return net


def until_whole(net: Net, limit: int = 300_000) -> int:
    """Milliseconds until every peer is below the only root."""
    begun = net.now
    while sorted(net.leaves()) != sorted(net.peers):
        assert net.now < begun + limit, f"{len(net.leaves())} of {len(net.peers)} leaves after {limit} ms"
        net.run(1000)
    return net.now - begun


def test_leaves_are_ordered_by_address_and_then_by_number() -> None:
    rng = Random(5)
    addresses = [rng.randrange(15) for _ in range(30)]
    net = joined(addresses)
    assert net.leaves() == sorted(net.peers, key=lambda number: (addresses[number - 1], number))


def test_all_leaves_are_equally_deep_and_no_branch_is_too_large() -> None:
    net = joined(list(range(40)), 1000)
    until_whole(net)
    for peer in net.peers.values():
        branch = peer.tree.branch
        if branch:
            assert 1 <= len(branch.children) <= QUICK.most
            assert {child.node.level for child in branch.children.values()} == {branch.level - 1}


def test_peers_that_join_at_once_end_up_in_one_tree() -> None:
    net = joined(list(range(30)), 20)
    until_whole(net)


@pytest.mark.parametrize("seed", range(3))
def test_a_tenth_of_the_peers_dies_and_the_tree_becomes_whole(seed: int) -> None:
    net = joined(list(range(40)), 1000)
    until_whole(net)
    for number in Random(seed).sample(sorted(net.peers), 4):
        del net.peers[number]
    assert until_whole(net) < 120_000


def test_the_root_dies_and_an_heir_takes_its_place() -> None:
    net = joined(list(range(30)), 1000)
    until_whole(net)
    root = next(number for number, peer in net.peers.items() if peer.tree.link and peer.tree.link.is_root)
    del net.peers[root]
    assert until_whole(net) < 120_000


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_only_branch_of_a_small_grid_dies_and_the_others_are_a_grid(count: int) -> None:
    """All leaves looked for a father for ever."""
    net = joined(list(range(count)))
    root = next(number for number, peer in net.peers.items() if peer.tree.branch)
    del net.peers[root]
    assert until_whole(net) < 120_000


def test_a_peer_that_is_back_is_heard_by_the_father_who_has_not_missed_it() -> None:
    """Its updates counted as old, as their numbers began again, until it had missed three greetings."""
    net = joined(list(range(12)), 1000)
    until_whole(net)
    net.run(60_000)
    number = next(one for one, peer in net.peers.items() if not peer.tree.branch)
    father = net.peers[number].tree.leaf.father
    assert father
    del net.peers[number]
    net.run(1000)
    net.add(Peer(number, number - 1, 3000, QUICK, net.now), [father.peer])
    net.run(2 * QUICK.update)
    assert not net.peers[father.peer].refused["old"] and net.peers[number].tree.leaf.acked
    branch = net.peers[father.peer].tree.branch
    assert branch and branch.children[number].fastest == 3000


def test_who_leaves_hands_over_and_nobody_has_to_notice() -> None:
    net = joined(list(range(30)), 1000)
    until_whole(net)
    for number in (3, 17, 25):
        net.tell(number, Withdraw())
        net.run(200)
        del net.peers[number]
    assert until_whole(net) < 60_000


def test_two_trees_that_hear_of_each_other_become_one() -> None:
    net = joined(list(range(10)), 1000)
    for number in range(11, 21):
        net.add(Peer(number, number, 1000, QUICK, net.now), [] if number == 11 else [11])
        net.run(1000)
    net.run(30_000)
    assert net.leaves() == []  # two roots
    net.peers[11].tree.remember(1)
    for peer in net.peers.values():
        peer.tree.remember(1 if peer.number > 10 else 11)
    until_whole(net)


def test_a_peer_alone_is_a_grid() -> None:
    net = Net(QUICK).grown(1)
    assert net.leaves() == [1]


def test_a_peer_that_all_others_have_left_does_not_keep_its_processor_busy() -> None:
    net = Net(QUICK).grown(8)
    for number in [number for number in net.peers if number != 1]:
        del net.peers[number]
    net.run(300_000)
    assert net.leaves() == [1]
    wakes, handle = list[int](), net.peers[1].handle

    def counted(letter: Letter, now: int) -> list[Letter]:
        wakes.append(now)
        return handle(letter, now)

    net.peers[1].handle = counted  # type: ignore[method-assign]
    net.run(100_000)
    assert 0 < len(wakes) < 1000  # not every millisecond
