"""The jobs database."""
