"""The pages: one module of routes each, with one template."""
