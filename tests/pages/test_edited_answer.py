"""Below Steps and Masks: what an edit does to the model's answer, with its control."""

import pytest

import attnviz
from attnviz import i18n
from attnviz.i18n.numbers import local, percent_sign
from attnviz.pictures import effects
from attnviz.pictures.shared.buffer import unpack
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


def test_the_line_of_the_text_is_told_what_an_edit_makes_of_the_answer(visit: Visit) -> None:
    """The corner said Mary 99% beside "no longer Mary"."""
    lm = attnviz.load("stories")
    cut = {"layer": "2", "head": "1", "edits": "masked.14.2=-inf"}
    app = visit("steps", model="stories", text=STORE, **cut)
    logits = [
        attnviz.capture(lm, STORE, changes=changes).logits
        for changes in ([], [attnviz.cut("L2.H1", 14, 2)])
    ]
    before, after = (row[0, -1].softmax(-1).max(0) for row in logits if row is not None)
    (line,) = [
        each.proto.bytes
        for each in app.main.get("bidi_component")
        if each.proto.component_name == f"attnviz.{effects.CANVAS.name}"
    ]
    header, _ = unpack(line)
    assert header["cell"] is None
    assert header["before"] == ["Mary", pytest.approx(float(before.values), abs=1e-4)]
    word, share = header["answers"][2][1]
    assert (word,) == lm.labels_of([int(after.indices)]) != ("Mary",)
    assert share == pytest.approx(float(after.values), abs=1e-4)
    (sentence,) = [one for one in said(app) if "**Mary**" in one]
    assert header["edited"] == sentence.replace("**", "").replace("model's ", "")


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
    assert [one for one in said(app) if "Moved by <0.0001" in one]
