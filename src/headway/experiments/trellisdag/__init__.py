"""Section 4 of trellisdag.txt, done again: the endgame databases of 4 against 3 pieces."""
