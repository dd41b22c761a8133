"""The search index over the tables of any database: words, vectors, and both together."""
