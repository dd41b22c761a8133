"""The mark on requests that a memory itself makes to a model: they are nobody's conversation."""

OURS = "recollect"  # among the extensions of an HTTPX request
