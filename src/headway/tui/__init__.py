"""What people browse in a terminal, with Textual (the extra `tui`)."""
