"""Pure functions on text: cleaning, redaction, words, chunks, tokens, fingerprints."""
