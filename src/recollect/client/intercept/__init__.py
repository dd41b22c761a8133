"""How calls to language models are recognised, given memory, and overheard."""
