"""The rules of progress: no clock, no I/O. What happened goes in, what to change comes out."""
