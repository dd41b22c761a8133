"""A server with users in this process, and a client for each of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from in_process_server import LOCAL
from recollect import LocalRecollect
from recollect.app.user_recollect import UserRecollect
from recollect.config import Settings
from recollect.server.user_dispatcher import UserDispatcher
from recollect.server.web_app import web_app
from support import FakeClock
from team_requests import routes_of


class TeamServer:
    """A server, its first store, and the tokens of its users."""

    def __init__(self, rec: LocalRecollect, app: Any, client: TestClient, clock: FakeClock) -> None:
        self.rec = rec
        self.clock = clock
        self.client = client
        self.tokens: dict[str, str] = {}
        self._app = app

    @property
    def dispatcher(self) -> UserDispatcher:
        dispatcher: UserDispatcher = self._app.state.dispatcher
        return dispatcher

    @property
    def routes(self) -> set[tuple[str, str]]:
        """Method and path of every route: of the application, and those about the team."""
        paths = {*routes_of(self._app.routes)}
        team_app: Any = self.dispatcher._team_app
        # It is behind its middleware until the first request.
        return paths | {*routes_of(team_app.routes)}

    def add_users(self, *names: str) -> None:
        """Add users; the first one of a server is its admin."""
        for name in names:
            self.tokens[name] = self.rec.engine.team.add_user(name).token

    def request(self, user: str, method: str, path: str, **options: Any) -> Any:
        """Send a request of *user* ('': without a token); return the response."""
        headers = dict(options.pop("headers", {}))
        if user:
            headers["authorization"] = f"Bearer {self.tokens[user]}"
        return self.client.request(method, path, headers=headers, **options)

    def get(self, user: str, path: str, /, **query: Any) -> Any:
        """Get what must be there, as JSON."""
        response = self.request(user, "GET", path, params=query)
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, user: str, path: str, /, **body: Any) -> Any:
        """Post what must be accepted; return the response as JSON."""
        response = self.request(user, "POST", path, json=body)
        assert response.status_code == 200, response.text
        return response.json()

    def found(self, user: str, query: str, **place: Any) -> list[str]:
        """Return the contents of what *user* finds."""
        hits = self.post(user, "/api/search", query=query, **place)
        return [hit["memory"]["content"] for hit in hits]

    def memory_of(self, name: str) -> UserRecollect:
        """Return the memory of a user whose application is open: the user has asked something."""
        self.get(name, "/api/pending")
        apps = self.dispatcher.open_apps()
        return next(app.rec for app in apps if app.user.name == name)


@contextmanager
def team_server(
    db: Path | str, users: Sequence[str] = (), *, chat: Any = None, **settings: Any
) -> Iterator[TeamServer]:
    """Serve the store *db* in this process, without a network, to these users."""
    if isinstance(db, Path):  # stores are made quickly in a folder that exists
        db.with_name(f"{db.name}.spaces").mkdir(mode=0o700, exist_ok=True)
    clock = FakeClock()
    options: dict[str, Any] = {"embedding_backend": "none", "requests_per_second": 0, **settings}
    chosen = Settings(db=str(db), **options)
    with LocalRecollect(chosen, clock=clock, chat=chat) as rec:
        app = web_app(rec, chosen)
        with TestClient(app, base_url=LOCAL, raise_server_exceptions=False) as client:
            server = TeamServer(rec, app, client, clock)
            server.add_users(*users)
            yield server
