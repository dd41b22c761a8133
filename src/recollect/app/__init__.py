"""The composition root and the Python door: settings in, a memory with its verbs out."""

from recollect.app.root import Recollect

__all__ = ["Recollect"]
