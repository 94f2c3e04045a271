"""The app's settings: those of rendering that matter, no outside font, colours that can be read."""

import re
import stat
import tomllib
from typing import Any

import pytest
from streamlit import config

from tests.contracts import project

SETTINGS = tomllib.loads(project.read(project.ROOT / ".streamlit" / "config.toml"))
REQUIRED = {
    "runner.postScriptGC": False,
    "browser.gatherUsageStats": False,
    "client.toolbarMode": "minimal",
    "client.showErrorLinks": False,
    "client.showErrorDetails": "none",
    "server.headless": True,
    "server.address": "127.0.0.1",
}
READABLE = 4.5  # WCAG 2.2, 1.4.3: contrast of text
VISIBLE = 3.0  # WCAG 2.2, 1.4.11: contrast of what is not text
FADED = 0.6  # Streamlit draws captions in the text colour with this opacity


def flat(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in table.items():
        found |= (
            flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
        )
    return found


def test_the_settings_that_matter_are_set() -> None:
    settings = flat(SETTINGS)
    assert {name: settings.get(name) for name in REQUIRED} == REQUIRED


def unknown_settings(settings: dict[str, Any]) -> list[str]:
    """Names that Streamlit does not know; it would ignore them with a line in the log."""
    known = config.get_config_options()
    return [name for name in flat(settings) if name not in known]


def test_streamlit_knows_every_setting() -> None:
    assert not unknown_settings(SETTINGS)


def test_an_unknown_setting_is_found() -> None:
    assert unknown_settings({"runner": {"postScriptGc": False}}) == ["runner.postScriptGc"]


def outside(settings: dict[str, Any]) -> list[str]:
    """Settings that would make a browser load something from elsewhere."""
    texts = {name: str(value) for name, value in flat(settings).items()}
    return [name for name, text in texts.items() if re.search(r"//|url\(|:http", text)]


def test_nothing_is_loaded_from_elsewhere() -> None:
    assert not outside(SETTINGS)
    assert "var(--attnviz-fonts" in SETTINGS["theme"]["font"]
    families = project.read(project.UI / "style.css")
    for script in ("Hiragino", "CJK JP", "CJK KR", "CJK SC"):
        assert script in families, script
    assert not re.search(r"url\((?!\"?data:)|@import", families)


def test_a_remote_font_is_found() -> None:
    assert outside({"theme": {"font": "Nunito:https://fonts.example/x"}}) == ["theme.font"]


Colour = tuple[float, float, float]


def colour(code: str) -> Colour:
    red, green, blue = (int(code[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def laid_over(front: Colour, back: Colour, opacity: float) -> Colour:
    mixed = [opacity * f + (1 - opacity) * b for f, b in zip(front, back, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def luminance(of: Colour) -> float:
    """Relative luminance as WCAG defines it."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in of]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Colour, other: Colour) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_has_its_known_values() -> None:
    assert contrast(colour("#ffffff"), colour("#000000")) == pytest.approx(21.0)
    assert contrast(colour("#777777"), colour("#ffffff")) == pytest.approx(4.48, abs=0.005)


def unreadable(theme: dict[str, Any]) -> list[str]:
    """Pairs of text or line and background below the contrast that a reader needs."""
    found = []
    for background in ("backgroundColor", "secondaryBackgroundColor"):
        back = colour(theme[background])
        pairs = {name: (colour(theme[name]), READABLE) for name in ("textColor", "linkColor")}
        pairs["caption"] = (laid_over(colour(theme["textColor"]), back, FADED), READABLE)
        pairs["primaryColor"] = (colour(theme["primaryColor"]), VISIBLE)
        pairs |= {f"line {of}": (colour(of), VISIBLE) for of in theme["chartCategoricalColors"]}
        for name, (front, least) in pairs.items():
            if contrast(front, back) < least:
                found.append(f"{name} on {background}: {contrast(front, back):.2f}")
    if contrast(colour(theme["codeTextColor"]), colour(theme["codeBackgroundColor"])) < READABLE:
        found.append("codeTextColor")
    return found


@pytest.mark.parametrize("kind", ["light", "dark"])
def test_the_theme_can_be_read(kind: str) -> None:
    assert not unreadable(SETTINGS["theme"][kind])
    assert len(SETTINGS["theme"][kind]["chartCategoricalColors"]) == 10  # fewer are ignored


def test_a_faint_caption_is_found() -> None:
    faint = SETTINGS["theme"]["light"] | {"textColor": "#2f2d2b"}
    assert [line.split(":")[0] for line in unreadable(faint)] == [
        "caption on backgroundColor",
        "caption on secondaryBackgroundColor",
    ]


def test_a_line_that_is_hardly_seen_is_found() -> None:
    pale = SETTINGS["theme"]["light"] | {"chartCategoricalColors": ["#83c9ff"]}
    assert [line.split(" on ")[0] for line in unreadable(pale)] == ["line #83c9ff"] * 2


def test_ci_runs_what_people_run() -> None:
    script = project.ROOT / ".ci" / "run"
    lines = [line for line in project.read(script).splitlines() if not line.startswith("#")]
    assert lines[-1] == "exec make test"
    assert script.stat().st_mode & stat.S_IXUSR
