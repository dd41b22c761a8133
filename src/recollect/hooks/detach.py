"""
Start the process that captures, and let go of it: no terminal, no pipe, no session in common.

The hook's client waits until nobody holds its output any more; so the new process holds none.
"""

import os
import subprocess
import sys
from typing import Any

# -P: a file in the present folder must not stand in for a module.
ITSELF = (sys.executable, "-P", "-c", "from recollect.hooks.capture import main; main()")


def start_capture(*, db: str, server_url: str, folder: str) -> None:
    """Start it for the store *db*, or for the server at *server_url*; it goes on alone."""
    alone: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        alone = {"creationflags": flags}
    os.makedirs(folder, mode=0o700, exist_ok=True)
    process = subprocess.Popen(
        [*ITSELF, db, server_url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,  # not the project's: it might want to go
        **alone,
    )
    process.returncode = 0  # nobody waits for it, and nobody shall warn of that
