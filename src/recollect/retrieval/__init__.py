"""Question in, ranked and explained results out. Reads the store through its protocol only."""
