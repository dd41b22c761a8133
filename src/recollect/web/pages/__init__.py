"""The pages: modules of routes, with a template for each page."""
