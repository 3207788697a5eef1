"""The folder of a store (`.headway`): where it is, who owns it, what is in it."""
