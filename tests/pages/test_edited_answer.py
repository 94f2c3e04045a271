"""Below Steps and Masks: what an edit does to the model's answer, with its control."""

import pytest

from attnviz import i18n
from attnviz.i18n.numbers import local, percent_sign
from tests.pages.conftest import Visit

STORE = "When Mary and John went to the store, John gave a drink to"
CONTROL = {"en": "Control:", "ja": "対照", "ko": "대조", "zh": "对照", "es": "Control:"}


def said(app: object) -> list[str]:
    main = app.main  # type: ignore[attr-defined]
    return [part.value for part in (*main.markdown, *main.caption)]


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
@pytest.mark.parametrize(
    ("page", "options"),
    [("steps", {"edits": "masked.14.*=-inf"}), ("masks", {"masks": "causal,window=2"})],
)
def test_an_edit_is_followed_to_the_answer(
    visit: Visit, page: str, options: dict[str, str], lang: i18n.Language
) -> None:
    where = {"layer": "0", "head": "0", "lang": lang, "text2": ""}
    app = visit(page, model="stories", text=STORE, **where, **options)
    assert not app.error
    (sentence,) = [one for one in said(app) if "**Mary**" in one]
    assert local(lang, "99.3") + percent_sign(lang) in sentence
    assert [one for one in said(app) if CONTROL[lang] in one]


@pytest.mark.parametrize("page", ["steps", "masks"])
def test_without_an_edit_nothing_is_said(visit: Visit, page: str) -> None:
    app = visit(page, model="stories", text=STORE, layer="0", head="0")
    assert not [one for one in said(app) if "**Mary**" in one]


def test_generated_tokens_are_another_text(visit: Visit) -> None:
    options = {"layer": "0", "head": "0", "edits": "q.3.3=1", "generate": "2"}
    app = visit("steps", model="stories", text=STORE, **options)
    assert i18n.text("en", "edited.another_text") in said(app)


def test_a_link_without_the_translation_keeps_its_edit(visit: Visit) -> None:
    where = {"stack": "decoder", "kind": "cross", "layer": "1", "head": "3"}
    app = visit("steps", model="translator", edits="masked.3.*=-inf", **where)
    assert not app.error
    assert [one for one in said(app) if "**" in one and "→" in one]
    assert [one for one in said(app) if "Control:" in one]


def test_an_edit_that_hardly_moves_a_sentence_is_not_said_to_move_nothing(visit: Visit) -> None:
    app = visit("steps", model="minilm", layer="3", head="1", edits="masked.5.*=-inf")
    assert not app.error
    assert [one for one in said(app) if "is >0.9999" in one]
    assert [one for one in said(app) if "The answer moves by <0.0001" in one]
