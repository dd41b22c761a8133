"""The doors to models: embedders, local or behind HTTP, and chat models."""
