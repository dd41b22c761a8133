"""
Recognise a store file again: it may be moved or replaced, but a copy is another store.

A fingerprint has two hashes: of the machine and the path, and of the machine and the number of the
file in its file system. One of them stays if the file is moved, or restored in its place; neither
stays if it is copied to another path or another machine. A machine is known by the id of its
operating system, not by its name: names change.
"""

import hashlib
import sys
from pathlib import Path

_ID_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))


def fingerprint_of(store: Path) -> str:
    """Return the fingerprint of a store file that exists."""
    path, machine = store.resolve(), machine_id()
    entry = path.stat()
    return f"{_hash(machine, str(path))} {_hash(machine, f'{entry.st_dev} {entry.st_ino}')}"


def is_same_store(first: str, second: str) -> bool:
    """Return whether two fingerprints have a hash in common."""
    return bool(set(first.split()) & set(second.split()))


if sys.platform == "win32":
    import winreg

    def machine_id() -> str:
        """Return the id of this installation of the operating system, '' if it has none."""
        try:
            with winreg.OpenKey(
                winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography"
            ) as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0])
        except OSError:
            return ""

elif sys.platform == "darwin":
    import ctypes

    def machine_id() -> str:
        """Return the id of this machine, '' if it has none."""
        uuid, no_wait = (ctypes.c_ubyte * 16)(), (ctypes.c_long * 2)(0, 0)
        failed = ctypes.CDLL(None).gethostuuid(uuid, no_wait)
        return "" if failed else bytes(uuid).hex()

else:

    def machine_id() -> str:
        """Return the id of this installation of the operating system, '' if it has none."""
        for file in _ID_FILES:
            try:
                return file.read_text().strip()
            except OSError:
                continue
        return ""  # as in most containers: path and file number have to do


def _hash(machine: str, place: str) -> str:
    return hashlib.sha256(f"{machine}\0{place}".encode()).hexdigest()[:16]
