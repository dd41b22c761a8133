"""
Check that the package `mcp` is installed, which is an extra of Recollect.

Other packages pin older versions of it, so Recollect does not require it. This file imports nothing
of it.
"""

from importlib.metadata import PackageNotFoundError, version

from recollect.errors import PackageMissing

PACKAGE = "mcp"
OLDEST = (2, 1)
INSTALL = "pip install '.[mcp]' (in the checkout of Recollect)"


def require_mcp_package() -> None:
    """Raise `PackageMissing` if the package `mcp` is not installed, or is too old."""
    try:
        installed = version(PACKAGE)
    except PackageNotFoundError:
        raise PackageMissing(
            f"MCP needs the package {PACKAGE}, which is not installed; run: {INSTALL}"
        ) from None
    if tuple(int(part) for part in installed.split(".")[:2] if part.isdigit()) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise PackageMissing(
            f"MCP needs the package {PACKAGE} {oldest} or later, and {installed} is installed; "
            f"run in an environment of its own: {INSTALL}"
        )
