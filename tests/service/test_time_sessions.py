"""
Questions that name a time, put to a store in which every session says the same: time decides.

The labelled questions are those of tests/text/time_questions.json, written before any rule. For
each the first message must have been said at the time the label names, or in the session it
counts back to; a question that names no time may give any.
"""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import LocalRecollect
from support import FakeClock, open_memory

pytestmark = pytest.mark.kill

FILE = Path(__file__).parent.parent / "text" / "time_questions.json"
QUESTIONS = json.loads(FILE.read_text("utf-8"))["questions"]
FIRST, DAYS = datetime(2015, 1, 1, 3, tzinfo=UTC), 4_850
ENOUGH = 0.95


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRecollect]:
    """A store with a session every eight hours for the days around each question, else daily."""
    words = sorted(
        {word for question in QUESTIONS for word in re.findall(r"\w+", question["query"].lower())}
    )
    text = " ".join(words)
    moments = [datetime.fromisoformat(question["asked_at"]) for question in QUESTIONS]
    days = [FIRST + timedelta(days=number) for number in range(0, DAYS, 10)]
    days += [
        moment - timedelta(hours=8 * number, minutes=7)
        for moment in sorted(set(moments))
        for number in range(60)
    ]
    folder = tmp_path_factory.mktemp("past")
    with open_memory(folder / "memory.db", clock=FakeClock(), words_only=True) as rec:

        def talk_of(day: datetime) -> None:
            talk = rec.conversations.start(agent="ana", started_at=day)
            rec.conversations.append(talk, "user", text, created_at=day)
            rec.conversations.end(talk, ended_at=day + timedelta(minutes=5))

        with ThreadPoolExecutor(16) as several:  # many writes, few waits for the disk
            list(several.map(talk_of, sorted({day.astimezone(UTC) for day in days})))
        yield rec


def is_first_at_its_time(rec: LocalRecollect, question: dict[str, str]) -> bool | None:
    """Say whether the first hit was said then; None where nothing was said at that time."""
    asked_at = datetime.fromisoformat(question["asked_at"])
    talks = rec.conversations.list(agent="ana", before=asked_at, limit=1_000)  # all there are
    hits = rec.conversations.search(
        question["query"], agent="ana", asked_at=asked_at, until=asked_at
    )
    if "sessions_ago" in question:
        expected_id = talks[int(question["sessions_ago"]) - 1].id
        return bool(hits) and hits[0].message.conversation_id == expected_id
    slack = timedelta(hours=float(question.get("slack_h", 0)))
    start = datetime.fromisoformat(question["start"]) if question.get("start") else FIRST
    end = datetime.fromisoformat(question["end"]) if question.get("end") else asked_at
    if not any(start <= talk.started_at < min(end, asked_at) for talk in talks):
        return None
    return bool(hits) and start - slack <= hits[0].message.created_at < end + slack


def test_sessions_at_the_right_time_come_first(past: LocalRecollect) -> None:
    timed = [question for question in QUESTIONS if not question.get("none")]
    verdicts = {question["query"]: is_first_at_its_time(past, question) for question in timed}

    judged = {query: right for query, right in verdicts.items() if right is not None}
    wrong = [query for query, right in judged.items() if not right]
    assert len(judged) >= 120
    assert 1 - len(wrong) / len(judged) >= ENOUGH, wrong
