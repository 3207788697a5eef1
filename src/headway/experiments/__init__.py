"""The papers' dags, figures and claims."""
