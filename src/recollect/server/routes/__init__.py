"""The endpoints, one file per group. Each is a function from a memory to a router."""
