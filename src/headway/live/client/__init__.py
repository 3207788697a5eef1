"""The line to a runner: starts it, connects to it, asks it, watches it."""
