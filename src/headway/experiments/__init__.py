"""The papers' evaluations, done again: one file for each table or figure."""
