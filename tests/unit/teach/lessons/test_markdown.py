"""The Markdown of lessons on paper: `html`, `inline`, `plain` and `formula`."""

import random
import re
from xml.etree.ElementTree import fromstring

import pytest

from attnviz import i18n
from attnviz.i18n import Language
from attnviz.teach.course import SLUGS
from attnviz.teach.lessons.cards.texts import PLACEHOLDER, lesson_texts
from attnviz.teach.lessons.paper.markdown import (
    ATTRIBUTES,
    ELEMENTS,
    formula,
    html,
    inline,
    passages,
    plain,
    spans,
)

CODE = re.compile(r"<(code|pre)\b.*?</\1>", re.DOTALL)
PIECES = [r"\frac", r"\left(", r"\right)", r"\text", r"\hat", r"\sqrt", r"\begin{matrix}", r"\skew"]
PIECES += [r"\href", r"\style", r"\class", r"\newcommand", r"\color{red}", r"\def", r"\foo", "\\"]
PIECES += [
    "{",
    "}",
    "_",
    "^",
    "&",
    "&lt;",
    "<script>",
    '" onclick="x',
    "x",
    "1",
    "[",
    "]",
    "|",
    "猫",
]


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("a **b** *c* `d*e*`", "<p>a <strong>b</strong> <em>c</em> <code>d*e*</code></p>"),
        ("*a **b** c*", "<p><em>a <strong>b</strong> c</em></p>"),
        ("W_Q and d_k, 2 * 3 * 4", "<p>W_Q and d_k, 2 * 3 * 4</p>"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"),
        ("so:\n- a\n- b", "<p>so:</p>\n<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("so\n10. b", "<p>so\n10. b</p>"),
        ("```\na < 1\n\nb\n```", "<pre><code>a &lt; 1\n\nb\n</code></pre>"),
        ("[page](https://a.b/c)", "<p>page (https://a.b/c)</p>"),
        ("![a *head*](https://a.b/c)", "<p>a *head* (https://a.b/c)</p>"),
        ("<https://a.b>", "<p>https://a.b (https://a.b)</p>"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>"),
        (r"costs $5 and \$6", "<p>costs $5 and $6</p>"),
        ("# no heading", "<p># no heading</p>"),
    ],
)
def test_html_reads_commonmark(source: str, made: str) -> None:
    assert html(source) == made


def test_html_nests_lists() -> None:
    assert html("- a\n  - b\n- c").count("<ul>") == 2


def test_html_keeps_a_pipe_inside_code_in_a_cell() -> None:
    made = html("a|b\n-|-\n`x\\|y`|2")
    assert '<table class="text">' in made
    assert re.findall(r"<t[hd]>(.*?)</t[hd]>", made) == ["a", "b", "<code>x|y</code>", "2"]


def test_plain_gives_the_words_of_a_line() -> None:
    assert plain("*a **b** c* `d`\n[e](https://f.g)") == "a b c d e (https://f.g)"
    assert plain(r"$\hat{y}$ and \*") == r"\hat{y} and *"


@pytest.mark.parametrize(
    ("tex", "made"),
    [
        ("d_k", "<msub><mi>d</mi><mi>k</mi></msub>"),
        (r"\sqrt{d}", "<msqrt><mrow><mi>d</mi></mrow></msqrt>"),
        (r"\le", "<mo>≤</mo>"),
        (r"\text{a < b & c}", "<mtext>a&#160;&lt;&#160;b&#160;&amp;&#160;c</mtext>"),
    ],
)
def test_formula_is_mathml(tex: str, made: str) -> None:
    assert made.replace("&#160;", "\xa0") in formula(tex)


def test_formula_sets_an_accent_over_its_letter() -> None:
    """`\\hat{y}` was printed as "haty" once."""
    root = fromstring(formula(r"\hat{y}"))
    over = root.find(".//mover")
    assert over is not None and "".join(over.itertext()) == "y^"
    assert inline(r"so $\hat{y}$").startswith('so <span class="math inline"><math ')


@pytest.mark.parametrize(
    "tex",
    [r"\foo{x}", r"\left( a", "x^", "{", r"\newcommand", r"\skew1|", r"\href{javascript:x}{y}"]
    + [r"\class{a}{x}", r"\style{color:red}{x}", r"\color{red}x"],
)
def test_formula_leaves_what_it_does_not_know_as_it_was_typed(tex: str) -> None:
    assert formula(tex) == f"<code>${tex}$</code>"
    assert formula(tex, display=True) == f"<code>$${tex}$$</code>"


def test_formula_makes_nothing_but_formulas_of_any_tex() -> None:
    rng = random.Random(2)
    n_formulas = 0
    for _ in range(3000):
        tex = "".join(rng.choices(PIECES, k=rng.randint(1, 7)))
        made = fromstring(formula(tex))  # well-formed: no tag was typed into it
        if made.tag == "code":
            assert made.text == f"${tex}$" and not list(made)
            continue
        n_formulas += 1
        for element in made.iter():
            assert element.tag in ELEMENTS, tex
            assert ATTRIBUTES.issuperset(element.attrib), tex
    assert n_formulas > 300


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_every_text_of_a_lesson_is_read_whole(slug: str, lang: Language) -> None:
    """No mark is left over, as where emphasis ends between a bracket and a letter."""
    for name, texts in lesson_texts(slug, lang).cards.items():
        for key, text in texts.items():
            made = CODE.sub("", html(PLACEHOLDER.sub("0.5", text)))
            assert not re.search(r"\*\*|`|\$", made), (name, key)


def test_passages_are_paragraphs_and_items_in_pieces_of_one_style() -> None:
    source = "A **b** `<i>c</i>` *d*\n\n1. one, $W_Q$\n2. two\n\n- x \\<b\\>"
    found = [(each.mark, [(s.text, s.style) for s in each.spans]) for each in passages(source)]
    assert found == [
        (
            "",
            [("A ", ""), ("b", "strong"), (" ", ""), ("<i>c</i>", "code"), (" ", ""), ("d", "em")],
        ),
        ("1.", [("one, W_Q", "")]),
        ("2.", [("two", "")]),
        ("•", [("x <b>", "")]),
    ]


def test_spans_of_a_hostile_line_are_its_text() -> None:
    (span,) = spans("</script><img src=x onerror=1> %{x}")
    assert (span.text, span.style) == ("</script><img src=x onerror=1> %{x}", "")


def test_marked_english_words_name_their_language_on_paper_and_in_a_class() -> None:
    said = "“:color[the \\[x\\] cat]”の **:color[dog]**。"
    english = '<span lang="en">{}</span>'
    cat, dog = english.format("the [x] cat"), english.format("dog")
    assert html(said) == f"<p>“{cat}”の <strong>{dog}</strong>。</p>"
    ((first, marked, middle, bold, end),) = (passage.spans for passage in passages(said))
    assert (marked.text, marked.lang, marked.style) == ("the [x] cat", "en", "")
    assert (bold.text, bold.lang, bold.style) == ("dog", "en", "strong")
    assert not first.lang and not middle.lang and not end.lang
    assert plain(said) == "“the [x] cat”の dog。"
    assert plain(":color[no end") == ":color[no end"
