"""Symbols of the lessons' sentences become formulas on screen and on paper; code stays code."""

import pytest

from attnviz.i18n import LANGUAGES, Language
from attnviz.teach.course import SLUGS
from attnviz.teach.lessons.cards.symbols import typed, with_formulas, with_power
from attnviz.teach.lessons.cards.texts import fill, lesson_texts
from attnviz.teach.lessons.paper.markdown import inline, plain


@pytest.mark.parametrize(
    ("template", "tex"),
    [
        ("÷√d_k, W_Q,i", r"÷$\sqrt{d_k}$, $W_{Q,i}$"),
        ("d_model ÷ h", r"$d_{\mathrm{model}}$ ÷ h"),
        ("pos / 10000^(2i/d)", "pos / $10000^{2i/d}$"),
        ("`d_k`, [[d_k]], in_proj_weight, need_weights", None),
        ("√[[d_k]] and W_Query", None),
    ],
)
def test_with_formulas_sets_symbols_and_leaves_code(template: str, tex: str | None) -> None:
    assert with_formulas(template) == (tex or template)


@pytest.mark.parametrize("symbol", ["W_Q", "W_Q,i", "√d_k", "d_model", "U_qkv", "10000^(2i/d)"])
def test_typed_gives_a_symbol_back_where_only_text_can_stand(symbol: str) -> None:
    formula = with_formulas(symbol)
    assert formula != symbol
    assert typed(formula.strip("$")) == plain(formula) == symbol
    assert "<math" in inline(formula) and "$" not in inline(formula)


@pytest.mark.parametrize(
    ("number", "shown"),
    [("2e-07", "2·10⁻⁷"), ("1e-16", "10⁻¹⁶"), ("0e+00", "0"), ("1.5e+12", "1.5·10¹²"), ("7", "7")],
)
def test_with_power_has_no_e(number: str, shown: str) -> None:
    assert with_power(number) == shown


def test_fill_sets_formulas_only_where_they_can_be_shown() -> None:
    assert fill("W_O: [[error:.0e]]", {"error": 3e-16}) == "$W_O$: 3·10⁻¹⁶"
    assert fill("W_O", {}, markup=False) == "W_O"
    assert fill("[[text]]", {"text": "W_O $x$"}) == r"W\_O \$x\$"  # typed by a learner


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_the_same_formulas(lang: Language) -> None:
    def count(language: Language) -> dict[str, int]:
        return {
            slug: sum(
                with_formulas(text).count("$W")
                for card in lesson_texts(slug, language).cards.values()
                for text in card.values()
            )
            for slug in SLUGS
        }

    expected = count("en")
    assert sum(expected.values()) > 30
    assert all(abs(n - expected[slug]) <= 4 for slug, n in count(lang).items())
