"""By when: deadlines. Sequences, their windows, a node's queue and its holes, summaries, and the way to a node.

Times are whole milliseconds, and work is power times time: one unit takes a node of power 1 one millisecond. What a
node does with its queue, and what is found in a summary, are functions over rows of numbers, which a kernel can compile
as they are (docs/decisions/0014).
"""
