"""Hooks of coding agents: inject memory into a session, and capture its transcript."""
