"""What it costs to capture a long transcript and to work it off without a language model."""
