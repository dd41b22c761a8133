"""
Replace what is specific to one machine or one moment in a skill by placeholders.

Local paths become `<project>`, `<home>`, `<tmp>` or `<path>`; a redacted secret becomes its kind; a
commit message becomes `<message>`. Paths that exist on every system (/etc, /usr/bin, /dev/null)
stay.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence

from recollect.domain.conversation import Message
from recollect.domain.tool_call import ActionKind
from recollect.engine.learn.tool_actions import Action
from recollect.text.lazy_pattern import LazyPattern
from recollect.text.redact import redact

_PLACEHOLDERS = {
    "<project>": "the root of the project",
    "<home>": "the home directory",
    "<tmp>": "a directory for temporary files",
    "<path>": "a directory of your own",
    "<message>": "what the commit is about",
}

_PATH_START = r"(?<![\w.~/<>\\-])"  # start of a path, not inside a word, a URL or another path
_HOME = LazyPattern(
    _PATH_START
    + r"(?:/(?:Users|home)/[^/\s\"'`:;,)]+|/root(?=/|\s|$)|[A-Za-z]:\\Users\\[^\\\s\"'`]+)"
)
_TMP = LazyPattern(
    _PATH_START + r"(?:/private)?(?:/var/folders/[\w+/]+?/T|/var/tmp|/tmp)(?=/|[\s\"'`:;,)]|$)"
)
_OTHER_PATH = LazyPattern(
    _PATH_START + r"/(?:mnt|media|Volumes|workspaces?|srv|data|work)(?:/[\w.@+-]+)*(?=/[\w.@+-]+)"
)
_REDACTED = LazyPattern(r"\[redacted:([a-z-]+)\]")
_BARE_REDACTED = LazyPattern(r"(?i)\[redacted[^\]\n]{0,40}\]|<redacted>|\*{3}redacted\*{3}")
_COMMIT_MESSAGE = LazyPattern(
    r"(git commit\b[^&|;\n\"']{0,80}?\s-(?:a?m|-message[ =])\s*)"
    r"(?:\"\$\(cat <<.{0,4000}?\n\s*\)\"|\"(?:[^\"\\]|\\.)*\"|'[^']*')",
    flags=re.DOTALL,
)
_CD_PROJECT = LazyPattern(r"^(?:cd\s+(?:<project>|\"<project>\"|'<project>')\s*(?:&&|;)\s*)+")


def project_root(messages: Sequence[Message], actions: Iterable[Action]) -> str:
    """Return the directory the work was done in, or '' if it is unknown."""
    for message in messages:
        cwd = message.metadata.get("cwd")
        if isinstance(cwd, str) and cwd.startswith("/") and len(cwd) > 1:
            return cwd.rstrip("/")
    files = {
        path
        for action in actions
        if action.kind in (ActionKind.CHANGE, ActionKind.INSPECT)
        for path in action.subject.split("\n")
        if path.startswith("/") and "\0" not in path
    }
    if not files:
        return ""
    dirs = [posixpath.dirname(path) if "." in posixpath.basename(path) else path for path in files]
    common = posixpath.commonpath(sorted(dirs))
    # A home directory or a top-level directory is not a project.
    is_deep = common.count("/") >= (3 if common.startswith(("/home/", "/Users/")) else 1)
    is_shared = common in ("/", "/tmp", "/home", "/Users", "/etc", "/usr", "/var", "/root", "/opt")
    return common if is_deep and not is_shared else ""


def generalize(text: str, root: str = "") -> str:
    """Return *text* with everything specific to one machine replaced by placeholders."""
    text = redact(text).text
    if root:
        inside = re.compile(_PATH_START + re.escape(root) + r"(?=/|[\s\"'`:;,)&|]|$)")
        text = inside.sub("<project>", text)
    text = _HOME.sub("<home>", text)
    text = _TMP.sub("<tmp>", text)
    text = _OTHER_PATH.sub("<path>", text)
    return _BARE_REDACTED.sub("<secret>", _REDACTED.sub(r"<\1>", text))


def generalize_command(command: str, root: str = "") -> str:
    """Return *command* as it would be run from the project root on another machine."""
    command = generalize(command, root)
    command = _COMMIT_MESSAGE.sub(r'\1"<message>"', command)
    return _CD_PROJECT.sub("", command).strip()


def relative_path(path: str, root: str = "") -> str:
    """Return *path* relative to the project root."""
    return generalize(path, root).removeprefix("<project>/")


def placeholder_legend(text: str) -> str:
    """Return a sentence that explains the placeholders in *text*, or '' if it has none."""
    entries = [f"`{mark}` is {meaning}" for mark, meaning in _PLACEHOLDERS.items() if mark in text]
    return ("; ".join(entries) + ".") if entries else ""
