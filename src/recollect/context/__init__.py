"""Build the context for a model call: bundles, blocks, history and summaries."""
