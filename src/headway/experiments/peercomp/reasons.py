"""Why claims do not hold: what was measured apart from the report, each on little, to find out."""

from __future__ import annotations

_TABLE_2 = (
    "Best fit takes the smallest hole that is in time, which is on a slow peer, so a workflow is done little before its"
    " deadline. Where next to nothing else runs (load 5%, 2,048 nodes, priority 1.4) it is {idle} with best fit and"
    " {earliest} with earliest fit. What the paper leaves open changes less: at 50% load it is {half}, with equal"
    " powers {equal}, with powers up to 10,000 {wide}."
)
_BUSIEST = (
    "It is the root's peer in the very first second: the tree begins without any summaries, and requests go up to the"
    " root until children have told of what is free. After the first minute {rest}."
)
REASONS = {
    "laplace-table": _TABLE_2.format(idle="1.77", earliest="2.53", half="1.85", equal="1.75", wide="2.03"),
    "fork-join-table": _TABLE_2.format(idle="2.33", earliest="3.39", half="2.15", equal="1.91", wide="2.18"),
    "fork-join-flat": (
        "Room for the branches is asked for at once, and the owner waits for the slowest of the answers: the more there"
        " are, the slower it is. With 50 ms for every message it is 1.18, with our random delays 1.29 (8,192 nodes)."
    ),
    "hops": (
        "Only in the grid of 1,000, where twice the depth is ten. A leaf may refuse what its summary promised, and the"
        " branch then tries another hole: message by message none of 452 workflows without a refusal had a request of"
        " more than 8 hops, and the three with more than ten had met five or six refusals."
    ),
    "events-most": _BUSIEST.format(
        rest="34 of the 1,048,576 peers had more than 40 events in a second, at most 61: the busiest owned two"
        " workflows that came within a second"
    ),
    "out-most": _BUSIEST.format(rest="nobody sent more than 6,603 bytes in a second"),
    "in-75": (
        "A third of the peers own a workflow within the half hour, and the offers and confirmations for one reach its"
        " owner within a second: 1,558 bytes in the middle of the owners without a branch. Of those who own none 75%"
        " receive up to 974."
    ),
    "churn-misses": (
        "The four of --full were looked at. One owner had 38 s left and needed 24, while three of the seven branches"
        " above it were dead or gone and not yet missed: each of its repeated requests met one of them. Three owners"
        " had been away. Two came back with 3 and 9 s more than the work takes on the fastest peer; news between peers"
        " may take 4 of them, and the second found too few of the fastest peers free for seven jobs at once. The third"
        " had 66 s and needed 45, and waited 20 for the answer of a leaf that had died."
    ),
    "best-fit": (
        "The smallest hole that seems enough in a summary is more often not enough at the leaf: there are 0.60 refusals"
        " for each offer, with earliest fit 0.40 and with worst fit 0.46."
    ),
}
