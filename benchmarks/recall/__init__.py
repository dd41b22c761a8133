"""Measure an agent's conversations: append, search, context, compaction."""
