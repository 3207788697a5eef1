"""The parts of a peer: messages, its place in the tree, a branch, a leaf, an owner, and what it refuses."""
