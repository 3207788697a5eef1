"""The shared store with all that people ask and say; what runs jobs does without, and need not import it."""

from __future__ import annotations

from headway.live.store.past import Past
from headway.live.store.postgres import PostgresStore


class WholePostgresStore(PostgresStore, Past):
    """Keeps to protocol.Store."""
