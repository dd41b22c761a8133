"""Pure functions on text: transcripts, redaction, dates, sentences, extraction rules, tokens."""
