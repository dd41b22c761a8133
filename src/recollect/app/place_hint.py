"""What to do if a command finds nothing because its project goes by another name or place."""

from pathlib import Path

from recollect.app.local_recollect import LocalRecollect
from recollect.domain.project import moved_folder_hint, unknown_name_hint
from recollect.service.place_lookup import project_identity


def place_hint(rec: LocalRecollect, reference: str) -> str:
    """Return what to do if a project is not known by this name or at this place, or ''."""
    projects = rec.projects.list()
    identity = project_identity(reference)
    if Path(identity).is_absolute():
        return moved_folder_hint(identity, projects, lambda path: Path(path).exists())
    return unknown_name_hint(reference, projects)


def searched_place_hint(rec: LocalRecollect, folder: str) -> str:
    """Return how to search more than the global memories, from *folder*."""
    identity = project_identity(folder)
    for project in rec.projects.list():
        if project.identity == identity:
            return f"This folder is the project {project.name}: add --project . for its memories."
    return "Add --project NAME for the memories of a project."
