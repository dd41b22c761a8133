"""The documents are held true: their code runs, their commands exist, CI runs their test line."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click import Context

from all_commands import all_commands
from recollect.cli.main import main
from server_process import run_server
from vendor_server import VendorServer

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "RECOLLECT_PORT": str(_free_port(folder)),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "RECOLLECT_DB": str(folder / "memory.db"),
        "HOME": str(folder),  # a developer's own settings are not looked at
    }
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def _free_port(folder: Path) -> int:
    """Return a port for the servers of one test, the same each time."""
    kept = folder / "port"
    if not kept.exists():
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            kept.write_text(str(probe.getsockname()[1]), encoding="utf-8")
    return int(kept.read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder to run examples in; a server they leave behind is stopped."""
    yield tmp_path
    shell("recollect stop", tmp_path)


@pytest.fixture
def around(tmp_path: Path, vendor: VendorServer) -> Iterator[dict[str, str]]:
    """An environment as the reader has it: a vendor that answers, and a server of their own."""
    with run_server(tmp_path / "served.db") as server:
        yield {
            **os.environ,
            "OPENAI_BASE_URL": vendor.openai_url,
            "OPENAI_API_KEY": "test",
            "RECOLLECT_SERVER_URL": server.url,
        }


@pytest.mark.door
@pytest.mark.parametrize("number", range(len(blocks(README, "python"))))
def test_the_code_of_the_readme_runs(number: int, tmp_path: Path, around: dict[str, str]) -> None:
    code = blocks(README, "python")[number]

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env=around,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.door
def test_the_first_example_prints_what_the_readme_says(tmp_path: Path) -> None:
    expected = blocks(README, "text")[0].split()

    done = subprocess.run(
        [sys.executable, "-c", blocks(README, "python")[0]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    shown = re.sub(r"0\.40\d+", "0.40", done.stdout.splitlines()[0]).split()
    assert shown == expected


@pytest.mark.door
@pytest.mark.timeout(400)  # as many processes as there are lines
def test_the_commands_of_the_readme_run(folder: Path) -> None:
    lines = [
        line
        for block in blocks(README, "sh")
        for line in block.splitlines()
        if line.startswith("recollect ")
    ]
    assert len(lines) >= 7

    for line in lines:
        done = shell(line, folder)
        assert done.returncode == 0, f"{line}: {done.stderr}"
        assert done.stdout.strip(), line


@pytest.mark.door
@pytest.mark.timeout(400)  # as many processes as there are examples
def test_the_examples_of_every_help_text_run(folder: Path) -> None:
    examples = []
    for command in [main, *all_commands().values()]:
        text = command.get_help(Context(command, help_option_names=["-h", "--help"]))
        examples += re.findall(r"^\s+(recollect .+)$", text, flags=re.MULTILINE)
    assert len(examples) >= 10

    prepared = shell("recollect add 'a first fact' --json", folder)
    shell("recollect add 'a fact of the shop' --project shop", folder)
    (folder / "session.jsonl").write_text(
        '{"type":"user","message":{"content":"We use pnpm here, not npm."}}', encoding="utf-8"
    )
    (folder / "notes.md").write_text("- Deploys happen on Fridays.", encoding="utf-8")
    some_id = re.findall(r'"id": "([0-9a-f-]{36})"', prepared.stdout)[0]
    for line in examples:
        done = shell(re.sub(r"\bID\b", some_id, line), folder)
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_every_command_is_documented_in_help_and_readme() -> None:
    for name, command in all_commands().items():
        assert command.help, name
        assert name.split()[0] in README, name
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert getattr(parameter, "help", ""), f"{name} {parameter.name}"


def test_ci_runs_the_test_line_of_the_readme() -> None:
    lines = [line for block in blocks(README, "sh") for line in block.splitlines()]
    [line] = [line for line in lines if "pytest" in line]
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert line in ci


def test_links_between_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_words_of_the_glossary_are_those_of_the_code() -> None:
    glossary = (ROOT / "GLOSSARY.md").read_text(encoding="utf-8")

    for word in ("memory", "source", "evidence", "link", "scope", "status", "shelf", "bundle"):
        assert f"| {word} |" in glossary, word
