"""The documents are true: examples run and print what is shown, generated parts are current."""

import re
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from all_commands import all_commands
from doc_examples import (
    ROOT,
    Example,
    examples,
    pages_with_examples,
    reader_environment,
    run_example,
    without_varying_parts,
)
from in_process_server import serve_in_thread
from recollect.cli.main import ALIASES, COMMANDS
from scripts import draw_lifecycle, generate_figures, generate_reference, terminal_svg
from server_process import run_server
from support import open_memory
from tables import each_row
from vendor_server import VendorServer

README = (ROOT / "README.md").read_text(encoding="utf-8")
TEST_LINE = (
    "pip install -q --no-deps -r constraints.txt && pip install -q --no-deps -e . && pytest -n auto"
)
# Decisions and the log are history, figures copy the results: they keep the words of their time.
PLAIN_PAGES = [
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if path.parent.name not in ("adr", "reference") and path.name not in ("log.md", "figures.md")
]


def _page_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture
def environment(tmp_path: Path, vendor: VendorServer) -> Iterator[dict[str, str]]:
    """The environment of a reader: vendors that answer, a server, and a free port for their own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with (
        run_server(tmp_path / "served.db") as server,
        open_memory(tmp_path / "old.db", words_only=True) as old,
        serve_in_thread(old) as old_url,
    ):
        old.agents.create("guide")  # of the server that a reader moves from
        for text in ("The passport expires in 2031.", "The hotel was loud."):
            old.archive.insert("guide", text)
        env = reader_environment(
            tmp_path,
            OLD_SERVER_URL=old_url,
            OPENAI_BASE_URL=vendor.openai_url,
            OPENAI_API_KEY="test",
            ANTHROPIC_BASE_URL=vendor.anthropic_url,
            ANTHROPIC_API_KEY="test",
            RECOLLECT_SERVER_URL=server.url,
            RECOLLECT_PORT=port,
        )
        yield env
        subprocess.run(["recollect", "stop"], env=env, capture_output=True, check=False, timeout=60)


@pytest.mark.door
@pytest.mark.timeout(400)  # as many processes as there are examples
@pytest.mark.parametrize("page", pages_with_examples(), ids=_page_name)
def test_the_examples_of_a_page_run_and_print_what_it_shows(
    page: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    for example in examples(page.read_text(encoding="utf-8")):
        if TEST_LINE in example.code:
            continue
        printed = run_example(example, tmp_path, environment)
        if example.output is not None:
            assert without_varying_parts(printed) == without_varying_parts(example.output)


def test_the_readme_shows_the_output_of_its_examples() -> None:
    shown = [example for example in examples(README) if example.output is not None]

    assert len(shown) >= 3


def test_an_example_that_prints_something_else_is_noticed(tmp_path: Path) -> None:
    [example] = examples("```python\nprint(1)\n```\n\n```text\n2\n```\n")

    assert example == Example("python", "print(1)\n", "2\n")
    assert without_varying_parts("1 0.41 2026-05-08") == ["1 0.00 DATE"]


def _shell(line: str, folder: Path, env: dict[str, str]) -> str:
    return run_example(Example("sh", line, None), folder, env)


@pytest.mark.door
def test_the_picture_of_the_terminal_shows_what_the_commands_print() -> None:
    picture = terminal_svg.PICTURE.read_text(encoding="utf-8")

    session = terminal_svg.transcript(list(terminal_svg.session()))

    shown = terminal_svg.description(picture)
    assert without_varying_parts(shown) == without_varying_parts(session), (
        "run python scripts/terminal_svg.py"
    )


@pytest.mark.door
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_that_the_page_describes_exists(shell: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guides" / "shell-completion.md").read_text(encoding="utf-8")
    variable = f"_RECOLLECT_COMPLETE={shell}_source"

    script = _shell(f"{variable} recollect", tmp_path, reader_environment(tmp_path))

    assert f"{variable} recollect" in page
    assert "_recollect_completion" in script


@pytest.mark.door
def test_the_site_builds_in_strict_mode(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("zensical.toml", "ARCHITECTURE.md", "GLOSSARY.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)

    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    glossary = (tmp_path / "site" / "how-it-works" / "glossary" / "index.html").read_text("utf-8")
    assert "<td>partition</td>" in glossary


def test_the_navigation_of_the_site_has_every_page_once() -> None:
    config = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    listed = list(_nav_pages(config["project"]["nav"]))
    written = [str(path.relative_to(ROOT / "docs")) for path in ROOT.glob("docs/**/*.md")]

    assert sorted(listed) == sorted(written)


def _nav_pages(entries: list[dict[str, object]]) -> Iterator[str]:
    for entry in entries:
        for target in entry.values():
            if isinstance(target, list):
                yield from _nav_pages(target)
            else:
                yield str(target)


@each_row("name", ["python", "cli", "settings", "http"])
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    page = generate_reference.REFERENCE / f"{name}.md"

    text = getattr(generate_reference, f"{name}_page")()

    assert page.read_text(encoding="utf-8") == text, "run python scripts/generate_reference.py"


def test_the_drawing_of_the_lifecycle_is_its_table() -> None:
    [drawing] = draw_lifecycle.DRAWING.findall(draw_lifecycle.PAGE.read_text(encoding="utf-8"))

    assert drawing == draw_lifecycle.drawing()
    assert drawing.count("-->") == 19


def test_every_setting_is_described() -> None:
    assert sorted(generate_reference.SETTINGS) == sorted(generate_reference.setting_names())


@pytest.mark.parametrize("name", ["README.md", "docs/figures.md"])
def test_the_figures_of_a_document_are_the_measured_ones(name: str) -> None:
    text = generate_figures.documents()[ROOT / name]

    assert (ROOT / name).read_text(encoding="utf-8") == text, (
        "run python scripts/generate_figures.py"
    )


def test_a_figure_that_was_not_measured_is_an_error() -> None:
    with pytest.raises(generate_figures.FigureMissing, match=r"speed\.md has no table"):
        generate_figures.cell("speed", "", "no such row", "recollect")


def test_every_benchmark_command_in_a_document_exists() -> None:
    commands = [
        (module, options)
        for page in [*PLAIN_PAGES, ROOT / "benchmarks" / "README.md"]
        for module, options in re.findall(
            r"python -m benchmarks\.(\w+)(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    assert len(commands) > 20

    for module, options in commands:
        path = ROOT / "benchmarks" / module
        files = sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
        code = "".join(file.read_text(encoding="utf-8") for file in files)
        for option in re.findall(r"(?<= )--[a-z-]+", options.partition("`")[0]):
            assert option in code or f'"--{option[5:]}"' in code, f"{module} {option}"


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_ci_runs_the_test_line_of_the_readme() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert f"```sh\n{TEST_LINE}\n```" in README
    assert any(line.startswith(TEST_LINE) for line in ci)


def test_every_command_and_option_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")

    for name, command in all_commands().items():
        assert command.help, name
        assert f"# recollect {name}\n" in page, name
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert getattr(parameter, "help", ""), f"{name} {parameter.name}"


@each_row("page", PLAIN_PAGES, ids=_page_name)
def test_the_commands_that_a_page_names_exist(page: Path) -> None:
    for name in re.findall(r"`recollect ([a-z][a-z-]*)", page.read_text(encoding="utf-8")):
        assert name in {*COMMANDS, *ALIASES}, name


def test_links_between_documents_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_path_in_the_architecture_exists() -> None:
    architecture = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = re.findall(r"`([\w-]+(?:/[\w.-]+)+|\w+\.py)`", architecture)
    assert len(paths) > 50

    for path in paths:
        assert (ROOT / path).exists() or (ROOT / "src" / "recollect" / path).exists(), path


def test_the_layers_in_the_architecture_are_those_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    architecture = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    [layers] = re.findall(r"## Layers.*?```text\n(.*?)```", architecture, flags=re.DOTALL)

    drawn = [re.split(r"\s{2,}", line)[0] for line in layers.splitlines()]

    assert drawn == [layer for layer in contract if layer != "__main__"]


def test_the_constants_of_retrieval_are_those_of_the_code() -> None:
    page = (ROOT / "docs" / "how-it-works" / "retrieval.md").read_text(encoding="utf-8")
    constants = re.findall(r"`(\w+)\.([A-Z_]+) = ([\d.]+)`", page)
    assert len(constants) > 10

    for module, name, value in constants:
        code = import_module(f"recollect.retrieval.{module}")
        assert getattr(code, name) == float(value), f"{module}.{name}"


def test_the_glossary_is_sorted_and_has_the_main_words() -> None:
    glossary = (ROOT / "GLOSSARY.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([a-z ]+) \| ", glossary, flags=re.MULTILINE)[1:]

    assert words == sorted(words)
    assert {"memory", "source", "evidence", "link", "scope", "status", "bundle"} <= set(words)
    assert {"partition", "item id", "word index", "vector index", "threshold"} <= set(words)


@each_row("page", PLAIN_PAGES, ids=_page_name)
def test_a_page_uses_the_words_of_the_field(page: Path) -> None:
    # An address may contain the title of an old decision.
    text = re.sub(r"\]\([^)]*\)", "]", page.read_text(encoding="utf-8").lower())

    for word in ("shelf", "shelves", "leg", "legs", "twin", "twins", "wish", "wishes", "rivals"):
        assert not re.search(rf"\b{word}\b", text), word


def test_every_test_that_the_security_page_names_exists() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    files = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    defined = {name for text in files for name in re.findall(r"def (test_\w+)\(", text)}

    assert len(named) > 30
    assert named <= defined
