"""Patching between two texts: a table of heads, and the strongest head beside its control.

In: a language and a `Patching`. Out: `TableView`s and sentences. Nothing is computed here.
"""

from typing import TYPE_CHECKING, Literal

import numpy as np

from attnviz.i18n import Language, joined, text
from attnviz.i18n.numbers import number, percent
from attnviz.pictures.table import TableCell, TableRow, TableView

if TYPE_CHECKING:
    from attnviz.changes.kinds import PatchedStage
    from attnviz.experiment.answers import AnswerReader
    from attnviz.experiment.patching import Patching
    from attnviz.types import Site


def boards(lang: Language, patching: "Patching", stage: "PatchedStage") -> tuple[TableView, ...]:
    """A table of layers × heads for each attention; a cell opens its head."""
    groups: dict[str, list[Site]] = {}
    for head in patching.heads:
        groups.setdefault(str(head.whole_layer).rpartition(".")[0], []).append(head)
    return tuple(_board(lang, patching, stage, name, heads) for name, heads in groups.items())


def _board(
    lang: Language, patching: "Patching", stage: "PatchedStage", name: str, heads: "list[Site]"
) -> TableView:
    layers: dict[int, list[Site]] = {}
    for head in heads:
        layers.setdefault(head.layer, []).append(head)
    caption = text(lang, "patching.title", what=text(lang, f"patching.stage_{stage}"))
    return TableView(
        caption=f"{name}: {caption}" if name else caption,
        corner="",
        columns=tuple(f"H{place}" for place in range(max(map(len, layers.values())))),
        rows=tuple(
            TableRow(f"L{layer}", tuple(_cell(lang, patching, stage, head) for head in row))
            for layer, row in layers.items()
        ),
        kind="tint",
        note=text(lang, "patching.note"),
    )


def _cell(lang: Language, patching: "Patching", stage: "PatchedStage", head: "Site") -> TableCell:
    share = patching.of(head, stage)
    control = patching.control_of(head, stage)
    note = "" if control is None else _control(lang, control)
    return TableCell(
        percent(lang, share), max(0.0, min(1.0, share)), f"{head}. {note}".strip(), "", str(head)
    )


def _control(lang: Language, control: tuple[float, float, float]) -> str:
    mean, low, high = (round(100 * share) for share in control)
    return text(lang, "patching.control", mean=mean, low=low, high=high)


def answers_kind(left: "AnswerReader", right: "AnswerReader") -> Literal["", "_same", "_cosine"]:
    """The ending of the text that names both answers; "_same" where both are the same choice."""
    if not left.is_probability:
        return "_cosine"
    return "_same" if int(left.clean.argmax()) == int(right.clean.argmax()) else ""


def sentences(
    lang: Language,
    patching: "Patching",
    stage: "PatchedStage",
    answers: tuple[str, str],
    kind: str,
) -> tuple[str, ...]:
    """The two answers; the head that carries most, by stage, with its control and the others.

    `kind` is that of `answers_kind`.
    """
    first = patching.strongest(1, stage)[0]
    place = patching.stages.index(stage)
    shares = patching.shares[place]
    of_stages = joined(
        lang,
        (
            f"{text(lang, f'patching.stage_{name}')} {percent(lang, patching.of(first, name))}"
            for name in patching.stages
        ),
    )
    control = patching.control_of(first, stage)
    return (
        text(
            lang,
            f"patching.answers{kind}",
            left=answers[0],
            right=answers[1],
            before=number(lang, patching.before, "+.2f"),
            source=number(lang, patching.source, "+.2f"),
        ),
        text(
            lang,
            "patching.strongest",
            head=str(first),
            what=text(lang, f"patching.stage_{stage}"),
            share=round(100 * float(shares.max())),
            stages=of_stages,
            median=round(100 * float(np.median(shares))),
            n=len(shares),
        ),
        text(lang, "patching.no_control") if control is None else _control(lang, control),
    )
