"""Files between a caller's disk and a server: exports come down whole, imports go up."""

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError

from recollect.client.connection import Connection, no_memory
from recollect.client.material import path_of
from recollect.client.plain import plain
from recollect.client.whole_file import whole_file
from recollect.domain.portability import AgentExport, AgentImport
from recollect.domain.upkeep import Imported
from recollect.errors import InvalidInput, RecollectError
from recollect.wire.routes import EXPORTS, IMPORTS, PREFIX, RESULT_HEADER, SENT_FILE, Route
from recollect.wire.segment import filled

PIECE = 1_000_000


class Transfers:
    """Verbs that write or read a file of the caller's."""

    _connection: Connection

    def export(self, path: str | PathLike[str]) -> int:
        """Write everything to one file (`.gz` compresses); return the number of rows."""
        rows: int = self._fetch(EXPORTS["export"], path, {})
        return rows

    def import_(self, path: str | PathLike[str]) -> Imported:
        """Add everything of an exported file, all or none."""
        added: Imported = self._hand_over(IMPORTS["import_"], path, {})
        return added

    def export_agent(
        self, agent: Any, path: str | PathLike[str], *, format: str = "recollect"
    ) -> AgentExport:
        """Write an agent to one file (`.gz` compresses)."""
        written: AgentExport = self._fetch(
            EXPORTS["export_agent"], path, {"agent": agent, "format": format}
        )
        return replace(written, path=str(path_of(path)))

    def import_agent(self, path: str | PathLike[str], name: str | None = None) -> AgentImport:
        """Make an agent, with new ids, from a file of either format; *name* gives it another."""
        made: AgentImport = self._hand_over(IMPORTS["import_agent"], path, {"name": name})
        return made

    def _fetch(self, route: Route, path: str | PathLike[str], given: dict[str, Any]) -> Any:
        target = path_of(path)
        values = plain(given)
        url = PREFIX + filled(route.path, {name: values.pop(name) for name in route.in_path})
        query = {**values, "compress": target.suffix == ".gz"}
        with self._connection.streamed("GET", url, query=query) as response:
            try:
                result = TypeAdapter(route.returns).validate_json(response.headers[RESULT_HEADER])
            except (KeyError, ValidationError) as error:
                raise no_memory(self._connection.url, response.status_code) from error
            with whole_file(target) as file:
                for piece in response.iter_bytes(PIECE):
                    file.write(piece)
        return result

    def _hand_over(self, route: Route, path: str | PathLike[str], given: dict[str, Any]) -> Any:
        source = path_of(path)
        try:
            with source.open("rb") as file:
                response = self._connection.send_once(
                    "POST",
                    PREFIX + route.path,
                    params={
                        name: value for name, value in plain(given).items() if value is not None
                    },
                    content=_pieces(file),
                    headers={"content-type": "application/octet-stream", **self._connection.key()},
                )
        except (OSError, ValueError) as error:
            raise InvalidInput(f"cannot read {source}: {error}") from error
        except RecollectError as error:
            error.args = (str(error).replace(SENT_FILE, str(source)),)
            raise
        return TypeAdapter(route.returns).validate_json(response.content)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece
