# /// script
# requires-python = ">=3.11"
# dependencies = ["recollect[mcp]"]
#
# [tool.uv.sources]
# recollect = { path = ".", editable = true }
# ///
"""
The memory server, run from a checkout: `uv run server.py`.

It takes the options of `recollect serve` and the environment variables of the README's settings.
"""

import sys

from recollect.cli.main import main

if __name__ == "__main__":
    main(["serve", *sys.argv[1:]])
