"""Tables of what wrote an answer, beside what its loss does, and of the tokens it comes from.

In: a language and what `attnviz.experiment` measured. Out: `TableView`s. Nothing is computed here
but ranks: it is chosen what is shown.
"""

from typing import TYPE_CHECKING

import numpy as np

from attnviz.i18n import Language, joined, text
from attnviz.i18n.numbers import number
from attnviz.pictures.table import TableCell, TableRow, TableView
from attnviz.pictures.table.inside import numbers, real

if TYPE_CHECKING:
    from attnviz.experiment.direct import Direct
    from attnviz.experiment.effects import Effects
    from attnviz.experiment.tokens import Method, TokenScores

MAX_PARTS, MAX_EFFECTS, MAX_TOKENS = 12, 4, 64


def parts_table(
    lang: Language, direct: "Direct", effects: "Effects", agreement: float
) -> TableView:
    """The largest parts of the answer, and the heads with the largest effects on it.

    Beside a head's part stands what the loss of the head does; `agreement` is the rank correlation
    of both over all heads.
    """
    largest = np.argsort(-np.abs(direct.values), kind="stable")
    moving = set(effects.order[:MAX_EFFECTS])
    shown = [n < MAX_PARTS or direct.components[at].site in moving for n, at in enumerate(largest)]
    order = largest[shown]
    most = float(np.abs(direct.values).max()) or 1.0
    components = [direct.components[place] for place in order]
    parts = numbers(lang, direct.values[order], most)
    known = [part.site for part in components if part.site in effects.heads]
    changes = dict(
        zip(known, numbers(lang, [effects.of(site) for site in known], most), strict=True)
    )
    rows = []
    for component, part in zip(components, parts, strict=True):
        opens = str(component.site) if component.site is not None else ""
        effect = changes.get(component.site, TableCell("–"))
        label = component.label.partition(":")[0].split(".")
        name = component.label if component.site is not None else ".".join(label[-2:])
        rows.append(TableRow(name, (TableCell(part.text, part.share, opens=opens), effect)))
    return TableView(
        caption=text(lang, "parts.title"),
        corner=text(lang, "parts.corner"),
        columns=(text(lang, "parts.part"), text(lang, "parts.effect")),
        rows=tuple(rows),
        note=text(
            lang,
            "parts.note",
            n=len(direct.values),
            total=real(lang, direct.total, 3),
            own=real(lang, direct.own, 3),
            error=number(lang, direct.error, ".1e"),
            control=str(effects.control),
            least=real(lang, effects.of(effects.control), 3),
            agreement=real(lang, agreement, 2),
        ),
    )


def tokens_table(lang: Language, where: "TokenScores", labels: tuple[str, ...]) -> TableView:
    """The score of each token by each method, the interventions first."""
    methods: tuple[Method, ...] = tuple(where.scores)
    columns = [
        numbers(lang, where.scores[name], float(np.abs(where.scores[name]).max()))
        for name in methods
    ]
    rows = tuple(
        TableRow(label, tuple(cells[at] for cells in columns))
        for at, label in list(enumerate(labels))[:MAX_TOKENS]
    )
    agreement = joined(
        lang,
        (
            f"{text(lang, f'where.{name}')} {real(lang, value, 2)}"
            for name, value in where.agreement.items()
            if np.isfinite(value)
        ),
    )
    return TableView(
        caption=text(lang, "where.title"),
        corner=text(lang, "where.corner"),
        columns=tuple(text(lang, f"where.{name}") for name in methods),
        rows=rows,
        note=text(lang, "where.note", agreement=agreement),
    )


def answer_tokens_table(lang: Language, where: "TokenScores", lead: float) -> TableView:
    """The tokens as columns: what each is attended to, and what its loss changes in the answer.

    `lead` is the answer's: a change that takes it below 0 makes the second choice the first.
    """
    rows = []
    for method in ("weights", "hidden"):
        scores = where.scores[method]
        signed = numbers(lang, scores, float(np.abs(scores).max()))
        cells = tuple(TableCell(cell.text, abs(cell.share)) for cell in signed)
        rows.append(TableRow(text(lang, f"answer_tokens.{method}"), cells))
    return TableView(
        caption=text(lang, "answer_tokens.title"),
        corner=text(lang, "where.corner"),
        columns=tuple(where.tokens.labels),
        rows=tuple(rows),
        kind="tint",
        note=text(
            lang,
            "answer_tokens.note",
            even=real(lang, 1 / len(where.tokens), 2),
            lead=real(lang, lead, 3),
        ),
    )
