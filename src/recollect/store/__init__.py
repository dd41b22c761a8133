"""The database: the protocol of a store, and its SQLite implementation."""
