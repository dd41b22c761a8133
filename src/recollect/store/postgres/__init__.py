"""The PostgreSQL store: a schema of a database server, for many servers and workers at once."""
