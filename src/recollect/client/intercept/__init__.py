"""Intercept calls to language models: add memory to requests and record responses."""
