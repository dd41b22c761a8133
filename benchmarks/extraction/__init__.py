"""Measure which facts the rules extract, without a language model."""
