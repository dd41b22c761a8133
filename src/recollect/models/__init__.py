"""Clients of models: embedders, local or over HTTP, and chat models."""
