"""Every client that can be set up is in the guide."""

import re
from pathlib import Path

from recollect.setup.supported_clients import CLIENTS, SupportedClient
from tables import each_row

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs" / "guides" / "coding-agents.md").read_text(encoding="utf-8")


@each_row("client", CLIENTS, ids=lambda client: client.name)
def test_the_guide_says_how_to_set_a_client_up_check_it_and_remove_it(
    client: SupportedClient,
) -> None:
    section = re.search(rf"^## {client.title}\n\n(.*?)(?=^## )", GUIDE, re.DOTALL | re.MULTILINE)

    assert section is not None
    lines = section[1].split("\n\n")[0].splitlines()
    assert len(lines) == 5
    for word, line in zip(
        ("Install", "Set up", "From then on", "Check", "Remove"), lines, strict=True
    ):
        assert f"**{word}**" in line
    assert f"`recollect setup {client.name}`" in lines[1]
    assert f"`recollect setup {client.name} --remove`" in lines[4]
    has_hooks = any(file.holds == "hooks" for file in client.files)
    assert ("session" in lines[2]) == has_hooks


@each_row("client", CLIENTS, ids=lambda client: client.name)
def test_the_guide_names_every_file_that_is_written(client: SupportedClient) -> None:
    for file in client.files:
        for path in (*file.user_paths, *file.project_paths):
            assert path.rsplit("/", 1)[-1] in GUIDE


@each_row("client", CLIENTS, ids=lambda client: client.name)
def test_the_table_of_the_guide_has_a_line_for_every_client(client: SupportedClient) -> None:
    assert f"| {client.title} | `recollect setup {client.name}` |" in GUIDE
