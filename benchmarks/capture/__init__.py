"""Measure capturing and processing a long transcript without a language model."""
