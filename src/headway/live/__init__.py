"""The real world: files, processes, and later stores and hosts."""
