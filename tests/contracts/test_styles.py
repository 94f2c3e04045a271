"""The components' style sheets take sizes of type and of space from two scales (`style_rules`)."""

import re

import pytest

from attnviz.pictures.shared.bundle import FOLDER, SHARED
from tests.contracts.style_rules import off_scale

SHEETS = sorted((*FOLDER.glob("*/canvas.css"), FOLDER / SHARED / "style.css"))
MIN_CAPTION_PX, MARK = 13, "mark"


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.parent.name)
def test_off_scale_finds_nothing_in_the_style_sheets(sheet) -> None:  # type: ignore[no-untyped-def]
    assert off_scale(sheet.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "declaration",
    [
        "font-size: 12.5px",
        "font: 600 15px serif",
        "padding: var(--av-space-4) 5px",
        "margin: -3px",
        "gap: calc(2 * var(--av-space-4))",
        "row-gap: 1rem",
        "margin-inline-start: 7px",
    ],
)
def test_off_scale_finds_another_size(declaration: str) -> None:
    assert off_scale(f".one {{\n  color: red;\n  {declaration};\n}}\n") == [declaration]


def test_off_scale_leaves_what_is_on_the_scales_or_relative() -> None:
    on_scale = (
        "font: inherit; font-size: var(--av-type-body); padding: 0 var(--av-space-8); "
        "margin: calc(-1 * var(--av-space-4)) auto; margin-top: 0.4em; width: 17px; /* gap: 3px; */"
    )
    assert off_scale(f".one {{ {on_scale} }}") == []


def test_only_marks_inside_of_pictures_are_smaller_than_a_caption() -> None:
    shared = (FOLDER / SHARED / "style.css").read_text(encoding="utf-8")
    sizes = {name: int(px) for name, px in re.findall(r"--av-type-([a-z]+): (\d+)px;", shared)}
    assert sizes["caption"] == MIN_CAPTION_PX
    assert [name for name, px in sizes.items() if px < MIN_CAPTION_PX] == [MARK]
