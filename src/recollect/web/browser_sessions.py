"""
Sessions of browsers: a one-time code becomes a cookie.

`recollect open` proves with the server's key, which only the user who started the server can read,
that it may enter. It gets a code that is valid for a minute and for one use. The browser exchanges
the code for a session cookie. Codes and sessions are in memory only, so they end with the server.

A session also remembers what its user did here: decisions that can be undone, candidates put off,
and a notice for the next page.
"""

import hmac
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import field

from recollect.domain.maintenance import Receipt
from recollect.lazy_dataclass import dataclass
from recollect.web.review_queue import ReviewQueue

CODE_VALID_S = 60.0
MAX_CODES = 64
MAX_SESSIONS = 256  # the least recently used one is dropped
MAX_UNDO = 10_000
MAX_RECEIPTS = 20


@dataclass(frozen=True, kw_only=True)
class ReviewDecision:
    """One decision that can be undone: the verdict and the memories it was about."""

    verdict: str
    memory_ids: tuple[str, ...]


@dataclass
class BrowserSession:
    """What the server remembers about one browser. Lists grow at their end."""

    decisions: list[ReviewDecision] = field(default_factory=list)
    put_off: dict[str, None] = field(default_factory=dict)  # ids of candidates, in order
    queue: ReviewQueue = field(default_factory=ReviewQueue)
    notice: str = ""  # shown once, on the next page
    receipts: dict[str, Receipt] = field(default_factory=dict)

    def add_decision(self, decision: ReviewDecision) -> None:
        """Remember a decision; the oldest of very many are forgotten."""
        self.decisions.append(decision)
        del self.decisions[:-MAX_UNDO]

    def keep_receipt(self, receipt: Receipt) -> str:
        """Remember the receipt of something forgotten; return its name."""
        name = secrets.token_urlsafe(8)
        self.receipts[name] = receipt
        while len(self.receipts) > MAX_RECEIPTS:
            del self.receipts[next(iter(self.receipts))]
        return name

    def take_notice(self) -> str:
        """Return the notice and remove it."""
        notice, self.notice = self.notice, ""
        return notice

    def count(self, verdict: str) -> int:
        """Return how many memories were decided so in this session."""
        return sum(
            len(decision.memory_ids) for decision in self.decisions if decision.verdict == verdict
        )


class BrowserSessions:
    """The codes and sessions of one server. *clock* returns seconds. Safe for threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.key = secrets.token_urlsafe(32)  # proves that a program runs as the server's user
        self._clock = clock
        self._codes: OrderedDict[str, float] = OrderedDict()  # code: when it ends
        self._sessions: OrderedDict[str, BrowserSession] = OrderedDict()
        self._lock = threading.Lock()

    def mint_code(self, key: str) -> str | None:
        """Return a new one-time code, or None if *key* is not the key of this server."""
        if not hmac.compare_digest(key.encode(), self.key.encode()):
            return None
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._codes[code] = self._clock() + CODE_VALID_S
            while len(self._codes) > MAX_CODES:
                self._codes.popitem(last=False)
        return code

    def enter(self, code: str) -> str | None:
        """Exchange a code for the value of a session cookie; None if the code is not valid."""
        with self._lock:
            ends_at = self._codes.pop(code, None)
            if ends_at is None or self._clock() > ends_at:
                return None
            cookie = secrets.token_urlsafe(32)
            self._sessions[cookie] = BrowserSession()
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
            return cookie

    def find(self, cookie: str) -> BrowserSession | None:
        """Return the session of a cookie, or None."""
        with self._lock:
            session = self._sessions.get(cookie)
            if session is not None:
                self._sessions.move_to_end(cookie)
            return session
