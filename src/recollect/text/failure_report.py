"""
Recognise reports of technical failures: "I get a TypeError when I run the tests".

Such a sentence often begins with "I", but it is about the work at hand: a pitfall of the project,
not a fact about the person. "I failed my driving test" is not a failure report.
"""

from recollect.text.lazy_pattern import LazyPattern

_NAMED_ERROR = LazyPattern(
    r"\b[A-Z]\w*(?:Error|Exception)\b|\bSIG(?:SEGV|KILL|TERM|ABRT)\b"
    r"|\b(?:ECONN[A-Z]+|ETIMEDOUT|ENOENT|EACCES|EPERM|EADDRINUSE|EMFILE|ENOSPC|EPIPE|ENOTFOUND)\b"
)
_FAILURE = LazyPattern(
    r"\b(?:segfaults?|segmentation fault|traceback|stack ?trace|core dump|permission denied"
    r"|out of memory|oom(?:-?killed)?|null pointer|exit code \d+|http [45]\d\d)\b"
    r"|\b(?:gets?|getting|got|throws?|threw|hits?|hitting|ran into|run into|runs into|raises?)"
    r" (?:\S+ ){0,4}(?:errors?|exceptions?)\b"
    r"|\b(?:tests?|builds?|deploys?|deployments?|pipelines?|migrations?|scripts?|jobs?|suite|ci"
    r"|compiler|installer|linter|server|container)"
    r" (?:\w+ )?(?:fails?|failed|failing|breaks?|broke|crash(?:es|ed|ing)?|hangs?|hung)\b"
)


def reports_failure(text: str) -> bool:
    """Return whether *text* reports that a program failed."""
    return bool(_NAMED_ERROR.search(text) or _FAILURE.search(text.lower()))
