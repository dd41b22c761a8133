"""The tools: one file for each, against the Python door."""
