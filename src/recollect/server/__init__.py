"""The memory server: HTTP in, verbs, JSON out. It holds no rule of its own about memory."""
