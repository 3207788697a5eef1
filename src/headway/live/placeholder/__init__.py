"""The local placeholder: a runner that outlives whoever started it."""
