"""The nouns of Headway: no I/O, no clock, no randomness."""
