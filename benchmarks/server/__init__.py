"""Measure the memory server and `learning()`: load, kills, overhead, start, a profile."""
