"""The memory server: HTTP in, verbs, JSON out. The composition root is below; no rule lives here."""
