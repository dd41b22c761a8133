"""The doors to models: embedders, local or behind HTTP."""
