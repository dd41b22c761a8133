"""The SQLite store: one file, one writer at a time, many readers, many processes."""
