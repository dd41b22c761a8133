"""The extractive summary, and what a model is asked for one."""
