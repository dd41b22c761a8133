"""How well consolidation tells an update from an unrelated fact."""
