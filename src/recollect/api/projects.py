"""Projects."""

from os import PathLike

from recollect.api.verb_group import VerbGroup
from recollect.domain.project import Project
from recollect.wire.requests import projects as requests


class Projects(VerbGroup):
    """
    Projects.

    A git remote, a folder without one, and a name that a person gave are three different
    identities: a clone of `evil/payments` is not the project "payments" until a person links them.
    """

    def list(self) -> list[Project]:
        """Return every project."""
        return self._send(requests.ListProjectsRequest, locals())

    def link(self, project: str | PathLike[str], other: str | PathLike[str]) -> Project:
        """
        Make *other* part of *project*, so that both mean the same; return *project*.

        Reads see the memories of both, and new ones belong to *project*. `unlink` undoes it.
        """
        return self._send(requests.LinkProjectsRequest, locals())

    def unlink(self, project: str | PathLike[str]) -> Project:
        """Make a linked project one of its own again, with the memories that it had."""
        return self._send(requests.UnlinkProjectRequest, locals())
