"""The extension that marks model calls of Recollect itself: `learning()` does not record them."""

INTERNAL_REQUEST = "recollect"  # a key in the extensions of an HTTPX request
