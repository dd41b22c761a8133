"""Transcripts of agents and people, whatever program wrote them, understood as what was said."""
