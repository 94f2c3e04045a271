"""A survey as a file: itself, its table of heads, a figure, or a page to read.

In: a survey, and the choices for its kind of file. Out: the bytes of the file. `survey.archive`
reads an .npz again; .csv and .json are the table, .svg, .pdf, .png and .eps the heads on two
measures, .html that figure with what each head does.
"""

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.corpus.archive import survey_bytes
from attnviz.corpus.result import Survey
from attnviz.errors import bad_argument
from attnviz.figures.drawing import Drawing
from attnviz.figures.scatter import scatter
from attnviz.files.survey_page import page
from attnviz.i18n import Language, text
from attnviz.metrics.table import bad_name
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
        if name not in MEASURES:
            raise bad_name("measure", name, MEASURES)
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
