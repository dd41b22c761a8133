"""
Sign a request to AWS again after its body was changed.

AWS refuses a request whose body differs from its signature (SigV4), and a request does not contain
the secret to sign it with. The vendors' packages sign with botocore. While a session is open, the
credentials that botocore signs with are remembered, so that a changed request is signed with the
same ones. A request that something else signed cannot be changed: then the call is only recorded.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

MAX_REMEMBERED = 16  # access keys
_ALGORITHM = "AWS4-HMAC-SHA256"
_SIGNING_HEADERS = ("authorization", "x-amz-date", "x-amz-security-token")
_PAYLOAD_HASH = "x-amz-content-sha256"

Method = Callable[..., Any]

_credentials: OrderedDict[str, Any] = OrderedDict()  # by access key


def is_signed(request: Any) -> bool:
    """Return whether a request has a signature of AWS."""
    return str(request.headers.get("authorization", "")).startswith(_ALGORITHM)


def sign_again(request: Any) -> bool:
    """Sign a changed request with the credentials it was signed with; return False if unknown."""
    access_key, region, service = _credential_scope(request.headers["authorization"])
    credentials = _credentials.get(access_key)
    if credentials is None:
        return False
    # The caller's program has loaded it: it signed the request before it was changed.
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    for name in _SIGNING_HEADERS:
        request.headers.pop(name, None)
    if _PAYLOAD_HASH in request.headers:
        request.headers[_PAYLOAD_HASH] = hashlib.sha256(request.content).hexdigest()
    # A proxy may remove `connection`, so it is not signed.
    headers = {name: value for name, value in request.headers.items() if name != "connection"}
    signed = AWSRequest(
        method=request.method, url=str(request.url), headers=headers, data=request.content
    )
    SigV4Auth(credentials, service, region).add_auth(signed)
    request.headers.update(dict(signed.headers.items()))
    return True


def remember_credentials(original: Method) -> Method:
    """Return botocore's `SigV4Auth.add_auth`, which also remembers the credentials."""

    def add_auth(self: Any, request: Any) -> Any:
        result = original(self, request)  # a refresh of the credentials has happened after it
        credentials = self.credentials
        frozen = getattr(credentials, "get_frozen_credentials", None)
        credentials = frozen() if callable(frozen) else credentials
        _credentials[credentials.access_key] = credentials
        _credentials.move_to_end(credentials.access_key)
        while len(_credentials) > MAX_REMEMBERED:
            _credentials.popitem(last=False)
        return result

    return add_auth


def forget_credentials() -> None:
    """Forget the credentials of all requests."""
    _credentials.clear()


def _credential_scope(authorization: str) -> tuple[str, str, str]:
    """Return key, region and service of `Credential=KEY/DATE/REGION/SERVICE/aws4_request`."""
    scope = authorization.partition("Credential=")[2].partition(",")[0].strip().split("/")
    if len(scope) != 5:
        return "", "", ""
    return scope[0], scope[2], scope[3]
