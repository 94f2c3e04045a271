"""The strip: its tokens and answers are the library's; what comes back changes the view."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.app.frame import strip as app_strip
from attnviz.app.session import address, uploads, widgets
from attnviz.checks import examples
from attnviz.pictures.shared.buffer import unpack
from attnviz.tokens.labels import without_surrogates
from tests.pages.conftest import Visit, parameters, pieces, strip, tell, type_text
from tests.support import hostile
from tests.support.hostile import HALF, OVERRIDE, TOKENS

TEXT = "The cat sat."
STORE = "When Mary and John went to the store, John gave a book to"


def header(app: AppTest) -> dict[str, object]:
    return unpack(strip(app).proto.bytes)[0]


@pytest.mark.some(2)
@pytest.mark.parametrize("page", ["overview", "head", "switches", "steps", "map", "output"])
def test_every_room_shows_the_tokens_that_ask_and_answer(visit: Visit, page: str) -> None:
    app = visit(page, text=TEXT)
    tokens = pieces(app)["text"]["tokens"]
    expected = attnviz.capture("minilm", TEXT).tokens
    assert tokens["labels"] == list(expected.labels)
    assert tokens["special"] == list(map(int, expected.special))
    assert tokens["asks"] and tokens["answers"]
    assert header(app)["answer"] is None  # a sentence encoder says nothing


def test_the_answer_is_the_likeliest_next_token(visit: Visit) -> None:
    answer = header(visit("head", model="stories", text=STORE))["answer"]
    assert isinstance(answer, dict)
    logits = attnviz.capture("stories", STORE).logits[0, -1].float()
    assert answer["word"] == "Mary" == attnviz.load("stories").labels_of([int(logits.argmax())])[0]
    assert answer["probability"] == pytest.approx(float(logits.softmax(-1).max()), abs=1e-6)
    assert answer["title"] == i18n.text("en", "strip.next")


def test_the_answer_of_a_classifier_is_its_class(visit: Visit) -> None:
    answer = header(visit("head", model="sentiment", text="This is a good film."))["answer"]
    assert isinstance(answer, dict) and answer["word"] == "positive"
    assert answer["title"] == i18n.text("en", "strip.class")


@pytest.mark.parametrize(
    ("stack", "kind", "asks", "answers"),
    [
        ("encoder", "self", {"text"}, {"text"}),
        ("decoder", "self", {"target"}, {"target"}),
        ("decoder", "cross", {"target"}, {"text"}),
    ],
)
def test_the_words_that_ask_are_those_of_the_chosen_attention(
    visit: Visit, stack: str, kind: str, asks: set[str], answers: set[str]
) -> None:
    place = {"stack": stack, "kind": kind, "target": "le chat dort ."}
    both = pieces(visit("head", model="translator", text="the cat sleeps .", **place))
    assert list(both) == ["text", "target"]
    assert {name for name, piece in both.items() if piece["tokens"]["asks"]} == asks
    assert {name for name, piece in both.items() if piece["tokens"]["answers"]} == answers
    assert both["text"]["tokens"]["labels"][:2] == ["the", "cat"]
    assert both["target"]["text"] == "le chat dort ."


def test_the_patches_of_a_picture_stand_in_it_as_they_look(visit: Visit) -> None:
    app = visit("overview", model="shapes")
    (piece,) = pieces(app).values()
    assert (piece["name"], piece["field"], len(piece["tokens"]["labels"])) == ("picture", None, 37)
    assert piece["tokens"]["patches"] == {"rows": 6, "columns": 6, "first": 1}
    _, arrays = unpack(strip(app).proto.bytes)
    assert arrays["picture"].shape[-1] == 3 and np.ptp(arrays["picture"]) > 0


def test_of_too_many_tokens_the_text_is_shown(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_strip, "MAX_CHIPS", 5)
    piece = pieces(visit("overview", text=TEXT))["text"]
    assert piece["tokens"] is None and piece["text"] == TEXT


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_each_example_comes_with_what_there_is_to_see(visit: Visit, lang: i18n.Language) -> None:
    shown = header(visit("head", lang=lang, model="stories"))["examples"]
    assert isinstance(shown, list)
    assert [one["text"] for one in shown] == list(examples.texts("stories"))
    assert all(one["hint"] for one in shown)


def test_what_cannot_be_run_can_still_be_changed(visit: Visit) -> None:
    app = visit("overview", text=" ")
    assert pieces(app)["text"] == {**pieces(app)["text"], "text": " ", "tokens": None}
    type_text(app, TEXT)
    assert parameters(app)["text"] == TEXT and pieces(app)["text"]["tokens"]


@pytest.mark.some(2)
@pytest.mark.parametrize("nonsense", [None, 3, "x", {"name": "lab", "text": "x"}, {"name": "text"}])
def test_nonsense_changes_no_text(visit: Visit, nonsense: object) -> None:
    app = visit("overview", text=TEXT)
    tell(app, strip(app), "typed", nonsense)
    tell(app, strip(app), "typed", {"name": "text_b", "text": "of another page"})
    assert parameters(app)["text"] == TEXT and "text_b" not in parameters(app)


HOSTILE = (*TOKENS, hostile.TEXT, "\0", "\r\n\t \u2028", OVERRIDE, HALF * 500, "x\0" * 3500)


@pytest.mark.some(1)
@pytest.mark.parametrize("typed", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_a_text_or_is_refused(visit: Visit, typed: str) -> None:
    app = visit("overview", text=TEXT)
    type_text(app, typed)  # it asserts that the page ran
    said = [alert.value for alert in app.error]
    piece = pieces(app)["text"]
    if len(typed) <= address.MAX_CHARS["text"]:
        assert not said and parameters(app)["text"] == piece["text"] == without_surrogates(typed)
    elif "\0" in typed:
        assert len(said) == 1 and piece["text"] == TEXT
    else:
        assert parameters(app)["file"] == "1" and "text" in parameters(app)
    type_text(app, "Well again.")
    assert parameters(app)["text"] == "Well again." and "file" not in parameters(app)


def test_a_text_beyond_every_limit_is_refused_in_one_sentence(visit: Visit) -> None:
    app = visit("overview", text=TEXT)
    type_text(app, "\u9577" * uploads.MAX_TEXT_BYTES)
    assert len(app.error) == 1 and f"{uploads.MAX_TEXT_BYTES // 1024:,}" in app.error[0].value
    assert parameters(app)["text"] == TEXT


def test_a_token_that_is_clicked_is_the_query(visit: Visit) -> None:
    app = visit("overview", text=TEXT, layer="3", head="1")
    place = {"layer": 3, "head": 1, "query": 2, "key": None, "scale": "sqrt", "special": "show"}
    tell(app, strip(app), "selection", place)
    assert parameters(app)["query"] == "2"
    tell(app, strip(app), "selection", {**place, "query": 99})
    assert parameters(app)["query"] == "2"


@pytest.mark.parametrize("place", [{"wall": "1", "room": "x"}])
def test_a_wall_shows_no_strip(visit: Visit, place: dict[str, str]) -> None:
    app = visit("overview", text=TEXT, **place)
    assert not [each for each in app.container if each.key == widgets.key("strip")]
