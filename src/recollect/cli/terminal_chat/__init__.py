"""The terminal chat behind `recollect chat`, written against the public Python API alone."""
