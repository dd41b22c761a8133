"""Points become a picture that is well-formed and has every one of them in it."""

import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.plot import Point, draw, main

SVG = "{http://www.w3.org/2000/svg}"


def point(system: str, quality: float, p50_ms: float, task: str = "talk") -> Point:
    return Point(system=system, task=task, quality=quality, p50_ms=p50_ms)


def marks(picture: str) -> dict[str, tuple[float, float]]:
    """Return where each system's mark stands."""
    circles = ElementTree.fromstring(picture).iter(f"{SVG}circle")
    return {
        (circle.findtext(f"{SVG}title") or "").partition(":")[0]: (
            float(circle.attrib["cx"]),
            float(circle.attrib["cy"]),
        )
        for circle in circles
    }


def test_better_stands_higher_and_faster_further_left() -> None:
    positions = marks(draw([point("quick", 40, 1), point("good", 60, 100)]))

    assert positions["quick"][0] < positions["good"][0]
    assert positions["quick"][1] > positions["good"][1]


def test_milliseconds_are_logarithmic() -> None:
    positions = marks(draw([point(str(ms), 50, ms) for ms in (1, 10, 100)]))

    steps = [positions["10"][0] - positions["1"][0], positions["100"][0] - positions["10"][0]]
    assert steps[0] == pytest.approx(steps[1], abs=0.2)


def test_names_of_equal_points_do_not_cover_each_other() -> None:
    picture = draw([point(f"system {number}", 50, 5) for number in range(5)])

    heights = [
        float(element.attrib["y"])
        for element in ElementTree.fromstring(picture).iter(f"{SVG}text")
        if (element.text or "").startswith("system")
    ]
    heights.sort()
    assert len(heights) == 5
    assert all(b - a >= 14 for a, b in pairwise(heights))


def test_every_task_has_a_panel_and_names_are_escaped() -> None:
    picture = draw([point("a<b>&c", 1, 1, "one"), point("d", 1, 1, "two")], title="<t>")

    texts = [element.text for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]
    assert {"a<b>&c", "one", "two", "<t>"} <= set(texts)


def test_colours_for_light_and_dark_are_in_it_and_no_background() -> None:
    picture = draw([point("a", 1, 1)])

    assert "prefers-color-scheme: dark" in picture
    assert "prefers-color-scheme: light" in picture
    assert "<rect" not in picture


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_where_the_setting_is_not_known_its_colours_show_on_white_and_on_black() -> None:
    style = re.findall(r"<style>(.*?)@media", draw([point("a", 1, 1)]), flags=re.DOTALL)[0]

    for colour in re.findall(r"fill: (#\w{6})", style):
        light = luminance(colour)
        assert 1.05 / (light + 0.05) >= 3  # as WCAG wants of graphics and large text
        assert (light + 0.05) / (luminance("#0d1117") + 0.05) >= 3


def test_a_file_of_points_becomes_a_file(tmp_path: Path) -> None:
    row = {"system": "a", "task": "t", "quality": 50, "p50_ms": 2.5, "ours": True}
    file, out = tmp_path / "points.json", tmp_path / "picture.svg"
    file.write_text(json.dumps({"title": "T", "quality": "R@5", "points": [row]}))

    assert main([str(file), "--out", str(out)]) == 0

    assert "R@5 ↑" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "whole",
    [
        {"points": []},
        {"points": [{"system": "a"}]},
        {"points": [{"system": "a", "task": "t", "quality": 1, "p50_ms": 0}]},
        [],
    ],
)
def test_what_are_no_points_is_refused(
    tmp_path: Path, whole: object, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "points.json"
    file.write_text(json.dumps(whole), encoding="utf-8")

    assert main([str(file), "--out", str(tmp_path / "picture.svg")]) == 2

    assert "points" in capsys.readouterr().err
