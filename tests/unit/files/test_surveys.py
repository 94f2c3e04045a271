"""A survey as a figure and as a page: every head, both measures, and texts that stay texts."""

from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.corpus.result import Survey
from attnviz.figures.scatter import scatter
from tests.support.hostile import SCRIPT

TEXTS = [
    "Lily has a cat. The cat sat down.",
    "Tom gave the red ball to Mia. Mia gave the red ball to Tom.",
    f"The dog ran {SCRIPT} to the park.",
]


@pytest.fixture(scope="module")
def survey() -> Survey:
    return attnviz.survey("stories", TEXTS)


def texts_of(path: Path) -> list[str]:
    """The texts of an SVG."""
    tree = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return [entry.text or "" for entry in tree.iter("{http://www.w3.org/2000/svg}text")]


def test_the_figure_of_a_survey_names_its_measures_model_and_heads(
    survey: Survey, tmp_path: Path
) -> None:
    path = attnviz.save(survey, tmp_path / "x.svg", measures=("previous", "peak"))
    texts = texts_of(path)
    for name in ("previous", "peak"):
        assert i18n.text("en", f"measure.{name}") in texts
    assert any(text.startswith("stories, 3 texts") for text in texts)
    roles = survey.roles()
    held = [str(head) for row, head in enumerate(survey.heads) if roles.roles(row)]
    assert held and any(text.startswith(held[0]) for text in texts)
    assert "title of mine" in texts_of(
        attnviz.save(survey, tmp_path / "y.svg", title="title of mine", width_in=4)
    )
    assert attnviz.save(survey, tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_scatter_leaves_out_heads_without_a_mean_and_labels_that_would_touch() -> None:
    points = np.zeros((4, 2, 3))
    points[1] = np.nan
    points[2] += 1
    drawing = scatter(points, ["first", "missing", "far", "hidden"], np.array([True] * 4))
    labels = [mark.text for mark in drawing.sheet.texts]
    assert {"first", "far"} <= set(labels) and "missing" not in labels
    with pytest.raises(attnviz.BadInput, match="no head with both measures"):
        scatter(points[1:2], ["missing"], np.array([True]))
    with pytest.raises(attnviz.BadInput, match="2 labels; give 4"):
        scatter(points, ["a", "b"], np.array([True] * 4))


class Tags(HTMLParser):
    """The tags of a document, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_page_of_a_survey_has_every_head_and_no_script(
    survey: Survey, lang: i18n.Language, tmp_path: Path
) -> None:
    path = attnviz.save(survey, tmp_path / "x.html", lang=lang, measures=("entropy", "previous"))
    content = path.read_text(encoding="utf-8")
    page = Tags()
    page.feed(content)
    assert page.tags.count("details") == len(survey.heads) == 16
    assert (
        "script" not in page.tags
        and "link" not in page.tags
        and "http:" not in (content.replace("http://www.w3.org/2000/svg", ""))
    )
    assert SCRIPT in page.text, "a text of the survey stays text"
    assert i18n.text(lang, "component.atlas.pairs") in page.text
    pair = survey.pairs("L2.H1", 1)[0]
    assert f"{pair.query} → {pair.key}" in page.text
    assert "<svg" in content and f'lang="{i18n.tag(lang)}"' in content
