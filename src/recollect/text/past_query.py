"""
Whether a question is about past sessions: what was done, discussed or decided there.

Such a question is answered by the records of sessions. Any other question is answered by what was
said in them, and a record would only repeat that.
"""

from recollect.text.lazy_pattern import LazyPattern

_ABOUT_SESSIONS = LazyPattern(
    r"\b(?:sessions?|conversations?|chats?|talks?|meetings?|recap|summar\w+|history|progress|so far"
    r"|last time|previously|earlier today|left off|yesterday|the other day)\b"
    r"|\b(?:last|past|previous|this) (?:week|month|year|night|few \w+"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|\b(?:did|have|had|were|was) (?:i|we|you|us)\b.{0,40}\b(?:do|done|doing|work\w*|discuss\w*"
    r"|talk\w*|ask\w*|decide\w*|say|said|mention\w*|tell|told|change|edit|fix)\b"
    r"|\bwh(?:at|ich \w+) (?:was|were|has been|have been) (?:done|decided|discussed|changed)\b"
    r"|\b(?:i|we|you) (?:were|was) (?:working|talking|discussing)\b"
)


def asks_about_sessions(query: str) -> bool:
    """Return whether *query* asks about past sessions."""
    return bool(_ABOUT_SESSIONS.search(query.lower()))
