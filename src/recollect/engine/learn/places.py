"""
What of a command or a text belongs to one machine or one moment, made into placeholders.

Paths of a person's disk become `<project>`, `<home>`, `<tmp>` or `<path>`; redacted secrets become
their kind; the message of a commit becomes `<message>`. Paths that every system has (/etc,
/usr/bin, /dev/null) stay.
"""

import posixpath
import re
from collections.abc import Iterable, Sequence

from recollect.domain.conversation import Message
from recollect.engine.learn.actions import Action, Kind
from recollect.text.patterns import Pattern
from recollect.text.redact import redact

_PLACEHOLDERS = {
    "<project>": "the root of the project",
    "<home>": "the home directory",
    "<tmp>": "a directory for temporary files",
    "<path>": "a directory of your own",
    "<message>": "what the commit is about",
}

_BEFORE = r"(?<![\w.~/<>\\-])"  # a path begins here, not inside a word, an address or another path
_HOME = Pattern(
    _BEFORE + r"(?:/(?:Users|home)/[^/\s\"'`:;,)]+|/root(?=/|\s|$)|[A-Za-z]:\\Users\\[^\\\s\"'`]+)"
)
_TMP = Pattern(
    _BEFORE + r"(?:/private)?(?:/var/folders/[\w+/]+?/T|/var/tmp|/tmp)(?=/|[\s\"'`:;,)]|$)"
)
_OWN = Pattern(
    _BEFORE + r"/(?:mnt|media|Volumes|workspaces?|srv|data|work)(?:/[\w.@+-]+)*(?=/[\w.@+-]+)"
)
_MARK = Pattern(r"\[redacted:([a-z-]+)\]")
_BARE_MARK = Pattern(r"(?i)\[redacted[^\]\n]{0,40}\]|<redacted>|\*{3}redacted\*{3}")
_COMMIT = Pattern(
    r"(git commit\b[^&|;\n\"']{0,80}?\s-(?:a?m|-message[ =])\s*)"
    r"(?:\"\$\(cat <<.{0,4000}?\n\s*\)\"|\"(?:[^\"\\]|\\.)*\"|'[^']*')",
    flags=re.DOTALL,
)
_GO = Pattern(r"^(?:cd\s+(?:<project>|\"<project>\"|'<project>')\s*(?:&&|;)\s*)+")


def project_root(messages: Sequence[Message], actions: Iterable[Action]) -> str:
    """Return the directory the work was done in, '' where nothing tells it."""
    for message in messages:
        place = message.metadata.get("cwd")
        if isinstance(place, str) and place.startswith("/") and len(place) > 1:
            return place.rstrip("/")
    files = {
        path
        for action in actions
        if action.kind in (Kind.CHANGE, Kind.LOOK)
        for path in action.subject.split("\n")
        if path.startswith("/") and "\0" not in path
    }
    if not files:
        return ""
    folders = [
        path if "." not in posixpath.basename(path) else posixpath.dirname(path) for path in files
    ]
    common = posixpath.commonpath(sorted(folders))
    # Above a person's own folder, and at the root of everything, there is no project.
    deep = common.count("/") >= (3 if common.startswith(("/home/", "/Users/")) else 1)
    shared = common in ("/", "/tmp", "/home", "/Users", "/etc", "/usr", "/var", "/root", "/opt")
    return common if deep and not shared else ""


def general(text: str, root: str = "") -> str:
    """Return *text* with what belongs to one machine replaced by placeholders."""
    text = redact(text).text
    if root:
        inside = re.compile(_BEFORE + re.escape(root) + r"(?=/|[\s\"'`:;,)&|]|$)")
        text = inside.sub("<project>", text)
    text = _HOME.sub("<home>", text)
    text = _TMP.sub("<tmp>", text)
    text = _OWN.sub("<path>", text)
    return _BARE_MARK.sub("<secret>", _MARK.sub(r"<\1>", text))


def general_command(command: str, root: str = "") -> str:
    """Return *command* as somebody else would run it, from the root of the project."""
    command = general(command, root)
    command = _COMMIT.sub(r'\1"<message>"', command)
    return _GO.sub("", command).strip()


def file_name(path: str, root: str = "") -> str:
    """Return *path* as seen from the root of the project."""
    return general(path, root).removeprefix("<project>/")


def legend(text: str) -> str:
    """Return a sentence that explains the placeholders in *text*, '' where there are none."""
    told = [f"`{mark}` is {what}" for mark, what in _PLACEHOLDERS.items() if mark in text]
    return ("; ".join(told) + ".") if told else ""
