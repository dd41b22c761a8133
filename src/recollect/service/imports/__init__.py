"""Bring the past in: what other programs keep of earlier sessions, as sources and candidates."""
