"""Sync between devices: records with version vectors, and the files in which they travel."""
