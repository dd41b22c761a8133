"""Find what is worth remembering in a source, by rules."""
