"""One function per verb. The only way to write, and the only way agents read."""
