"""The evaluation of opportunistic.txt, done again."""
