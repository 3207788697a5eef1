"""Ways from a runner to its store: in the same process, or at the other end of a pipe."""
