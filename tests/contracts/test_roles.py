"""The table of colours by role (`shared/style.css`): readable, told apart, and the only one."""

import re
import tomllib
from itertools import combinations

import numpy as np
import pytest

from attnviz.app.host.first_paint import FIRST_SHEET
from attnviz.figures import sheet
from attnviz.pictures.shared.bundle import FOLDER, stylesheet
from tests.contracts import project
from tests.contracts.test_settings import READABLE, SETTINGS, colour, contrast

ROLE = re.compile(r"--av-(\w+): light-dark\((#\w{6}), (#\w{6})\);")
SCHEMES = ("light", "dark")
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB
SIGHT = {
    "usual": np.eye(3),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.01182, 0.04294, 0.968881],
        ]
    ),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
}
# OKLab distance times 100; query and key had 4. Where it is small, form carries the role.
LEAST = {("query", "key"): 12, ("query", "off"): 10, ("key", "answer"): 10, ("key", "off"): 5}


def table(scheme: str) -> dict[str, str]:
    """The colours of a scheme by role."""
    block = stylesheet("shared").partition(":host {")[2].partition("}")[0]
    return {role: sides[SCHEMES.index(scheme)] for role, *sides in ROLE.findall(block)}


def oklab(code: str, sight: str) -> np.ndarray:
    """The colour in OKLab (Ottosson 2020), as it is seen."""
    light = np.array(
        [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour(code)]
    )
    seen = np.clip(SIGHT[sight] @ light, 0, 1)
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    mixed = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return np.asarray(mixed @ np.cbrt(cones @ seen))


def distance(one: str, other: str) -> float:
    """The least distance of two colours, times 100, over the kinds of sight."""
    apart = (oklab(one, sight) - oklab(other, sight) for sight in SIGHT)
    return 100 * min(float(np.linalg.norm(step)) for step in apart)


def unreadable(roles: dict[str, str], scheme: str) -> list[str]:
    """Roles whose colour is too faint for text on one of the backgrounds."""
    theme = SETTINGS["theme"][scheme]
    grounds = [colour(theme[name]) for name in ("backgroundColor", "secondaryBackgroundColor")]
    return [
        role
        for role, code in roles.items()
        if min(contrast(colour(code), g) for g in grounds) < READABLE
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_role_can_be_read(scheme: str) -> None:
    roles = table(scheme)
    assert set(roles) == {"query", "key", "value", "answer", "off"}
    assert not unreadable(roles, scheme)
    assert unreadable(roles | {"key": "#7ad79a" if scheme == "light" else "#1d7a34"}, scheme) == [
        "key"
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_roles_are_told_apart_by_those_who_see_no_red_or_green(scheme: str) -> None:
    roles = table(scheme)
    apart = {pair: distance(roles[pair[0]], roles[pair[1]]) for pair in combinations(roles, 2)}
    for pair, least in LEAST.items():
        assert apart.get(pair, apart.get(pair[::-1], 0.0)) >= least, (pair, apart)


def test_the_former_magenta_and_green_were_too_near() -> None:
    assert distance("#b8105c", "#1d7a34") < LEAST["query", "key"] / 2


def test_the_theme_and_the_figures_take_their_colours_from_the_table() -> None:
    config = tomllib.loads(project.read(project.ROOT / ".streamlit" / "config.toml"))["theme"]
    for scheme in SCHEMES:
        assert config[scheme]["primaryColor"] == table(scheme)["answer"]
        assert config[scheme]["orangeColor"] == table(scheme)["off"]
    assert (sheet.PRIMARY, sheet.CHOSEN) == (table("light")["answer"], table("light")["off"])


def test_the_first_paint_has_the_colours_of_the_page() -> None:
    known = {code for scheme in SCHEMES for code in table(scheme).values()}
    themes = [SETTINGS["theme"][scheme] for scheme in SCHEMES]
    known |= {theme[name] for theme in themes for name in ("textColor", "backgroundColor")}
    used = set(re.findall(r"#[0-9a-f]{6}", project.read(FIRST_SHEET)))
    assert len(used) == 8 and used <= known


def second_tables(texts: dict[str, str]) -> list[str]:
    """Files of canvases that write down a role's colour themselves."""
    codes = {code for scheme in SCHEMES for code in table(scheme).values()}
    return [
        name for name, text in texts.items() if codes & set(re.findall(r"#[0-9a-f]{6}\b", text))
    ]


def test_no_canvas_has_a_table_of_its_own() -> None:
    files = [path for kind in ("js", "css") for path in FOLDER.rglob(f"*.{kind}")]
    texts = {str(path.relative_to(FOLDER)): project.read(path) for path in files}
    # the theme of a page, in which primary is what the answer has
    del texts["shared/page.css"]
    assert second_tables(texts) == ["shared/style.css"]
    assert second_tables({"own.js": 'ctx.fillStyle = "#8e0b57";'}) == ["own.js"]
