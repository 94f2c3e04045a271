"""The Markdown of the lessons as HTML for paper, as passages for a class, and nothing that runs.

In: a filled text of a card. Out: passages of plain text in a few styles; or HTML of CommonMark with
GitHub's tables, formulas between dollar signs and marked English words (`i18n.in_english`), the
Markdown that the screen reads too. HTML in a text is escaped; links and pictures become their words
with the address behind them, since paper has no links. Headings are not read: "#" begins a card in
a file of texts. A formula in TeX becomes MathML, which every current browser sets without a script
or a font of ours: only elements and attributes of plain formulas pass, and all text is escaped (the
converter's own serialisation unescapes what was typed). A formula that the converter cannot read
stays as it was typed, between dollar signs. Sources:
https://spec.commonmark.org, https://github.github.com/gfm, https://www.w3.org/TR/mathml-core.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape, unescape
from xml.etree.ElementTree import Element, tostring

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkLabel
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from attnviz.i18n import ENGLISH
from attnviz.pictures.class_card import CardSpan, Passage, SpanStyle
from attnviz.teach.lessons.cards.symbols import typed

ELEMENTS = frozenset(
    (
        "math mrow mi mn mo mtext mspace msub msup msubsup munder mover munderover mfrac msqrt"
        " mroot mtable mtr mtd mstyle mpadded mphantom menclose"
    ).split()
)
ATTRIBUTES = frozenset(
    (
        "display mathvariant stretchy accent accentunder fence form separator movablelimits"
        " linethickness lspace rspace minsize maxsize symmetric largeop width height depth"
        " columnalign columnspacing rowspacing displaystyle scriptlevel notation"
    ).split()
)
BREAKS = ("softbreak", "hardbreak")
STYLES: dict[str, SpanStyle] = {"strong_open": "strong", "em_open": "em"}


def html(source: str) -> str:
    """A text as HTML blocks.

    >>> html("It **sums** to 1.")
    '<p>It <strong>sums</strong> to 1.</p>'
    """
    return str(_parser().render(source)).strip()


def inline(source: str) -> str:
    """A line as HTML, without a paragraph around it."""
    return str(_parser().renderInline(source))


def plain(source: str) -> str:
    """A line without its markup, for places that hold text only; symbols as they were typed.

    >>> plain(r"**scores** of \\<b\\>")
    'scores of <b>'
    """
    [line] = _parser().parseInline(source)
    return "".join(map(_plain, line.children or ()))


def passages(source: str) -> tuple[Passage, ...]:
    """A text as paragraphs and items of lists, each in pieces of one style.

    >>> passages("**sum**")
    (Passage(mark='', spans=(CardSpan(text='sum', style='strong'),)),)
    """
    found, mark, bullet = list[Passage](), "", ""
    for token in _parser().parse(source):
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                bullet = "" if token.type.startswith("ordered") else "•"
            case "list_item_open":
                mark = bullet or f"{token.info}{token.markup}"
            case "inline":
                found.append(Passage(mark, spans_of(token.children or ())))
                mark = ""
            case "fence" | "code_block":
                found.append(Passage("", (CardSpan(token.content, "code"),)))
    return tuple(found)


def spans(source: str) -> tuple[CardSpan, ...]:
    """A line in pieces of one style."""
    [line] = _parser().parseInline(source)
    return spans_of(line.children or ())


def spans_of(tokens: Sequence[Token]) -> tuple[CardSpan, ...]:
    """The pieces of a line that was read already; pieces of one style are one."""
    pieces, styles, lang = list[CardSpan](), list[SpanStyle](), ""
    for token in tokens:
        if token.type in STYLES:
            styles.append(STYLES[token.type])
        elif token.type in ("strong_close", "em_close"):
            styles.pop()
        elif token.type in ("english_open", "english_close"):
            lang = str(token.attrs.get("lang", ""))
        elif text := _plain(token):
            style = "code" if token.type == "code_inline" else styles[-1] if styles else ""
            if pieces and (pieces[-1].style, pieces[-1].lang) == (style, lang):
                text = pieces.pop().text + text
            pieces.append(CardSpan(text, style, lang))
    return tuple(pieces)


def _plain(token: Token) -> str:
    if token.type in BREAKS:
        return " "
    return typed(token.content) if token.type.startswith("math") else token.content


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable("table").disable(["heading", "lheading"])
    parser.use(
        dollarmath_plugin,
        allow_labels=False,
        allow_space=False,
        allow_digits=True,
        allow_blank_lines=False,
        double_inline=True,
        renderer=lambda tex, options: formula(tex, display=options["display_mode"]),
    )
    parser.core.ruler.push("paper", _for_paper)
    parser.inline.ruler.before("link", "english", _english)
    return parser


def _english(state: StateInline, silent: bool) -> bool:
    """Read marked English words as an element that names its language."""
    start = state.pos + len(ENGLISH)
    end = parseLinkLabel(state, start - 1) if state.src.startswith(ENGLISH, state.pos) else -1
    if end < 0:
        return False
    if not silent:
        last, state.pos, state.posMax = state.posMax, start, end
        state.push("english_open", "span", 1).attrs = {"lang": "en"}
        state.md.inline.tokenize(state)
        state.push("english_close", "span", -1)
        state.posMax = last
    state.pos = end + 1
    return True


def _for_paper(state: StateCore) -> None:
    """Change what paper sets in another way: links, pictures, the class of tables."""
    for block in state.tokens:
        if block.type == "table_open":
            block.attrSet("class", "text")
        if block.children:
            block.children = list(_inline_for_paper(block.children))


def _inline_for_paper(tokens: Sequence[Token]) -> Iterator[Token]:
    addresses: list[str] = []
    for token in tokens:
        match token.type:
            case "link_open":
                addresses.append(str(token.attrs["href"]))
            case "link_close":
                yield _words(f" ({addresses.pop()})")
            case "image":
                yield _words(f"{token.content} ({token.attrs['src']})")
            case "math_inline_double":  # inside a line, as on screen
                token.type = "math_inline"
                yield token
            case _:
                yield token


def _words(text: str) -> Token:
    return Token("text", "", 0, content=text)


def formula(tex: str, *, display: bool = False) -> str:
    """The formula as MathML; as it was typed, in code, where it cannot be read.

    >>> formula("d_k").endswith("<msub><mi>d</mi><mi>k</mi></msub></mrow></math>")
    True
    """
    root = _tree(tex, display)
    if root is None:
        dollars = "$$" if display else "$"
        return f"<code>{escape(dollars + tex + dollars)}</code>"
    return tostring(root, encoding="unicode")


def _tree(tex: str, display: bool) -> Element | None:
    """The formula's MathML; None if it cannot be read or holds more than a plain formula."""
    from latex2mathml.converter import convert_to_element  # hardly any lesson has a formula

    try:
        root = convert_to_element(tex, display="block" if display else "inline")
    except Exception:  # its own exceptions, StopIteration, TypeError: what its parser stumbles on
        return None
    root.attrib.pop("xmlns", None)  # HTML needs none
    for element in root.iter():
        # the converter writes signs as references such as &#x02264;
        element.text = unescape(element.text or "")
        is_unknown = element.text.startswith("\\") and element.text != "\\"
        if is_unknown or element.tag not in ELEMENTS or not ATTRIBUTES.issuperset(element.attrib):
            return None
    return root
