"""Letta's REST interface under /v1, so that `letta-client` works with this server unchanged."""
