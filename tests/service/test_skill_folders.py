"""Skills on disk: who overrides whom, and what a hostile folder cannot do."""

import os
import sys
from pathlib import Path

import pytest

from recollect.domain.skill import SkillOrigin, SkillReport
from recollect.errors import AlreadyExists, InvalidInput, StoreUnavailable, TooLarge
from recollect.service.disk import skill_folders
from recollect.service.disk.skill_folders import discover, save_skill
from recollect.text.skill_file import render_skill

links = pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def put(folder: Path, name: str, description: str = "Do it.") -> Path:
    return save_skill(folder, render_skill(name, description, "How."), name)


def own(report: SkillReport) -> dict[str, str]:
    """Return the descriptions of what is not bundled, by name."""
    return {
        one.name: one.description for one in report.skills if one.origin is not SkillOrigin.BUNDLED
    }


def test_the_bundled_skills_are_there_without_any_folder(home: Path) -> None:
    report = discover(None, home=home)

    assert [one.name for one in report.skills] == [
        "recollect-memory",
        "remember-well",
        "review-inbox",
        "write-handover",
    ]
    assert {one.origin for one in report.skills} == {SkillOrigin.BUNDLED}
    assert report.problems == ()
    assert report.overridden == ()


def test_later_folders_override_earlier_ones_by_name(home: Path, project: Path) -> None:
    order = [home / name for name in skill_folders.GLOBAL_FOLDERS]
    order += [project / name for name in skill_folders.PROJECT_FOLDERS]
    put(order[0], "remember-well", "mine")
    for number, folder in enumerate(order):
        put(folder, "deploy", str(number))

    report = discover(project, home=home)

    found = {one.name: one for one in report.skills}
    assert found["deploy"].description == "5"
    assert found["deploy"].origin is SkillOrigin.PROJECT
    assert found["remember-well"].origin is SkillOrigin.GLOBAL
    assert [one.description for one in report.overridden if one.name == "deploy"] == list("01234")
    assert [one.origin for one in report.overridden if one.name == "remember-well"] == ["bundled"]
    assert [one.name for one in report.skills] == sorted(found)


def test_without_a_project_only_the_global_folders_count(home: Path, project: Path) -> None:
    put(project / ".skills", "deploy")

    assert own(discover(None, home=home)) == {}
    assert own(discover(project, home=home)) == {"deploy": "Do it."}


def test_a_skill_knows_its_path_and_its_other_files(home: Path, project: Path) -> None:
    file = put(project / ".skills", "deploy")
    for name in ("scripts/run.sh", "references/a/b.md", ".hidden", "__pycache__/x.pyc"):
        (file.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (file.parent / name).write_text("x", encoding="utf-8")

    [skill] = [one for one in discover(project, home=home).skills if one.name == "deploy"]

    assert skill.path == str(file)
    assert skill.files == ("references/a/b.md", "scripts/run.sh")
    assert skill.problems == ()


def test_the_same_disk_gives_the_same_report(home: Path, project: Path) -> None:
    for name in ("b", "a", "c"):
        put(project / ".skills", name)
        put(home / ".claude/skills", name)
    (project / ".skills/empty").mkdir()

    assert discover(project, home=home) == discover(project, home=home)


def test_a_home_that_is_the_project_overrides_nothing_with_itself(home: Path) -> None:
    put(home / ".claude/skills", "deploy")

    report = discover(home, home=home)

    assert own(report) == {"deploy": "Do it."}
    assert report.overridden == ()


def test_what_is_no_skill_is_reported_with_what_to_do(home: Path, project: Path) -> None:
    skills = project / ".skills"
    (skills / "empty").mkdir(parents=True)
    (skills / "README.md").write_text("About.", encoding="utf-8")
    (skills / "SKILL.md").write_text("Lost.", encoding="utf-8")
    (skills / "odd" / "SKILL.md").mkdir(parents=True)
    (project / ".agents").mkdir()
    (project / ".agents" / "skills").write_text("no folder", encoding="utf-8")

    report = discover(project, home=home)

    assert own(report) == {}
    assert report.problems == (
        f"{skills / 'SKILL.md'} lies beside the skills; put it into a folder of its own name",
        f"{skills / 'empty'} has no SKILL.md; add one, or move the folder elsewhere",
        f"{skills / 'odd' / 'SKILL.md'} is not a regular file; it was skipped",
        f"{project / '.agents' / 'skills'} is not a folder; no skills were read. Move it away",
    )


@links
def test_no_link_leads_out_of_its_folder(home: Path, project: Path, tmp_path: Path) -> None:
    outside = put(tmp_path / "outside", "stolen")
    skills = project / ".skills"
    kept = put(skills, "kept").parent
    (skills / "whole").symlink_to(outside.parent)
    (skills / "file").mkdir()
    (skills / "file" / "SKILL.md").symlink_to(outside)
    (kept / "passwd").symlink_to("/etc/passwd")
    (kept / "far").symlink_to(tmp_path / "outside")
    (project / ".claude").mkdir()
    (project / ".claude" / "skills").symlink_to(tmp_path / "outside")

    report = discover(project, home=home)

    assert own(report) == {"kept": "Do it."}
    assert [problem.partition(" is a link")[0] for problem in report.problems] == [
        str(skills / "file" / "SKILL.md"),
        str(skills / "whole"),
        str(project / ".claude" / "skills"),
    ]
    [skill] = [one for one in report.skills if one.name == "kept"]
    assert skill.files == ()
    assert skill.problems == (
        "far is a link that leads out of the skill; it was left out.",
        "passwd is a link that leads out of the skill; it was left out.",
    )


@links
def test_links_that_go_in_circles_end(home: Path, project: Path) -> None:
    skills = project / ".skills"
    kept = put(skills, "kept").parent
    (skills / "self").symlink_to(skills / "self")
    (skills / "up").symlink_to(skills)
    (kept / "again").symlink_to(kept)
    (project / ".agents").mkdir()
    (project / ".agents" / "skills").symlink_to(project / ".agents" / "skills")

    report = discover(project, home=home)

    assert own(report) == {"kept": "Do it."}
    assert len(report.problems) == 3


@links
def test_links_that_stay_inside_are_followed(home: Path, project: Path) -> None:
    put(project / ".skills", "deploy")
    (project / ".skills" / "release").symlink_to(project / ".skills" / "deploy")
    (project / ".claude").mkdir()
    (project / ".claude" / "skills").symlink_to(project / ".skills")
    put(home / "dotfiles", "mine")
    (home / ".claude").mkdir()
    (home / ".claude" / "skills").symlink_to(home / "dotfiles")

    report = discover(project, home=home)

    assert own(report) == {"deploy": "Do it.", "mine": "Do it."}
    assert report.problems == ()
    assert (
        "is not that of the folder"
        in [problem for one in report.skills for problem in one.problems].pop()
    )


@links
def test_a_pipe_in_the_place_of_a_skill_does_not_keep_anybody_waiting(
    home: Path, project: Path
) -> None:
    (project / ".skills" / "pipe").mkdir(parents=True)
    os.mkfifo(project / ".skills" / "pipe" / "SKILL.md")

    assert "not a regular file" in discover(project, home=home).problems[0]


def test_files_that_are_no_text_or_too_large(home: Path, project: Path) -> None:
    skills = project / ".skills"
    sound = render_skill("latin", "Straße", "How.")
    put(skills, "latin").write_bytes(sound.encode("latin-1"))
    put(skills, "wide").write_bytes(sound.replace("latin", "wide").encode("utf-16"))
    put(skills, "large").write_bytes(b"x" * (skill_folders.MAX_BYTES + 1))
    put(skills, "binary").write_bytes(bytes(range(256)) * 100)

    report = discover(project, home=home)

    found = {one.name: one for one in report.skills}
    assert found["latin"].description == "Stra\ufffde"
    assert "line 3" in found["latin"].problems[0]
    assert found["wide"].description == "Straße"
    assert "UTF-16" in found["wide"].problems[0]
    assert found["binary"].problems
    assert [problem for problem in report.problems if "1,048,577 bytes" in problem]


def test_of_very_many_entries_the_first_are_read(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_folders, "MAX_ENTRIES", 3)
    monkeypatch.setattr(skill_folders, "MAX_FILES", 2)
    for name in ("a", "b", "c", "d", "e"):
        file = put(project / ".skills", name)
        (file.parent / name).write_text("x", encoding="utf-8")
    for name in ("x", "y", "z"):
        (project / ".skills" / "a" / name).write_text("x", encoding="utf-8")

    report = discover(project, home=home)

    assert list(own(report)) == ["a", "b", "c"]
    assert "has 5 entries, and only the first 3 were read" in report.problems[0]
    assert ["more than 2 files" in problem for problem in report.skills[0].problems] == [True]


def test_a_saved_skill_is_found_again(home: Path, project: Path) -> None:
    text = render_skill("deploy", "Deploy: the site", "Run it.")

    path = save_skill(project / ".skills", text, "deploy")

    assert path == project / ".skills" / "deploy" / "SKILL.md"
    assert path.read_text(encoding="utf-8") == text
    assert own(discover(project, home=home)) == {"deploy": "Deploy: the site"}


def test_a_saved_skill_does_not_overwrite_unless_told(project: Path) -> None:
    path = save_skill(project, "one", "deploy")

    with pytest.raises(AlreadyExists, match="overwrite"):
        save_skill(project, "two", "deploy")
    assert path.read_text(encoding="utf-8") == "one"
    save_skill(project, "three", "deploy", overwrite=True)
    assert path.read_text(encoding="utf-8") == "three"
    assert [one.name for one in path.parent.iterdir()] == ["SKILL.md"]


@pytest.mark.parametrize("name", ["../up", "a/b", "a\\b", "/etc", "..", ".", "", "A", "a\0b", "~"])
def test_a_name_with_the_parts_of_a_path_is_refused(project: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        save_skill(project, "text", name)
    assert list(project.iterdir()) == []


@links
def test_a_skill_is_not_saved_through_a_link(project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (project / "deploy").symlink_to(tmp_path / "outside")

    with pytest.raises(InvalidInput, match="link"):
        save_skill(project, "text", "deploy", overwrite=True)
    assert list((tmp_path / "outside").iterdir()) == []


@links
def test_a_saved_skill_has_the_mode_of_any_other_file(project: Path) -> None:
    (project / "other").write_text("x", encoding="utf-8")

    path = save_skill(project, "text", "deploy")

    assert path.stat().st_mode == (project / "other").stat().st_mode


def test_a_skill_that_cannot_be_written_leaves_nothing_behind(project: Path) -> None:
    (project / "taken").write_text("x", encoding="utf-8")

    with pytest.raises(StoreUnavailable, match="choose another folder"):
        save_skill(project / "taken", "text", "deploy")
    with pytest.raises(TooLarge):
        save_skill(project, "x" * (skill_folders.MAX_BYTES + 1), "deploy")
    assert [one.name for one in project.iterdir()] == ["taken"]
