"""A survey as one page: the figure of all heads, and below it what each of them does.

In: a survey, its figure and a measure. Out: an HTML document without a script, which loads nothing.
Words are those of Atlas; tokens and texts of the survey are escaped.
"""

from collections.abc import Sequence
from html import escape

from attnviz.corpus.result import Survey
from attnviz.figures.drawing import Drawing
from attnviz.i18n import Language, text
from attnviz.pictures.atlas import CountedRow, HeadDetail
from attnviz.pictures.atlas.fill import head_detail
from attnviz.types import Measure

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
svg { max-width: 100%; height: auto; background: #fff; }
table { border-collapse: collapse; margin: .6rem 0 1.2rem; }
.wide { overflow-x: auto; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; }
tr { border-bottom: 1px solid #8884; }
td { font-variant-numeric: tabular-nums; white-space: pre-line; }
h2 { font-size: 1rem; margin: .8rem 0 0; }
summary { cursor: pointer; padding: .3rem 0; }
summary b { margin-right: .6rem; }
"""


def page(survey: Survey, drawing: Drawing, by: Measure, lang: Language = "en") -> str:
    """The document; the tenths of each head are those of the measure `by`."""
    roles = survey.roles()
    details = [_head(lang, head_detail(lang, survey, roles, head, by)) for head in survey.heads]
    tokens = f"{survey.n_token:,}"
    counts = {"model": survey.model.id, "texts": survey.n_text, "tokens": tokens}
    title = f"{text(lang, 'page.atlas.title')} · {survey.model.id}"
    return "\n".join(
        (
            "<!doctype html>",
            f'<html lang="{lang}"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="generator" content="attnviz">',
            f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
            f"<h1><bdi>{escape(title)}</bdi></h1>",
            f"<p><bdi>{escape(text(lang, 'atlas.summary', **counts))}</bdi></p>",
            f"<figure>{drawing.svg()}</figure>",
            *details,
            "</body></html>\n",
        )
    )


def _head(lang: Language, detail: HeadDetail) -> str:
    """One head, folded: its sentences, measures, tenths, pairs and keys."""

    def say(name: str, **values: object) -> str:
        return text(lang, f"component.atlas.{name}", **values)

    def counted(rows: Sequence[CountedRow]) -> list[tuple[str, ...]]:
        return [(" → ".join(row.tokens), say("times", n=row.n), row.weight) for row in rows]

    names = ("measure", "mean", "interval", "even", "other", "above")
    measures = [
        (row.label, row.mean, row.interval, row.even, row.other, row.above) for row in detail.rows
    ]
    tenths = [
        (row.number, say("range", low=row.low, high=row.high), "\n".join(row.texts))
        for row in detail.deciles
    ]
    blocks = (
        (say("numbers"), tuple(map(say, names)), measures),
        (
            say("deciles", head=detail.title, measure=detail.by),
            (say("number"), detail.by, say("tenth")),
            tenths,
        ),
        (say("pairs"), (say("pair"), "", say("weight")), counted(detail.pairs)),
        (say("keys"), (say("token"), "", say("received")), counted(detail.keys)),
    )
    first, *others = detail.sentences
    return "\n".join(
        (
            f"<details><summary><b>{escape(detail.title)}</b> {escape(first)}</summary>",
            *(f"<p>{escape(sentence)}</p>" for sentence in others),
            *(_table(*block) for block in blocks),
            "</details>",
        )
    )


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "\n".join(
        "<tr>" + "".join(f"<td><bdi>{escape(cell)}</bdi></td>" for cell in row) + "</tr>"
        for row in rows
    )
    return (
        f'<h2>{escape(title)}</h2><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
