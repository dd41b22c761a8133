"""`recollect models` as people use it: in a terminal, killed half-way, beside a running server."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recollect
from model_folders import second_folder, tiny_folder
from server_process import run_server
from terminal import environment, in_terminal, installed

pytestmark = pytest.mark.door

ALLERGY = "Ana is allergic to peanuts."
ABOUT_ALLERGY = "which nuts must nobody serve her?"


@pytest.fixture
def env(path: Path) -> dict[str, str]:
    """The environment of a person who names no embedder."""
    return environment(path)


def run(env: dict[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [installed("recollect"), *args], env=env, capture_output=True, text=True, check=False
    )


def answer(env: dict[str, str], *args: str) -> Any:
    done = run(env, *args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fill(path: Path, count: int) -> None:
    with recollect.open(path) as rec:
        rec.ingest(ALLERGY)
        rec.memories.ingest_many(
            [{"content": f"Room {n} is painted {n + 3}."} for n in range(count - 1)]
        )
        rec.drain()


def counts(env: dict[str, str]) -> dict[str, tuple[bool, bool, int, int]]:
    return {
        one["name"]: (one["wanted"], one["serving"], one["embedded"], one["waiting"])
        for one in answer(env, "models", "list")
    }


def first(env: dict[str, str], query: str) -> str:
    return str(answer(env, "search", query)[0]["memory"]["content"])


def until(wanted: Callable[[], object], within_s: float = 120) -> None:
    end = time.monotonic() + within_s
    while not wanted():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_person_adds_chooses_and_embeds_in_a_terminal(
    env: dict[str, str], path: Path, tmp_path: Path
) -> None:
    fill(path, 70)
    folder = second_folder(tmp_path / "second")

    def typed(*args: str) -> str:
        shown = in_terminal("recollect", "models", *args, env=env)
        assert shown.code == 0, shown.text
        return shown.text

    assert "● default  in use · 70 embedded, 0 pending · 384 dimensions" in typed("list")
    added = typed("add", str(folder))
    assert "Added second (second/384/" in added
    assert "recollect models use second" in added
    assert "70 items are not embedded by it yet; until then the previous model" in typed(
        "use", "second"
    )
    half = typed("list")
    assert "○ default  answers until then · 70 embedded" in half
    assert "● second  chosen · 0 embedded, 70 pending" in half
    assert "answers until then" in in_terminal("recollect", "status", env=env).text
    done = typed("reembed")
    assert "70 items embedded by second/384/" in done
    assert "It answers searches now." in done
    assert "0 items embedded by second/384/" in typed("reembed")
    assert "● second  in use · 70 embedded, 0 pending" in typed("list")
    assert first(env, ABOUT_ALLERGY) == ALLERGY
    assert "this store uses the model 'second'" in run(env, "models", "remove", "second").stderr
    typed("use", "default")
    typed("reembed")
    assert "Removed second (second/384/" in typed("remove", "second")
    assert "second" not in typed("list")


def test_killed_half_way_it_answers_as_before_and_goes_on_where_it_was(
    env: dict[str, str], path: Path, tmp_path: Path
) -> None:
    fill(path, 400)
    answer(env, "models", "add", str(second_folder(tmp_path / "second")))
    answer(env, "models", "use", "second")
    with recollect.open(path) as rec:
        # Where the machine is busy it is this test that goes first: it must see the middle.
        reembed = ("nice", "-n", "5", installed("recollect"), "models", "reembed")
        killed = subprocess.Popen(reembed, env=env, stderr=subprocess.DEVNULL)
        until(
            lambda: (
                rec.maintenance.status().embedded.get(rec.maintenance.status().embedder, 0) >= 64
            )
        )
        os.kill(killed.pid, signal.SIGKILL)
        assert killed.wait() == -signal.SIGKILL

    was = counts(env)
    assert was["default"][:3] == (False, True, 400)
    assert 64 <= was["second"][2] < 400
    assert first(env, ABOUT_ALLERGY) == ALLERGY
    assert first(env, "Room 398 is painted 401.") == "Room 398 is painted 401."
    answer(env, "add", "Bob cannot eat shellfish.")
    assert first(env, "seafood someone is unable to digest") == "Bob cannot eat shellfish."

    done = run(env, "models", "reembed").stdout
    embedded = int(done.split()[0])
    assert embedded <= 401 - was["second"][2]
    assert counts(env) == {"default": (False, False, 0, 401), "second": (True, True, 401, 0)}
    assert first(env, ABOUT_ALLERGY) == ALLERGY
    assert answer(env, "verify")["ok"] is True


def test_a_server_that_was_there_before_follows_and_does_the_work(
    env: dict[str, str], path: Path, tmp_path: Path
) -> None:
    fill(path, 100)
    with run_server(path, env=env) as server, recollect.connect(server.url) as rec:
        assert rec.search(ABOUT_ALLERGY)[0].memory.content == ALLERGY
        answer(env, "models", "add", str(second_folder(tmp_path / "second")))

        assert rec.models.use("second").model.name == "second"
        rec.ingest("Bob cannot eat shellfish.")

        was_found = []

        def found_and_done() -> bool:
            # No hit while the server embeds the memory; once it is found, it stays found.
            was_found.append(bool(rec.search("seafood someone is unable to digest")))
            assert was_found == sorted(was_found)
            return [one.serving for one in rec.models.list()] == [False, True]

        until(found_and_done)
        hits = rec.search("seafood someone is unable to digest")
        assert hits[0].memory.content == "Bob cannot eat shellfish."
        assert rec.search(ABOUT_ALLERGY)[0].memory.content == ALLERGY
        assert rec.health()["status"] == "ok"
        assert rec.health()["embedder"]["name"].startswith("second/")
    assert counts(env) == {"default": (False, False, 0, 101), "second": (True, True, 101, 0)}


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("add", "nowhere"), "manifest.json does not exist"),
        (("add", "tiny", "--name", "default"), "cannot be the name of a model"),
        (("add", "wrong"), "correct the manifest"),
        (("use", "unknown"), "there is no embedding model 'unknown'"),
        (("remove", "../tiny"), "there is no embedding model '../tiny', only default"),
        (("remove", "default"), "cannot be removed"),
    ],
    ids=["no folder", "reserved name", "wrong dimension", "unknown", "a path", "the default"],
)
def test_what_goes_wrong_is_one_line_with_a_way_on(
    env: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    args: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny_folder(tmp_path / "tiny")
    tiny_folder(tmp_path / "wrong", dimension=5)

    done = run(env, "models", *args)

    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_name_that_is_taken_and_embeddings_that_are_off_are_said(
    env: dict[str, str], tmp_path: Path
) -> None:
    folder = str(tiny_folder(tmp_path / "tiny"))
    answer(env, "models", "add", folder)
    off = env | {"RECOLLECT_EMBEDDING_BACKEND": "none"}

    assert "--replace" in run(env, "models", "add", folder).stderr
    assert answer(env, "models", "add", folder, "--replace")["name"] == "tiny"
    assert "search goes by words" in run(off, "models", "use", "tiny").stdout
    assert "search uses words only" in run(off, "models", "list").stdout
    assert "switched off" in run(off, "models", "reembed").stderr
    named = env | {"RECOLLECT_EMBEDDING_BACKEND": "local"}
    assert "comes before the store's choice" in run(named, "models", "use", "tiny").stdout
