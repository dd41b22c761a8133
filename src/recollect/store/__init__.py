"""The door to the database: a protocol every store must keep, and the SQLite store."""
