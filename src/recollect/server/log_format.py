"""
The log of the server: warnings and errors on stderr, as lines of text or as JSON objects.

A JSON object has the id of the request it is about. With `--verbose` there is a line for each
request. As JSON it names the route, not the path: a path may contain the name of an agent.
"""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

from recollect.server.log_rate_limit import RepeatedLogFilter
from recollect.server.request_ids import current_request_id

REQUEST_LOG = "recollect.requests"
FIELDS = "fields"  # of a record: more fields of its JSON object

_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def log_config(*, verbose: bool, as_json: bool = False) -> dict[str, Any]:
    """Return the logging configuration: warnings to stderr; with *verbose* every request too."""
    level = "INFO" if verbose else "WARNING"
    formatter = (
        {"()": JsonFormatter}
        if as_json
        else {"()": SingleLineFormatter, "fmt": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "filters": {"repeated": {"()": RepeatedLogFilter}},
        "handlers": {
            "errors": {
                "class": "logging.StreamHandler",
                "formatter": "line",
                "filters": ["repeated"],
                "stream": "ext://sys.stderr",
            }
        },
        "root": {"handlers": ["errors"], "level": "WARNING"},
        "loggers": {
            "recollect": {"level": "INFO"},
            REQUEST_LOG: {"level": "INFO" if verbose and as_json else "WARNING"},
            "uvicorn": {"level": level},
            "uvicorn.access": {"level": level},
        },
    }


class SingleLineFormatter(logging.Formatter):
    """A log formatter that replaces control characters, so that input cannot forge log lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # overrides logging.Formatter
        """Return the message as one line; a traceback may have more."""
        return _CONTROL_CHARACTER.sub("�", super().formatMessage(record))


class JsonFormatter(logging.Formatter):
    """A log formatter that writes each record as one line with a JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON in ASCII: time, level, logger, message and more."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := current_request_id():
            fields["request_id"] = request_id
        fields |= getattr(record, FIELDS, {})
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, default=str)
