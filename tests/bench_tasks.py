"""Small tasks and public files for the tests of benchmarks, as their authors would write them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.public.task_folder import TaskFolder

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_10_date_time": "9:05 am on 1 June, 2023",
            "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "The kiln broke. "}],
            "session_2_date_time": "12:30 am on 31 May, 2023",
            "session_2": [
                {
                    "speaker": "Ben",
                    "img_url": ["https://example.org/a.jpg"],
                    "blip_caption": "a photo of a bowl",
                    "query": "bowl",
                    "dia_id": "D2:1",
                    "text": "Look at this!",
                },
                {"speaker": "Ann", "dia_id": "D2:2", "text": "I bought a kiln."},
                {"speaker": "Ann", "dia_id": "D2:3", "text": ""},
            ],
            "session_11_date_time": "9:05 am on 2 June, 2023",
            "session_12": [],
            "session_12_date_time": "9:05 am on 3 June, 2023",
        },
        "qa": [
            {"question": "One?", "answer": "a", "evidence": ["D2:2"], "category": 4},
            {"question": "None?", "answer": "a", "evidence": [], "category": 3},
            {"question": "Two in one?", "evidence": ["D2:2; D10:1"], "category": 1},
            {"question": "Spaces?", "evidence": ["D2:1 D2:2 D10:1"], "category": 1},
            {"question": "Colon and zero?", "evidence": ["D:10:01"], "category": 2},
            {"question": "Of no turn?", "evidence": ["D99:1", "D"], "category": 3},
            {"question": "Half of no turn?", "evidence": ["D99:1", "D2:1"], "category": 3},
            {
                "question": "Not said?",
                "adversarial_answer": "b",
                "evidence": ["D2:1"],
                "category": 5,
            },
        ],
    }
]


def lme_entry(question_id: str = "q1", **changed: Any) -> dict[str, Any]:
    """Return a question of LongMemEval with three sessions, the first two an answer each."""
    entry = {
        "question_id": question_id,
        "question_type": "multi-session",
        "question": "How many kilns do I have?",
        "answer": "two",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": [
            "2023/05/21 (Sun) 10:00",
            "2023/05/20 (Sat) 02:21",
            "2023/05/22 (Mon) 08:00",
        ],
        "haystack_session_ids": ["answer_b", "answer_a", "sharegpt_x_0"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I bought a second kiln.", "has_answer": True},
                {"role": "assistant", "content": "Well done.", "has_answer": False},
            ],
            [
                {"role": "user", "content": "", "has_answer": False},
                {"role": "assistant", "content": "Hello.", "has_answer": False},
                {"role": "user", "content": "My first kiln is red.", "has_answer": True},
            ],
            [{"role": "user", "content": "Write a poem."}],
        ],
        "answer_session_ids": ["answer_a", "answer_b"],
    }
    return entry | changed


def written(file: Path, whole: object) -> Path:
    """Write *whole* as JSON, and return where."""
    file.write_text(json.dumps(whole, indent=1), encoding="utf-8")
    return file


def write_task(
    folder: Path,
    name: str,
    sessions: Mapping[str, Sequence[str]],
    questions: Sequence[tuple[str, list[str]]],
    *,
    scopes: int = 1,
) -> Path:
    """Write a task: in each scope the same sessions of two speakers, and the same questions."""
    with TaskFolder(folder, name) as task:
        for number in range(scopes):
            scope = f"s{number}"
            for session, lines in sessions.items():
                for place, text in enumerate(lines):
                    task.item(
                        f"{scope}/{session}#{place}",
                        text,
                        scope=scope,
                        session=f"{scope}/{session}",
                        speaker=("user", "assistant")[place % 2],
                        at=f"2024-01-0{len(session)}T10:00",
                    )
            for place, (text, gold) in enumerate(questions):
                task.query(
                    f"{scope}/q{place}",
                    text,
                    scope=scope,
                    gold=[f"{scope}/{item_id}" for item_id in gold],
                    category=("even", "odd")[place % 2],
                )
    return folder
