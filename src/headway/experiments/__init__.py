"""The papers' dags, and their evaluations done again: one file for each table or figure."""
