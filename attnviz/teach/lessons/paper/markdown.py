"""The Markdown of the lessons as HTML for paper, and nothing that could run.

In: a filled text of a card. Out: HTML of CommonMark with GitHub's tables and formulas between
dollar signs, the Markdown that the screen reads too. HTML in a text is escaped; links and pictures
become their words with the address behind them, since paper has no links. Headings are not read:
"#" begins a card in a file of texts. Sources: https://spec.commonmark.org,
https://github.github.com/gfm.
"""

from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from attnviz.teach.lessons.cards.symbols import typed
from attnviz.teach.lessons.paper.formula import formula

BREAKS = ("softbreak", "hardbreak")


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
    return parser


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
