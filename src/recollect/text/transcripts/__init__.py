"""Readers for transcripts and exports of AI programs: one module per format, and shared parts."""
