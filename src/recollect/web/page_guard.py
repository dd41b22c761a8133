"""
The rules for requests of browsers: where they may come from, and the headers of responses.

A page on another port of this machine is "same-site" to a browser: it sends our cookie. So a
request is accepted only if the browser says that it comes from this origin or from the user
(`Sec-Fetch-Site: same-origin` or `none`). A browser that does not say so must send an Origin that
is exactly this host if the request can change something.
"""

from collections.abc import Mapping

SAFE_METHODS = frozenset({"GET", "HEAD"})
PAGES = "/ui"
ENTER = "/enter"

SECURITY_HEADERS: Mapping[str, str] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def is_page_path(path: str) -> bool:
    """Return whether *path* belongs to the pages, which have sessions instead of the token."""
    return path in (ENTER, PAGES) or path.startswith(f"{PAGES}/")


def foreign_request(method: str, headers: Mapping[str, str]) -> str | None:
    """Return why a request is refused that does not come from our own pages, or None."""
    site = headers.get("sec-fetch-site")
    if site is not None:
        if site.strip().lower() in ("same-origin", "none"):
            return None
        return "This request comes from another page. Open Recollect's pages directly."
    if method in SAFE_METHODS:
        return None
    host, origin = headers.get("host", ""), headers.get("origin", "")
    if origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower()) and host:
        return None
    return "This request does not say that it comes from Recollect's own pages."


def cookie_name(host: str, purpose: str) -> str:
    """Return the name of a cookie: browsers share cookies between the ports of a host."""
    port = host.rpartition(":")[2]
    return f"recollect_{purpose}_{port if port.isdigit() else '80'}"
