"""The composition root: settings in, a local `Recollect` out."""
