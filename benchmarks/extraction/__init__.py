"""How well the extractor finds what is worth remembering, without a language model."""
