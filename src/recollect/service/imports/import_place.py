"""
Decide which project an imported conversation belongs to.

A conversation belongs to the project of its own folder; `--project` narrows an import to one
project and never moves a conversation to another. Only a conversation without a folder goes to the
project of the option.
"""

from recollect.domain.project import ByName, parse_reference
from recollect.service.imports.history_source import ImportedConversation
from recollect.service.place_lookup import RequestPlace, find_viewer, project_identity
from recollect.store.protocol import Tables


def place_for(
    tables: Tables, conversation: ImportedConversation, project: str | None
) -> RequestPlace | None:
    """Return where a conversation goes, or None if it belongs to another project than *project*."""
    own = RequestPlace(project=conversation.project or None)
    if project is None:
        return own
    own_project = conversation.transcript.folder or conversation.project
    if not own_project:
        return RequestPlace(project=project)
    return own if _is_same_project(tables, own_project, project) else None


def _is_same_project(tables: Tables, reference: str, other: str) -> bool:
    """Return whether two references (name, path or remote) mean the same project."""
    ids = [
        find_viewer(tables, RequestPlace(project=name)).project_id for name in (reference, other)
    ]
    known_ids = [id for id in ids if id and tables.projects.project(id)]
    if len(known_ids) == 2:
        return known_ids[0] == known_ids[1]
    # At least one is not in the store: compare what it would be known by.
    return not known_ids and _identity(reference) == _identity(other)


def _identity(reference: str) -> str:
    match parse_reference(reference):
        case ByName(name):
            return f"name {name.casefold()}"
        case _:
            return f"place {project_identity(reference)}"
