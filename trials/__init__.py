"""Trials with the real clients, which are not part of the tests."""
