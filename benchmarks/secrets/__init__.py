"""Whether redaction removes secrets from text, and nothing else."""
