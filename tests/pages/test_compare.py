"""Compare: two sides, the library's numbers between them, what is said where they do not fit."""

from collections.abc import Callable

import numpy as np
import pytest

import attnviz
from attnviz import i18n
from attnviz.app.page_parts import compare
from attnviz.app.session import messages, widgets
from tests.pages.conftest import Visit, beside_bar, parameters, pieces, sent, type_text

KEY = widgets.key
A, B = "The cat sat on the mat.", "The dog sat quietly on the mat."
Tiny = Callable[[str], str]


def slots_of(axis: tuple[attnviz.compare.Slot, ...]) -> list[list[int]]:
    return [[-1 if s.a is None else s.a, -1 if s.b is None else s.b, int(s.same)] for s in axis]


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_both_sides_and_the_share_that_moved(
    visit: Visit, minilm: attnviz.LoadedModel, lang: i18n.Language
) -> None:
    app = visit("compare", lang=lang, text=A, text_b=B)
    assert not app.error
    assert app.title[0].value == i18n.text(lang, "page.compare.title")
    header, arrays = sent(app)
    a, b = attnviz.capture(minilm, A), attnviz.capture(minilm, B)
    assert header["a"]["tokens"] == list(a.tokens.labels)
    assert header["b"]["tokens"] == list(b.tokens.labels)
    found = attnviz.compare.pair(a.tokens, b.tokens, same_vocabulary=True)
    assert header["rows"] == header["cols"] == slots_of(found.slots)
    assert [2, 2, 0] in header["rows"] and [-1, 4, 0] in header["rows"]
    # another number of threads sums in another order: float32 rounding
    np.testing.assert_allclose(arrays["weights_a"], a.all_weights(), atol=1e-5)
    np.testing.assert_allclose(arrays["weights_b"], b.all_weights(), atol=1e-5)
    by_head = attnviz.compare.moved_by_head(
        a.all_weights(), b.all_weights(), found.slots, found.slots
    )
    np.testing.assert_allclose(arrays["moved_rows"], by_head, atol=1e-5)
    np.testing.assert_allclose(arrays["moved"], np.nanmean(by_head, axis=-1), atol=1e-5)
    assert pieces(app, "strip.b")["text_b"]["label"] == i18n.text(lang, "compare.text")


def test_the_first_view_differs_in_one_word(visit: Visit) -> None:
    header, _ = sent(visit("compare"))
    replaced = [slot for slot in header["rows"] if not slot[2]]
    ((a, b, _),) = replaced
    assert (header["a"]["tokens"][a], header["b"]["tokens"][b]) == ("tired", "wide")


def test_swap_and_copy(visit: Visit) -> None:
    app = visit("compare", text=A, text_b=B, layer="1", head="2", layer_b="3", head_b="4")
    app.button(KEY("swap")).click().run()
    found = parameters(app)
    assert (found["text"], found["text_b"]) == (B, A)
    assert [found[name] for name in ("layer", "head", "layer_b", "head_b")] == ["3", "4", "1", "2"]
    assert sent(app)[0]["b"]["tokens"][2] == "cat"
    app.button(KEY("copy")).click().run()
    found = parameters(app)
    assert found["text_b"] == B and "query_b" not in found
    assert not {"layer_b", "head_b", "model_b", "image", "image_b"} & found.keys()
    header, arrays = sent(app)
    assert "moved" not in arrays
    # the same head of both, with the way to a difference
    assert not header["only_heads_differ"]
    assert i18n.text("en", "compare.same_text") in [caption.value for caption in app.caption]


@pytest.mark.parametrize(
    ("a", "b", "cell", "swapped"),
    [
        (A, B, {"query": "2", "key": "5"}, {"query": "2", "key": "6"}),
        (A, f"Yes, {A}", {"query": "2", "key": "5"}, {"query": "4", "key": "7"}),
        (A, f"Yes, {A}", {"query_b": "1", "key": "5"}, {"query": "1", "key": "7"}),
        (f"Yes, {A}", A, {"query": "1", "key": "5"}, {"query_b": "1", "key": "3"}),
    ],
)
def test_the_chosen_cell_stays_chosen_in_swapped_sentences(
    visit: Visit, a: str, b: str, cell: dict[str, str], swapped: dict[str, str]
) -> None:
    """It is named on the left, but for a token that is on the right alone."""
    app = visit("compare", text=a, text_b=b, **cell)
    app.button(KEY("swap")).click().run()
    found = parameters(app)
    names = ("query", "key", "query_b", "key_b")
    assert {name: found[name] for name in names if name in found} == swapped


def test_swapping_models_brings_each_to_the_other_side(visit: Visit) -> None:
    app = visit("compare", model="sentiment", text=A, model_b="minilm")
    before, _ = sent(app)
    app.button(KEY("swap")).click().run()
    after, _ = sent(app)
    assert (after["a"], after["b"]) == (before["b"], before["a"])
    assert parameters(app)["model_b"] == "sentiment"


def test_two_vocabularies_share_the_pieces_of_one_text(visit: Visit) -> None:
    header, arrays = sent(visit("compare", text="tirelessly didn't.", model_b="stories"))
    assert header["merged"] == 1
    assert header["alike"] == 0
    assert "moved" not in arrays
    spelled = "".join(label.removeprefix("##") for label in header["b"]["tokens"][1:])
    assert spelled == "tirelesslydidn't."
    equal = [(a, b) for a, b, same in header["rows"] if same]
    assert len(equal) == len(header["b"]["tokens"]) - 1 < header["b"]["n_query"] - 1
    np.testing.assert_allclose(arrays["weights_a"].sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(arrays["weights_b"].sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_two_vocabularies_on_two_texts_are_refused(visit: Visit, lang: i18n.Language) -> None:
    app = visit("compare", lang=lang, text=A, text_b=B, model_b="stories")
    assert [each.value for each in app.error] == [i18n.text(lang, "error.no_pairing")]
    assert not beside_bar(app)


def test_texts_too_long_to_stand_side_by_side(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "MAX_PAIRED", 9)
    app = visit("compare", text=A, text_b=B)
    (said,) = [each.value for each in app.info]
    assert said.startswith("The longer side has 10 tokens")
    assert not beside_bar(app)


def test_two_pictures_are_compared_patch_by_patch(visit: Visit) -> None:
    app = visit("compare", model="shapes", image_b="sample-3")
    header, arrays = sent(app)
    n = len(header["a"]["tokens"])
    assert header["rows"] == [[at, at, 1] for at in range(n)]
    assert arrays["moved"].max() > 0.1
    app.button(KEY("swap")).click().run()
    assert (parameters(app)["image"], parameters(app)["image_b"]) == ("sample-3", "sample-1")


def test_cross_attention_has_two_axes_and_an_answer_of_its_own(visit: Visit) -> None:
    app = visit(
        "compare",
        model="translator",
        text="I saw her yesterday.",
        text_b="I saw him.",
        stack="decoder",
        kind="cross",
    )
    header, _ = sent(app)
    assert header["cross"] == 1
    assert header["b"]["key_tokens"][:3] == ["I", "saw", "him"]
    assert header["rows"] != header["cols"]


def test_what_a_model_wrote_is_part_of_both_sides(visit: Visit) -> None:
    header, _ = sent(visit("compare", model="stories", generate="2"))
    assert sum(header["a"]["written"]) == sum(header["b"]["written"]) == 2


def test_one_module_compares_two_of_its_heads(visit: Visit) -> None:
    header, arrays = sent(visit("compare", model="mha-55"))
    assert header["only_heads_differ"]
    np.testing.assert_array_equal(arrays["weights_a"], arrays["weights_b"])


def test_a_right_model_that_does_not_exist_is_said(visit: Visit) -> None:
    app = visit("compare", text=A, model_b="gpt-9")
    assert len(app.error) == 1
    assert "gpt\\-9" in app.error[0].value


def test_the_right_side_reads_a_target_of_its_own(visit: Visit) -> None:
    app = visit("compare", model="translator", text="the cat sleeps .", target="le chat dort .")
    assert pieces(app, "strip.b")["target_b"]["label"] == i18n.text("en", "compare.target")
    type_text(app, "la chatte", "target_b")
    assert parameters(app)["target_b"] == "la chatte"
    assert parameters(app)["target"] == "le chat dort ."
    assert not app.exception
    again = visit("compare", **parameters(app), stack="decoder", kind="self")
    header, _ = sent(again)
    assert header["a"]["tokens"] != header["b"]["tokens"]
    assert pieces(again, "strip.b")["target_b"]["text"] == "la chatte"


@pytest.mark.slow
def test_a_model_of_ones_own_is_named_for_the_right_side(visit: Visit, tiny: Tiny) -> None:
    app = visit("compare", text=A)
    assert not beside_bar(app, "text_input")
    listed = app.selectbox(KEY("model_b.en"))
    other = i18n.text("en", "menu.other_model")
    assert listed.options[-1] == other
    listed.set_value(compare.OTHER).run()
    assert app.selectbox(KEY("model_b.en")).value == compare.OTHER
    assert "model_b" not in parameters(app), "the old side is there until a name is given"
    app.text_input(KEY("model_name_b")).set_value(f'"{tiny("bert")}"').run()
    assert not app.error
    assert parameters(app)["model_b"] == tiny("bert")
    assert app.text_input(KEY("model_name_b")).value == tiny("bert")
    listed = app.selectbox(KEY("model_b.en"))
    assert listed.value == tiny("bert")
    assert listed.options[-2:] == ["bert", other]
    header, arrays = sent(app)
    own = attnviz.capture(attnviz.load(tiny("bert")), A)
    np.testing.assert_allclose(arrays["weights_b"], own.all_weights(), atol=1e-5)
    app.selectbox(KEY("model_b.en")).set_value(compare.SAME).run()
    assert not beside_bar(app, "text_input")
    assert "model_b" not in parameters(app)


def test_a_name_that_opens_nothing_is_said_and_can_be_put_right(visit: Visit, tiny: Tiny) -> None:
    gone = f"{tiny('bert')}-gone"
    app = visit("compare", text=A, model_b=gone)
    said = i18n.text("en", "error.no_folder", folder=messages.plain(gone))
    assert [each.value for each in app.error] == [said]
    app.text_input(KEY("model_name_b")).set_value(tiny("bert")).run()
    assert not app.error
    assert parameters(app)["model_b"] == tiny("bert")


@pytest.mark.slow
def test_another_model_on_the_left_leaves_the_right_one(visit: Visit, tiny: Tiny) -> None:
    """Unless both would be one, or are known to read different things."""
    app = visit("compare", text=A, model=tiny("bert"), model_b="minilm")
    app.button(KEY("swap")).click().run()
    assert parameters(app)["model_b"] == tiny("bert")
    app.selectbox(KEY("model.en")).set_value("").run()
    app.text_input(KEY("model_name")).set_value(tiny("gpt2")).run()
    assert parameters(app)["model_b"] == tiny("bert")
    assert (sent(app)[0]["a"]["model"], sent(app)[0]["b"]["model"]) == ("gpt2", "bert")
    app.text_input(KEY("model_name")).set_value(tiny("bert")).run()
    assert "model_b" not in parameters(app)
    app = visit("compare", text=A, model_b="sentiment")
    app.selectbox(KEY("model.en")).set_value("shapes").run()
    assert not app.error
    assert "model_b" not in parameters(app)


@pytest.mark.slow
def test_texts_of_two_lengths_are_not_patched_and_that_is_said(visit: Visit) -> None:
    """patching.show: a plain sentence, not an error; texts of one length are patched."""
    texts = {"text": "Tom had a red ball.", "text_b": "Tom had a big red ball."}
    app = visit("compare", model="stories", patch=1, **texts)
    assert not app.error
    (said,) = (info.value for info in app.info)
    assert "position by position" in said
    app = visit("compare", model="stories", patch=1, **texts | {"text_b": "Tom had a big ball."})
    assert not app.error and not app.info
