"""
Start the capture process detached from the hook: no shared terminal, pipe or session.

A client waits until every process that holds the hook's output has ended, so the new process must
not inherit it.
"""

import os
import subprocess
import sys
from typing import Any

CAPTURE_CODE = "from recollect.hooks.capture_process import main; main()"
# -P: a file in the current folder must not shadow a module.
CAPTURE_COMMAND = (sys.executable, "-P", "-c", CAPTURE_CODE)


def start_capture(*, db: str, server_url: str, folder: str) -> None:
    """Start a capture for the store *db*, or for the server at *server_url*, and return."""
    detached: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        detached = {"creationflags": flags}
    os.makedirs(folder, mode=0o700, exist_ok=True)
    process = subprocess.Popen(
        [*CAPTURE_COMMAND, db, server_url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,  # not the project's folder, which the user may want to remove
        **detached,
    )
    process.returncode = 0  # nobody waits for it: this prevents a ResourceWarning
