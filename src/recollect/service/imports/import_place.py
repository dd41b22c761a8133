"""
Which project a conversation of the past belongs to, and whether that is the one asked for.

A conversation belongs where it was held; `--project` narrows an import to one project and never
moves a conversation from one project to another. Only what tells no place goes to the one asked
for.
"""

from pathlib import Path

from recollect.config import expand_home
from recollect.domain.project import ByName, ByPath, ByRemote, parse_reference, remote_names
from recollect.service.disk.git_checkout import find_checkout
from recollect.service.imports.history_source import ImportedConversation
from recollect.service.place_lookup import RequestPlace, find_viewer
from recollect.store.protocol import Tables


def place_for(tables: Tables, item: ImportedConversation, wanted: str | None) -> RequestPlace | None:
    """Return where *item* goes, or None where it belongs to another project than *wanted*."""
    held = RequestPlace(project=item.project) if item.project else RequestPlace()
    if wanted is None:
        return held
    told = item.transcript.folder or item.project
    if not told:
        return RequestPlace(project=wanted)
    return held if _is_same_project(tables, told, wanted) else None


def _is_same_project(tables: Tables, told: str, wanted: str) -> bool:
    """Say whether two ways to write a project mean one."""
    ids = [find_viewer(tables, RequestPlace(project=one)).project_id for one in (told, wanted)]
    known = [one for one in ids if one and tables.projects.project(one)]
    if len(known) == 2:
        return known[0] == known[1]
    # One of them was never seen here: what it would be known by decides.
    return bool(_identities(told) & _identities(wanted)) and not known


def _identities(written: str) -> set[str]:
    match parse_reference(written):
        case ByName(name):
            return {f"name {name.casefold()}"}
        case ByRemote(remote):
            return {f"remote {remote}", f"name {remote_names(remote)[0].casefold()}"}
        case ByPath(path):
            checkout = find_checkout(expand_home(path))
            names = remote_names(checkout.remote) if checkout.remote else [Path(checkout.root).name]
            marks = {f"root {checkout.root}", f"name {names[0].casefold()}"}
            return marks | ({f"remote {checkout.remote}"} if checkout.remote else set())
