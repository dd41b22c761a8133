"""The `recollect` command. Works on the file itself; no server is needed."""
