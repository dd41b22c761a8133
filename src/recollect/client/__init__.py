"""The HTTP client with the verbs of a memory, and `learning()` around a vendor's client."""
