"""Who finds room instead of the tree, to compare it with: one that knows every queue, and one that tries at random.

The owner and the leaves are the same as ever. Only the way of a request differs.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from headway.engine.peering.messages import Letter, Offer, Reject, Request
from headway.sim.overlay import World

TRIES = 3  # peers that one at random asks: as many holes as a branch tries


def oracle(world: World) -> Callable[[Letter], bool]:
    """Tries all peers, at no cost, with what is true this moment; those with the least room that is enough first."""

    def order(request: Request) -> list[int]:
        work = sum(job[1] for job in request.jobs)
        found = []
        for number, peer in world.peers.items():
            for begin, end, power, _ in peer.leaf.holes(world.now):
                room = (min(end, request.deadline) - max(begin, request.start)) * power
                if room >= work:
                    found.append(((end - begin) * power, number))
        return list(dict.fromkeys(number for _, number in sorted(found)))

    return _placing(world, order)


def at_random(world: World) -> Callable[[Letter], bool]:
    """Asks a few peers, chosen at random."""
    rng: Random = world.streams.of("placer")

    def order(request: Request) -> list[int]:
        return rng.sample(list(world.peers), min(TRIES, len(world.peers)))

    return _placing(world, order)


def _placing(world: World, order: Callable[[Request], list[int]]) -> Callable[[Letter], bool]:
    def places(letter: Letter) -> bool:
        request = letter.body
        if not isinstance(request, Request):
            return False
        for number in order(request):
            offer = world.peers[number].leaf.offered(request, world.now)
            if isinstance(offer, Offer):
                world.post(Letter(letter.sender, number, world.now, offer))
                return True
        world.post(Letter(letter.sender, letter.to, world.now, Reject(request.piece)))
        return True

    return places
