"""What a real HTCondor makes of our files."""
