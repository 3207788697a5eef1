"""The local placeholder: a runner that outlives the process that started it."""
