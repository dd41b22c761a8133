"""Public benchmark files as their authors publish them, made into tasks."""
