"""The Python API: `Recollect` with its verbs and nouns, the same for a local store and a server."""
