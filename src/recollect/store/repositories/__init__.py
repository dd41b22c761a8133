"""Repositories: the rows of each concept as domain records, for every database."""
