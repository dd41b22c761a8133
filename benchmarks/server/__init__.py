"""What the memory server and `learning()` cost: load, kills, overhead, start, a profile."""
