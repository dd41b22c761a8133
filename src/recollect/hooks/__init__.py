"""Hooks of coding agents: what memory says when a session begins, and what it keeps of it."""
