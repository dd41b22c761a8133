"""Requests for projects."""

from recollect.domain.project import Project
from recollect.wire.fields import Place
from recollect.wire.request import VerbRequest


class ListProjectsRequest(VerbRequest[list[Project]], route="GET /projects"):
    """Return every project of the store."""


class LinkProjectsRequest(VerbRequest[Project], route="POST /projects/link"):
    """Make a project part of another, so that both references mean the same."""

    project: Place
    other: Place


class UnlinkProjectRequest(VerbRequest[Project], route="POST /projects/unlink"):
    """Make a linked project one of its own again."""

    project: Place
