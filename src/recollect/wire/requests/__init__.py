"""One request model per verb, in one file per noun of the Python API."""
