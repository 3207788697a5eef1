"""Where placeholders can be started: other hosts, and the way to them."""
