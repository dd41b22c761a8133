"""One table in somebody's TOML: added at the end, taken out whole, the rest as it was."""

import tomllib

import pytest

from recollect.setup.toml_edit import MalformedToml, add_table, read_table, remove_table, set_values
from settings_files import CODEX_CONFIG
from tables import each_row

NAME = ("mcp_servers", "recollect")
VALUES: dict[str, str | list[str]] = {"command": 'C:\\re "collect"', "args": ["mcp", "é\t"]}

TEXTS = [
    "",
    "\ufeff",
    "\ufeffa = 1\n",
    "a = 1",
    "a = 1\n",
    "a = 1\n\n\n",
    "a = 1\r\n[b]\r\nc = 2\r\n",
    "# only a comment",
    "[mcp_servers]\n",
    "[mcp_servers.other]\ncommand = 'x'\n# last\n",
    'a = """\n[mcp_servers.recollect]\n"""\n',
    "a = '''\n\"\"\"\n'''  # '''\n[b]\n",
    CODEX_CONFIG,
]


@each_row("text", TEXTS)
def test_a_table_added_and_removed_leaves_the_text_as_it_was(text: str) -> None:
    new = add_table(text, NAME, VALUES, comment="ours")

    assert new.startswith(text)
    assert read_table(new, NAME) == VALUES
    assert new.endswith("\n") == (text.endswith("\n") or not text.strip("\ufeff"))
    assert remove_table(new, NAME, comment="ours") == text


@each_row("text", TEXTS)
def test_what_was_written_behind_it_since_stays(text: str) -> None:
    new = add_table(text, NAME, VALUES, comment="ours")
    new += "" if new.endswith("\n") else "\n"

    left = remove_table(f"{new}\n# mine\n[z]\ny = 1\n", NAME, comment="ours")

    assert left.startswith(text)
    assert left.endswith("\n# mine\n[z]\ny = 1\n")


def test_a_table_that_another_program_wrote_before_the_end_stays() -> None:
    new = add_table("a = 1\n", NAME, VALUES, comment="ours")

    left = remove_table(f'{new}[projects."/x"]\ntrust = 1\n', NAME, comment="ours")

    assert left == 'a = 1\n[projects."/x"]\ntrust = 1\n'


def test_tables_below_ours_go_with_it_and_others_stay() -> None:
    text = add_table("", NAME, VALUES, comment="ours")
    text += '[b]\nc = 1\n[mcp_servers."recollect".tools.search]\napproval_mode = "auto"\n[d]\n'

    assert remove_table(text, NAME, comment="ours") == "[b]\nc = 1\n[d]\n"


def test_other_values_are_set_in_place_and_other_lines_stay() -> None:
    text = add_table("a = 1", NAME, VALUES, comment="ours") + "\nstartup_timeout_sec = 20 # slow\n"

    new = set_values(text, NAME, {"command": "/new", "args": ["mcp"]})

    assert read_table(new, NAME) == {"command": "/new", "args": ["mcp"], "startup_timeout_sec": 20}
    assert "startup_timeout_sec = 20 # slow\n" in new
    assert new.startswith("a = 1\n\n# ours\n[mcp_servers.recollect]\n")


@each_row(
    "text",
    [
        "a = ",
        "mcp_servers = {}\n",
        "mcp_servers = 1\n",
        "[[mcp_servers]]\n",
        "mcp_servers.x = 1\n[m",
    ],
)
def test_a_text_that_cannot_take_the_table_is_refused(text: str) -> None:
    with pytest.raises(MalformedToml):
        add_table(text, NAME, VALUES, comment="ours")


def test_an_inline_table_is_read_but_not_cut_up() -> None:
    text = 'mcp_servers = { recollect = { command = "recollect", args = ["mcp"] } }\n'

    assert read_table(text, NAME) == tomllib.loads(text)["mcp_servers"]["recollect"]
    with pytest.raises(MalformedToml):
        remove_table(text, NAME, comment="ours")
