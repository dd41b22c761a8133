"""Learned judges: which sentences are worth remembering, and how two statements relate."""
