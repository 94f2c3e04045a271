"""A survey as a file: itself, its table of heads, a figure, or a page to read.

In: a survey, and the choices for its kind of file. Out: the bytes of the file. `corpus.archive`
reads an .npz again; .csv and .json are the table, .svg, .pdf, .png and .eps the heads on two
measures, .html that figure with what each head does: a document without a script, which loads
nothing; its words are those of Atlas, tokens and texts of the survey are escaped.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from attnviz.corpus.archive import survey_bytes
from attnviz.corpus.result import Survey
from attnviz.errors import bad_argument, require_one_of
from attnviz.figures.drawing import Drawing
from attnviz.figures.scatter import scatter
from attnviz.i18n import Language, tag, text
from attnviz.pictures.atlas import CountedRow, HeadDetail
from attnviz.pictures.atlas.fill import head_detail
from attnviz.summary import counted
from attnviz.types import MEASURES, Measure

FIGURE = ("measures", "width_in", "size_pt", "title")
# the ending of a file → the arguments that it takes
ENDINGS: dict[str, tuple[str, ...]] = {
    ".npz": (),
    ".csv": (),
    ".json": (),
    ".html": ("measures", "lang"),
    ".svg": FIGURE,
    ".pdf": FIGURE,
    ".png": FIGURE,
    ".eps": FIGURE,
}
AXES: tuple[Measure, Measure] = ("distance", "entropy")
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


def content(survey: Survey, ending: str, options: Mapping[str, Any]) -> bytes:
    """The file that the ending names, one of `ENDINGS`, with the options that it takes.

    Raises `BadInput` for a measure that does not exist, and of the choices of a figure.
    """
    if ending == ".npz":
        return survey_bytes(survey)
    if ending == ".csv":
        return _csv(survey).encode()
    if ending == ".json":
        return _json(survey).encode()
    axes = _axes(options.get("measures", AXES))
    if ending == ".html":
        lang: Language = options.get("lang", "en")
        drawing = _figure(survey, axes, {"title": ""}, lang)
        return page(survey, drawing, axes[1], lang).encode()
    style = {name: value for name, value in options.items() if name != "measures"}
    return _figure(survey, axes, style).content(ending)


def _axes(measures: object) -> tuple[Measure, Measure]:
    """Two measures, the first across."""
    if not isinstance(measures, tuple | list) or len(measures) != 2:
        raise bad_argument(
            f'measures is {measures!r}; give two, such as ("distance", "entropy")',
            name="measures",
            found=repr(measures),
            allowed="two measures",
        )
    for name in measures:
        require_one_of("measure", name, MEASURES)
    across, up = (MEASURES[MEASURES.index(name)] for name in measures)
    return across, up


def _figure(
    survey: Survey, axes: tuple[Measure, Measure], style: Any, lang: Language = "en"
) -> Drawing:
    """All heads on two measures; those with a role are marked and named with it."""
    table, roles = survey.table(list(dict.fromkeys(axes))), survey.roles()
    points = [
        np.stack([table[f"{name}{end}"] for end in ("_low", "", "_high")], axis=-1) for name in axes
    ]
    held = [roles.roles(row) for row in range(len(survey.heads))]
    words = [", ".join(text(lang, f"measure.{name}") for name in names) for names in held]
    labels = [f"{head} {role}".strip() for head, role in zip(survey.heads, words, strict=True)]
    title = f"{survey.model.id}, {counted(survey.n_text, 'text')}"
    titles = [text(lang, f"measure.{name}") for name in axes]
    return scatter(
        np.stack(points, axis=1),
        labels,
        np.array([bool(names) for names in held]),
        **{"title": title, "column_title": titles[0], "row_title": titles[1], **style},
    )


def _csv(survey: Survey) -> str:
    """One row for each head; an empty cell where no text has a measure."""
    columns = survey.table().to_dict()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow("" if cell != cell else cell for cell in row)  # NaN is not itself
    return text.getvalue()


def _json(survey: Survey) -> str:
    columns = survey.table().to_dict()
    rows = [
        {name: None if cell != cell else cell for name, cell in zip(columns, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]
    counts = {"model": survey.model.id, "texts": survey.n_text, "tokens": survey.n_token}
    return json.dumps({**counts, "heads": rows}, allow_nan=False)


def page(survey: Survey, drawing: Drawing, by: Measure, lang: Language = "en") -> str:
    """The document; the tenths of each head are those of the measure `by`."""
    roles = survey.roles()
    details = [_head(lang, head_detail(lang, survey, roles, head, by)) for head in survey.heads]
    tokens = f"{survey.n_token:,}"
    counts = {"model": survey.model.id, "texts": f"{survey.n_text:,}", "tokens": tokens}
    title = f"{text(lang, 'page.atlas.title')} · {survey.model.id}"
    return "\n".join(
        (
            "<!doctype html>",
            f'<html lang="{tag(lang)}"><head><meta charset="utf-8">',
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
