"""Jobs with retry, models and their calls, skills, settings, health: how the store is run."""

from dataclasses import fields
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from recollect.config import Settings, without_password
from recollect.domain.job import JobState
from recollect.domain.maintenance import Verification
from recollect.web.downloads import download
from recollect.web.page import THEMES, PageRequest, Preferences, page
from recollect.web.page_guard import PAGES, cookie_name

JOBS = 100
CALLS = 50
SECRETS = frozenset({"openai_key", "anthropic_key", "token", "passphrase", "db_owner"})
NOT_SHOWN = frozenset({"embedder_is_explicit", "origins"})
YEAR_S = 365 * 24 * 3600


def show_jobs(request: PageRequest) -> Response:
    """List the jobs of the learning pipeline."""
    jobs = request.rec.jobs.list(states=list(JobState), limit=JOBS)
    if (file := download(request, "jobs", jobs)) is not None:
        return file
    order = [JobState.PARKED, JobState.DOING, JobState.TODO, JobState.DONE]
    jobs.sort(key=lambda job: order.index(job.state))  # stable: in the order they are due
    return request.render("jobs.html", jobs=jobs)


def retry_job(request: PageRequest) -> Response:
    """Make a job due now."""
    request.rec.jobs.retry(request.value("job"))
    return request.redirect("/ui/jobs", "It is due now.")


def show_models(request: PageRequest) -> Response:
    """List the embedding models and the latest calls of language models."""
    calls = request.rec.models.calls(limit=CALLS)
    if (file := download(request, "model-calls", calls)) is not None:
        return file
    return request.render("models.html", models=request.rec.models.list(), calls=calls)


def show_skills(request: PageRequest) -> Response:
    """List the skills."""
    report = request.rec.skills.list()
    if (file := download(request, "skills", report.skills)) is not None:
        return file
    return request.render("skills.html", report=report)


def show_settings(request: PageRequest) -> Response:
    """Show every setting, its value and where it comes from."""
    settings: Settings = request.http.app.state.settings
    rows = [
        (field.name, _setting_text(settings, field.name), settings.origins.get(field.name, ""))
        for field in fields(settings)
        if field.name not in NOT_SHOWN
    ]
    return request.render("settings.html", rows=rows, themes=THEMES)


def save_preferences(request: PageRequest) -> Response:
    """Save how the pages look in this browser."""
    theme = request.value("theme")
    preferences = Preferences(
        theme if theme in THEMES else "system", request.value("shortcuts") == "on"
    )
    response = request.redirect("/ui/settings", "Saved for this browser.")
    response.set_cookie(
        cookie_name(request.http.headers.get("host", ""), "view"),
        preferences.as_cookie(),
        path=PAGES,
        max_age=YEAR_S,
        httponly=True,
        samesite="strict",
    )
    return response


def show_health(request: PageRequest) -> Response:
    """Show the state of the store, the embedder and the queue."""
    return _health_page(request, None)


def verify(request: PageRequest) -> Response:
    """Check the database file, the evidence rules and the indexes; it may take a while."""
    request.rec.engine.check_health()  # raises if the file is gone, although it is still open
    return _health_page(request, request.rec.maintenance.verify())


def _health_page(request: PageRequest, verification: Verification | None) -> Response:
    return request.render(
        "health.html",
        status=request.rec.maintenance.status(rows=bool(request.query("rows"))),
        embedder=request.rec.engine.embedder_status(),
        verification=verification,
    )


def _setting_text(settings: Settings, name: str) -> str:
    value: Any = getattr(settings, name)
    if name in SECRETS:
        return "set" if value else "not set"
    if isinstance(value, str) and "://" in value:  # a database, a model, a collector
        # A key may be in the query of any address; of a database it names the schema.
        address = without_password(value)
        return address if name == "db" else address.partition("?")[0]
    return "" if value is None else str(value)


routes = [
    Route("/jobs", page(show_jobs), methods=["GET"]),
    Route("/jobs", page(retry_job), methods=["POST"]),
    Route("/models", page(show_models), methods=["GET"]),
    Route("/skills", page(show_skills), methods=["GET"]),
    Route("/settings", page(show_settings), methods=["GET"]),
    Route("/settings", page(save_preferences), methods=["POST"]),
    Route("/health", page(show_health), methods=["GET"]),
    Route("/health", page(verify), methods=["POST"]),
]
