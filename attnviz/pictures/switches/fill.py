"""The switchboard: all heads as switches, and the model's answer before and after, in words.

In: what is shown, an answer with the changes that were made, measured effects. Out: the parts of a
`SwitchesView`. Nothing is computed here but which bars are shown: the numbers come from
`attnviz.experiment`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32

from attnviz.i18n import Language, joined, text
from attnviz.i18n.numbers import number
from attnviz.pictures.group import answers, groups
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.groups import Group, size_of
from attnviz.pictures.shared.bars import Bar
from attnviz.pictures.switches import AnswerView, SwitchGroup, tiny

if TYPE_CHECKING:
    from attnviz.experiment.answers import AnswerReader
    from attnviz.experiment.clean_run import CleanRun
    from attnviz.experiment.effects import Effects
    from attnviz.experiment.switches import Switched

FIRST_BARS, NEW_BARS, MAX_BARS = 5, 3, 40


def prefix(group: Group) -> str:
    """The prefix before "L0.H0" in the names of a group's heads."""
    stack = "" if group.stack is None else f"{group.stack}."
    return f"{stack}cross." if group.kind == "cross" else stack


def switch_groups(
    shown: PageContext, titles: Sequence[str], effects: "Effects | None"
) -> tuple[SwitchGroup, ...]:
    """The heads of every attention of the capture."""
    return tuple(
        SwitchGroup(
            title=title,
            prefix=prefix(group),
            heads=tuple(call.n_heads for call in group.calls),
            weights=_tiny_weights(group),
            effects=None if effects is None else _effects(group, effects),
        )
        for group, title in zip(shown.captured.groups, titles, strict=True)
    )


def _effects(group: Group, effects: "Effects") -> Float32[np.ndarray, "layer head"]:
    return effects.grid(group.kind, group.stack).astype(np.float32)


def _tiny_weights(group: Group) -> Float32[np.ndarray, "layer head row column"]:
    """Small pictures of all heads; empty ones where the text is too long to draw all heads."""
    n_heads = max(call.n_heads for call in group.calls)
    if not size_of(group).all_at_once:
        return np.zeros((group.n_layers, n_heads, 1, 1), np.float32)
    layers = [tiny(of_layer) for of_layer in groups.each_layer(group)]
    rows, columns = (max(layer.shape[axis] for layer in layers) for axis in (1, 2))
    whole = np.zeros((len(layers), n_heads, rows, columns), np.float32)
    for layer, of_layer in enumerate(layers):
        whole[layer, : of_layer.shape[0]] = _stretched(of_layer, rows, columns)
    return whole


def _stretched(
    weights: Float32[np.ndarray, "head row column"], rows: int, columns: int
) -> Float32[np.ndarray, "head _ _"]:
    """A layer's small pictures at the size of the largest layer's, each cell repeated."""
    down = np.arange(rows) * weights.shape[1] // rows
    across = np.arange(columns) * weights.shape[2] // columns
    return weights[:, down][:, :, across]


# --- the answer ---------------------------------------------------------------------------------


def answer_view(
    lang: Language,
    prepared: "CleanRun",
    answer: "AnswerReader",
    result: "Switched",
    off: Sequence[str],
    written: tuple[str, str] | None,
) -> AnswerView:
    """The answer as bars, what became of it in a sentence, and its control.

    `off` has the names of the heads that are off and of the look that is forbidden.
    """
    return AnswerView(
        title=text(lang, f"switchboard.{answer.kind}"),
        bars=tuple(_bars(lang, prepared, answer, result, bool(off))),
        values=text(lang, "switchboard.after") if off else "",
        seconds=text(lang, "switchboard.before") if off else "",
        sentence=_sentence(lang, prepared, answer, result, off),
        control=_control(lang, prepared, answer, result, off),
        percent=answer.is_probability,
        written=_written(lang, written, off),
    )


def _bars(
    lang: Language, prepared: "CleanRun", answer: "AnswerReader", result: "Switched", both: bool
) -> "list[Bar]":
    """The first choices before and those that came up after; all of a short list."""
    return [
        Bar(
            answers.choice_name(lang, prepared, answer, place),
            float(result.after[place]),
            second=float(result.before[place]) if both else None,
        )
        for place in chosen_bars(answer.exclusive, result)
    ]


def chosen_bars(exclusive: bool, result: "Switched") -> list[int]:
    """The choices to show: the likeliest ones before, and those that the changes brought up."""
    if not exclusive:
        return list(range(min(MAX_BARS, len(result.before))))
    first = np.argsort(-result.before, kind="stable")[:FIRST_BARS].tolist()
    after = np.argsort(-result.after, kind="stable")[:NEW_BARS].tolist()
    both = dict.fromkeys([*first, *after])
    return sorted(both, key=lambda place: -max(result.before[place], result.after[place]))


def _sentence(
    lang: Language,
    prepared: "CleanRun",
    answer: "AnswerReader",
    result: "Switched",
    off: Sequence[str],
) -> str:
    """A sentence on the change of the answer."""
    best = int(np.argmax(result.before))
    if not off:
        if not answer.exclusive:
            return text(lang, "switchboard.all_on")
        name = answers.choice_name(lang, prepared, answer, best)
        return text(
            lang, "switchboard.says", answer=name, share=answers.share(lang, result.before[best])
        )
    heads = _names(lang, off)
    return answers.changed_sentence(lang, prepared, answer, result, "switchboard", heads=heads)


def _names(lang: Language, heads: Sequence[str]) -> str:
    """The heads by name; of many only how many they are."""
    if len(heads) <= NEW_BARS:
        return joined(lang, heads)
    return text(lang, "switchboard.heads", n=len(heads))


def _control(
    lang: Language,
    prepared: "CleanRun",
    answer: "AnswerReader",
    result: "Switched",
    off: Sequence[str],
) -> str:
    """A sentence on how far other heads, drawn at random, move the answer: the level of chance."""
    if not off or not len(result.controls):
        return ""
    control = answers.control_sentence(lang, answer, result, "switchboard", n=len(off))
    lead = answers.lead_sentence(lang, prepared, answer, result)
    return " ".join(filter(None, (control, lead)))


def _written(
    lang: Language, written: tuple[str, str] | None, off: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    if written is None:
        return ()
    before, after = written
    first = (text(lang, "switchboard.writes"), before)
    if not off:
        return (first,)
    heads = _names(lang, off)
    return first, (text(lang, "switchboard.writes_off", heads=heads), after)


# --- effects ------------------------------------------------------------------------------------


def leads_sentence(lang: Language, answer: "AnswerReader", leads: "Effects") -> str:
    """The changes of a nearly certain answer's lead, which its probability does not show."""
    first, sizes = leads.order[0], np.abs(leads.changes)
    return text(
        lang,
        "switchboard.effects_lead",
        was=answers.share(lang, float(answer.clean.max())),
        first=str(first),
        most=number(lang, leads.of(first), "+.1f"),
        median=number(lang, float(np.median(sizes)), ".1f"),
        control=str(leads.control),
    )


def effects_sentence(lang: Language, answer: "AnswerReader", effects: "Effects") -> str:
    """The head that matters most, the control, and what a head picked at random does."""
    from attnviz.experiment.effects import DRAWS

    unit = answers.unit_of(answer)
    first, control = effects.order[0], effects.control
    return text(
        lang,
        "switchboard.effects_drawn" if effects.to == "resample" else "switchboard.effects",
        n=len(effects.heads),
        draws=DRAWS,
        first=str(first),
        most=answers.amount(lang, effects.of(first), unit),
        control=str(control),
        least=answers.amount(lang, max(0.0, effects.of(control)), unit),
        median=answers.amount(lang, float(np.median(np.abs(effects.changes))), unit),
    )
