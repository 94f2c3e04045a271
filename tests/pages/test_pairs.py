"""The page Pairs: the library's numbers for a set, what is pasted, what is refused in words."""

import time
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.app.page_parts.pairs import WIDGET
from attnviz.app.session import widgets
from attnviz.capture.changed.references import reference_of
from attnviz.corpus.samples import sample_pairs
from attnviz.experiment import DifferenceSlot
from attnviz.experiment.pair_lines import MAX_PAIRS, asked, read_pairs
from attnviz.pictures.shared.buffer import unpack
from tests.pages.conftest import Visit, beside_bar, parameters
from tests.support.hostile import TEXT as HOSTILE

GIVING = "When {0} and {1} went to the {2}, {1} gave a {3} to"
# of different lengths: the partner's gift has more tokens
LINES = "\n".join(
    " | ".join(
        (GIVING.format(a, b, place, "ball"), a, GIVING.format(b, a, place, "big red ball"), b)
    )
    for a, b in (("Mary", "John"), ("Lily", "Tom"), ("Sara", "Ben"))
    for place in ("store", "park")
)


def picture(app: AppTest) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
    found = [
        unpack(element.proto.bytes)
        for element in beside_bar(app)
        if element.proto.component_name == "attnviz.pairs"
    ]
    return found[0] if found else None


def paste(app: AppTest, lines: str) -> AppTest:
    return app.text_area(widgets.key(WIDGET)).set_value(lines).run()


def said(app: AppTest) -> list[str]:
    return [each.value for each in (*app.info, *app.error)]


@pytest.mark.slow
@pytest.mark.parametrize("ask", ["effects", "direct", "lens", "patching"])
def test_the_rows_are_those_of_the_library(visit: Visit, ask: str) -> None:
    app = visit("pairs", model="stories", ask=ask)
    shown = picture(app)
    assert shown is not None, said(app)
    header, arrays = shown
    lm = attnviz.load("stories")
    run = attnviz.experiment(lm, *asked(lm, sample_pairs(lm)))
    if ask == "patching":
        result = run.patching(slots={"difference": DifferenceSlot(), "last": -1})
        mean, interval, gap = result.share, result.share_interval, run.source - run.before
        gap = np.where(np.abs(gap) < abs(gap.mean()) / 10, np.nan, gap)
        np.testing.assert_allclose(arrays["control"], result.control_share, atol=2e-4)
    else:
        result = getattr(run, ask)()
        mean, interval, gap = result.mean[:, None], result.interval[:, None], 1.0
        assert "control" not in arrays
    if ask == "patching":
        best = np.unravel_index(np.abs(mean).argmax(), mean.shape)
        own, other = round(100 * mean[best]), round(100 * result.control_share[best])
        (verdict,) = [one for one in header["sentences"] if "another pair's partner brings" in one]
        assert f"{result.rows[best[0]]} at the last token brings {own}% [" in verdict
        assert f"brings {other}%. The difference, {own - other} percentage points" in verdict
    np.testing.assert_allclose(arrays["mean"], mean, atol=2e-4)
    np.testing.assert_allclose(arrays["low"], interval[..., 0], atol=2e-3)
    np.testing.assert_allclose(arrays["high"], interval[..., 1], atol=2e-3)
    values = result.values.reshape(arrays["values"].shape) / gap
    np.testing.assert_allclose(arrays["values"], values, atol=2e-4)
    assert [header["rows"][at] for at in header["order"][:1]] == list(result.order()[:1])
    assert (header["n_solved"], header["n_asked"]) == (run.n_solved, len(run.texts))
    assert np.abs(arrays["mean"]).max() > 0.5


def test_what_replaces_a_head_and_both_texts_of_a_pair_are_shown(visit: Visit) -> None:
    shown = picture(visit("pairs", model="stories"))
    assert shown is not None
    header, _ = shown
    pairs = sample_pairs(attnviz.load("stories"))
    assert [
        (pair["text"], pair["answer"], pair["other"], pair["other_answer"])
        for pair in header["texts"]
    ] == [(pair.text, pair.answer, pair.other, pair.other_answer) for pair in pairs]
    (note,) = [one for one in header["sentences"] if "mean ablation" in one]
    first = reference_of(attnviz.load("stories")).texts[0]
    assert f"50 generated stories (the first begins “{first[:20]}" in note
    (interval,) = [one for one in header["sentences"] if one.startswith("Intervals")]
    assert "such as John / Mary" in interval and "60 pairs have only 15 such sets" in interval


@pytest.mark.slow
def test_pairs_that_the_model_does_not_solve_are_counted_and_can_be_left_out(visit: Visit) -> None:
    whole, solved = (
        picture(visit("pairs", model="sentiment", ask="effects", **more))
        for more in ({}, {"solved": "1"})
    )
    assert whole is not None and solved is not None
    lm = attnviz.load("sentiment")
    run = attnviz.experiment(lm, *asked(lm, sample_pairs(lm)))
    assert run.n_solved is not None and 0 < run.n_solved < len(run.texts)
    for header, n in ((whole[0], len(run.texts)), (solved[0], run.n_solved)):
        assert (header["n_solved"], header["n_asked"]) == (run.n_solved, len(run.texts))
        assert len(header["texts"]) == n
    expected = run.only_solved().effects().mean
    np.testing.assert_allclose(solved[1]["mean"][:, 0], expected, atol=2e-4)
    assert np.abs(solved[1]["mean"] - whole[1]["mean"]).max() > 0.05


def test_pasted_pairs_of_other_lengths_are_measured_and_given_up_again(visit: Visit) -> None:
    app = paste(visit("pairs", model="stories", ask="patching"), LINES)
    shown = picture(app)
    assert shown is not None, said(app)
    assert [pair["text"] for pair in shown[0]["texts"]] == [pair.text for pair in read_pairs(LINES)]
    assert "pair_lines" not in parameters(app)
    app = app.button(widgets.key("pairs.back")).click().run()
    again = picture(app)
    assert again is not None and len(again[0]["texts"]) == 60


@pytest.mark.some(5)
@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("When Mary went home", "error.bad_pair"),
        ("a | b | c", "error.bad_pair"),
        ("a | Mary | b | Mary", "error.equal_answers"),
        ("\n".join([LINES.splitlines()[0]] * 10_000), "error.too_many_pairs"),
        ("Mary | hippopotamus | John | Tom", "error.bad_token"),
        (HOSTILE, ""),
        (f"{HOSTILE} | Mary | {HOSTILE} | John".replace("\n", " "), ""),
        ("   \n\n", "pairs.none"),
    ],
)
def test_lines_that_do_not_fit_are_refused_in_words(visit: Visit, lines: str, code: str) -> None:
    app = paste(visit("pairs", model="stories"), lines)
    assert not app.exception
    if code:
        start = i18n.catalogue("en")[code].split("{")[0]
        assert any(start in value for value in said(app)), said(app)
        assert picture(app) is None
    else:
        assert said(app) or picture(app) is not None


@pytest.mark.some(1)
@pytest.mark.parametrize("ask", ["effects", "patching"])
def test_texts_of_one_token_and_a_model_that_solves_none(visit: Visit, ask: str) -> None:
    # the answers are the wrong way round: nothing is solved
    swapped = [line.split(" | ") for line in LINES.splitlines()]
    wrong = "\n".join(f"{a} | {d} | {c} | {b}" for a, b, c, d in swapped)
    app = paste(visit("pairs", model="stories", ask=ask), wrong)
    shown = picture(app)
    assert shown is not None and shown[0]["n_solved"] == 0
    app = app.toggle(widgets.key("solved")).set_value(True).run()
    assert picture(app) is None
    assert said(app) == [i18n.text("en", "error.none_solved")]
    app = app.toggle(widgets.key("solved")).set_value(False).run()
    shown = picture(paste(app, "The | dog | A | cat"))
    assert shown is not None and len(shown[0]["texts"]) == 1
    assert np.isfinite(shown[1]["low"]).all()


@pytest.mark.parametrize("model", ["minilm", "translator", "shapes"])
def test_a_model_without_such_an_answer_says_so(visit: Visit, model: str) -> None:
    app = visit("pairs", model=model)
    assert i18n.text("en", "pairs.not_here") in said(app)


def test_a_model_without_such_an_answer_leads_to_the_example(visit: Visit) -> None:
    app = visit("pairs", model="minilm").button(widgets.key("pairs.example")).click().run()
    shown = picture(app)
    assert shown is not None and len(shown[0]["texts"]) == 60
    assert parameters(app)["model"] == "stories"


def test_more_pairs_than_are_measured_at_once_are_told_with_the_limit() -> None:
    line = LINES.splitlines()[0]
    assert len(read_pairs("\n".join([line] * MAX_PAIRS))) == MAX_PAIRS
    with pytest.raises(attnviz.BadInput, match=f"{MAX_PAIRS + 1} pairs"):
        read_pairs("\n".join([line] * (MAX_PAIRS + 1)))
    assert read_pairs(line.replace(" | ", "\t")) == read_pairs(line)


def test_a_long_run_of_blanks_in_a_pair_takes_no_time() -> None:
    """A search for blanks before a | would begin anew at each of them: minutes for this line."""
    begun = time.process_time()
    with pytest.raises(attnviz.BadInput, match="line 1"):
        read_pairs(f"a{' ' * 100_000}b")
    assert time.process_time() - begun < 1.0
    assert read_pairs(f"a{' ' * 100_000}|b| c\td")[0].other == "c"
