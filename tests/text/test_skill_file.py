"""Parsing and rendering SKILL.md: valid parts are parsed, and mistakes are reported."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.skill import Skill, SkillOrigin
from recollect.errors import InvalidInput, TooLarge
from recollect.text.skill_file import MAX_DESCRIPTION_CHARS, name_problem, parse_skill, render_skill
from tables import each_row

VALID = """\
---
name: deploy-site
description: Deploy the site. Use it when asked to release.
license: MIT
allowed-tools: Bash(git add:*) Read
metadata:
  category: operations
  tags: [web, release]
  version: 1.10
---

# Deploy

Run `make deploy`.
"""


def parse(content: str, folder: str = "deploy-site") -> Skill:
    path = f"{folder}/SKILL.md"
    return parse_skill(content, folder=folder, origin=SkillOrigin.PROJECT, path=path)


def front_matter(*lines: str, body: str = "Do it.") -> str:
    return "\n".join(["---", *lines, "---", body])


def only_problem(skill: Skill) -> str:
    assert len(skill.problems) == 1, skill.problems
    return skill.problems[0]


def test_a_valid_file_is_parsed_without_problems() -> None:
    skill = parse(VALID)

    assert skill.problems == ()
    assert skill.name == "deploy-site"
    assert skill.description == "Deploy the site. Use it when asked to release."
    assert skill.body == "# Deploy\n\nRun `make deploy`."
    assert skill.content == VALID
    assert skill.category == "operations"
    assert skill.tags == ("web", "release")
    assert skill.metadata == {
        "license": "MIT",
        "allowed-tools": ["Bash(git add:*)", "Read"],
        "category": "operations",
        "tags": ["web", "release"],
        "version": "1.10",
    }


@each_row(
    "changed",
    [
        "\ufeff" + VALID,
        VALID.replace("\n", "\r\n"),
        VALID.replace("\n", "\r"),
        "\n\n" + VALID,
        VALID.replace("---\n\n# Deploy", "...\n\n# Deploy"),
        VALID.replace("---\n", "---  \n"),
    ],
    ids=["byte order mark", "CRLF", "CR", "blank lines first", "dots", "spaces after the fence"],
)
def test_line_endings_and_a_byte_order_mark_change_nothing(changed: str) -> None:
    skill, sound = parse(changed), parse(VALID)

    assert (skill.name, skill.description, skill.body) == (
        sound.name,
        sound.description,
        sound.body,
    )
    assert skill.metadata == sound.metadata
    assert skill.problems == ()


@each_row(
    ("lines", "description"),
    [
        (["description: Release: build, then push"], "Release: build, then push"),
        (["description: Use when: the site is down", "  and nobody knows why: really"], None),
        (["description: *important* things"], "*important* things"),
        (["description: &anchor text"], "&anchor text"),
        (["description: !important thing"], "!important thing"),
        (["description: `make` it"], "`make` it"),
        (["description: @here"], "@here"),
        (["description: 'it's here'"], "it's here"),
        (["description: [open"], "[open"),
        (["description: 100%", "broken line"], "100% broken line"),
    ],
)
def test_front_matter_that_is_not_yaml_is_parsed_line_by_line(
    lines: list[str], description: str | None
) -> None:
    skill = parse(front_matter("name: deploy-site", *lines))

    assert skill.name == "deploy-site"
    assert skill.description == (
        description or "Use when: the site is down and nobody knows why: really"
    )
    assert "put " in only_problem(skill)


def test_line_by_line_lists_texts_and_fields_below_a_key_are_kept() -> None:
    skill = parse(
        front_matter(
            "name: deploy-site",
            "description: >",
            "  Deploy: the site,",
            "  then rest.",
            "bad: a: b",
            "tags:",
            "- web",
            "- 'release'",
            "metadata:",
            "  category: operations",
            "allowed-tools: Read, Grep",
        )
    )

    assert skill.description == "Deploy: the site, then rest."
    assert skill.tags == ("web", "release")
    assert skill.category == "operations"
    assert skill.metadata["allowed-tools"] == ["Read", "Grep"]


def test_words_that_yaml_converts_stay_text() -> None:
    skill = parse(
        front_matter("name: on", "description: 2024-99-99", "metadata:", "  a: 1:30"), "on"
    )

    assert (skill.name, skill.description, skill.metadata) == ("on", "2024-99-99", {"a": "1:30"})
    assert skill.problems == ()


@each_row(
    ("content", "says"),
    [
        ("Just do it.", "no front matter"),
        ("", "no front matter"),
        ("---\nname: deploy-site\ndescription: D\n\nDo it.", "never closed"),
        (front_matter("name: deploy-site\tx", "description: D"), "tabs"),
        (
            front_matter("name: deploy-site", "name: deploy-site", "description: D"),
            "more than once",
        ),
        (front_matter("name: deploy-site", "description: D", "colour: red"), "`colour`"),
        (front_matter("name: Deploy Site", "description: D"), "write deploy-site"),
        (front_matter("name: " + "a" * 65, "description: D"), "65 characters"),
        (front_matter("name: release", "description: D"), "not that of the folder"),
        (front_matter("name: [a, b]", "description: D"), "is not a text"),
        (front_matter("description: D"), "no name"),
        (front_matter("name: deploy-site"), "no description"),
        (front_matter("name: deploy-site", "description: null"), "no description"),
        (front_matter("name: deploy-site", "description: {a: b}"), "no description"),
        (front_matter("name: deploy-site", "description: [one, two]"), "is a list"),
        (front_matter("name: deploy-site", "description: " + "d" * 1_025), "1,025 characters"),
        (front_matter("name: deploy-site", "description: D", body="  \n"), "no instructions"),
        (front_matter("name: deploy-site", "description: D", "metadata: [a]"), "has no fields"),
        (front_matter("name: deploy-site", "description: D", "tags: {a: b}"), "`tags`"),
        (front_matter("name: deploy-site", "description: D", "category: [a]"), "`category`"),
        (
            front_matter("name: deploy-site", "description: D", "allowed-tools: [[a]]"),
            "allowed-tools",
        ),
        (
            front_matter("name: deploy-site", "description: D", "? [a, b]", ": c"),
            "is not plain text",
        ),
        (front_matter("name: deploy-site", "description: D", body="a\0b"), "NUL"),
        (front_matter("name: deploy-site", "description: D\x07"), "does not allow"),
        (front_matter("- name", "- description"), "is not a list of `key: value`"),
        (front_matter(), "is empty"),
        (
            front_matter("name: deploy-site", "description: D", body="x" * 1_100_000),
            "only the first",
        ),
        (front_matter("name: deploy-site", "description: D", "a: " + "x" * 20_000), "was not read"),
    ],
)
def test_every_mistake_becomes_a_problem_and_the_skill_stays_usable(
    content: str, says: str
) -> None:
    skill = parse(content)

    assert any(says in problem for problem in skill.problems), skill.problems
    assert all(problem[0].isupper() or problem[0] == "`" for problem in skill.problems)
    assert all(problem.endswith(".") for problem in skill.problems)
    assert not name_problem(skill.name)
    assert len(skill.description) <= MAX_DESCRIPTION_CHARS


def test_the_name_in_the_file_counts_if_it_is_valid_and_else_the_folder() -> None:
    assert parse(front_matter("name: release", "description: D")).name == "release"
    assert parse(front_matter("name: Release It!", "description: D")).name == "deploy-site"
    assert (
        parse(front_matter("name: Release It!", "description: D"), "My Folder").name == "release-it"
    )
    assert parse(front_matter("description: D"), "My Folder").name == "my-folder"
    assert parse(front_matter("name: '!'", "description: D"), "ß").name == "unnamed"


def test_a_missing_description_is_the_first_paragraph() -> None:
    skill = parse(
        front_matter("name: deploy-site", body="# Deploy\n\nBuild the site\nand push.\n\nMore.")
    )

    assert skill.description == "Build the site and push."


def test_the_last_value_of_a_duplicate_key_counts() -> None:
    skill = parse(front_matter("name: deploy-site", "description: one", "description: two"))

    assert skill.description == "two"


def test_a_repeated_mistake_is_reported_once() -> None:
    skill = parse(front_matter("name: deploy-site", "description: D", *["tags: [a]"] * 1_000))

    assert "`tags` more than once" in only_problem(skill)


def test_category_and_tags_may_stand_beside_metadata() -> None:
    skill = parse(
        front_matter("name: deploy-site", "description: D", "category: ops", "tags: a, b, a")
    )

    assert (skill.category, skill.tags, skill.problems) == ("ops", ("a", "b"), ())


def test_aliases_are_not_followed() -> None:
    bomb = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    names = "abcdefghijklmnop"
    bomb += [f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in pairwise(names)]

    skill = parse(front_matter("name: deploy-site", "description: D", *bomb))

    assert skill.name == "deploy-site"
    assert any("anchor or alias on line 4" in problem for problem in skill.problems)


@each_row("sign", ["[", "{", "{a: ", "- ", "? ", "[{", "a: &a "])
def test_depth_without_end_is_refused(sign: str) -> None:
    skill = parse(front_matter("name: deploy-site", "description: D", "x: " + sign * 20_000))

    assert skill.name == "deploy-site"
    assert skill.problems


@each_row("tool", ["Read, Grep", "Read Grep", "[Read, Grep]", "\n- Read\n- Grep"])
def test_allowed_tools_may_be_a_text_or_a_list(tool: str) -> None:
    skill = parse(front_matter("name: deploy-site", "description: D", f"allowed-tools: {tool}"))

    assert skill.metadata["allowed-tools"] == ["Read", "Grep"]
    assert skill.problems == ()


texts = st.text(max_size=60)
names = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True)
values = st.recursive(
    texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)


def _as_stored(value: Any) -> Any:
    """Return *value* as it is stored: line ends and what no file can hold."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n")
    if isinstance(value, list):
        return [_as_stored(item) for item in value]
    return {_as_stored(key): _as_stored(item) for key, item in value.items()}


@pytest.mark.fuzz
@given(
    name=names,
    description=texts.filter(lambda text: text.strip()),
    body=st.text(max_size=300).filter(lambda text: text.strip()),
    metadata=st.dictionaries(names, values, max_size=4),
)
def test_a_rendered_skill_parses_back_to_the_same_values(
    name: str, description: str, body: str, metadata: dict[str, Any]
) -> None:
    skill = parse(render_skill(name, description, body, metadata), name)

    assert skill.name == name
    assert skill.description == _as_stored(description).strip()
    assert skill.body == _as_stored(body).strip()
    assert skill.metadata == _as_stored(metadata)


@given(content=st.text(alphabet="-:'\"[]{}&*!|>#%@`\\ \n\t\0\ufeffabname", max_size=200))
def test_parsing_never_fails(content: str) -> None:
    for text in (content, f"---\n{content}\n---\nDo it."):
        skill = parse(text, "x")

        assert not name_problem(skill.name)


def test_fields_of_the_format_are_written_at_the_top_level() -> None:
    written = render_skill(
        "a", "Do: it", "Body.", {"license": "MIT", "category": "x", "tries": 3, "safe": True}
    )

    assert written == (
        "---\nname: a\ndescription: 'Do: it'\nlicense: MIT\n"
        "metadata:\n  category: x\n  tries: '3'\n  safe: 'true'\n---\n\nBody.\n"
    )


@each_row(
    ("name", "description", "body", "metadata", "says"),
    [
        ("", "D", "B", {}, "no name"),
        ("../up", "D", "B", {}, "write up"),
        ("a" * 65, "D", "B", {}, "65 characters"),
        ("a", " ", "B", {}, "description"),
        ("a", "D", "\n", {}, "body"),
        ("a", "D", "B", {"x": object()}, "not object"),
        ("a", "D", "B", {"x": b"y"}, "not bytes"),
    ],
)
def test_values_that_would_not_parse_back_are_rejected(
    name: str, description: str, body: str, metadata: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidInput, match=says):
        render_skill(name, description, body, metadata)


def test_a_skill_that_is_too_long_is_rejected() -> None:
    deep: dict[str, Any] = {}
    for _ in range(30):
        deep = {"x": deep}

    with pytest.raises(TooLarge, match="1,025"):
        render_skill("a", "d" * 1_025, "B")
    with pytest.raises(TooLarge, match="front matter"):
        render_skill("a", "D", "B", {"x": "y" * 20_000})
    with pytest.raises(TooLarge, match="in all"):
        render_skill("a", "D", "b" * 1_100_000)
    with pytest.raises(InvalidInput, match="deeply"):
        render_skill("a", "D", "B", deep)
