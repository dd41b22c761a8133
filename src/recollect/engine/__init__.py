"""The background work that follows a write."""
