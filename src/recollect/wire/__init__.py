"""The HTTP contract, shared by server and client: routes, bodies, problems. It does no I/O."""
