"""Whole stores as rows: exports, imports, merging, checks. Written once for every database."""
