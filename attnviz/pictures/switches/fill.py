"""The switchboard: all heads as switches, and the model's answer before and after, in words.

In: what is shown, an answer with the changes that were made, measured effects. Out: the parts of a
`SwitchesView`. Nothing is computed here but which bars are shown: the numbers come from
`attnviz.experiment`.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float32

from attnviz.i18n import Language, text
from attnviz.pictures.bars import Bar
from attnviz.pictures.group import group_weights
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.group_size import size_of
from attnviz.pictures.group.groups import Group
from attnviz.pictures.switches import AnswerView, Switch, SwitchGroup, tiny

if TYPE_CHECKING:
    from attnviz.experiment.answers import AnswerReader
    from attnviz.experiment.clean_run import CleanRun
    from attnviz.experiment.effects import Effects
    from attnviz.experiment.switches import Switched

Unit = Literal["percent", "points", "number"]
FIRST_BARS, NEW_BARS, MAX_BARS = 5, 3, 40
NEARLY_ONE = 0.9995  # rounds to 100.0 %
NO_MOVE = 0.0001  # of a cosine: what four decimals show


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
    layers = [tiny(of_layer) for of_layer in group_weights.each_layer(group)]
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
    off: Sequence[Switch],
    written: tuple[str, str] | None,
) -> AnswerView:
    """The answer as bars, what became of it in a sentence, and its control."""
    return AnswerView(
        title=text(lang, f"switchboard.{answer.kind}"),
        bars=tuple(_bars(lang, prepared, answer, result, bool(off))),
        values=text(lang, "switchboard.after") if off else "",
        seconds=text(lang, "switchboard.before") if off else "",
        sentence=_sentence(lang, prepared, answer, result, off),
        control=_control(lang, answer, result, off),
        percent=answer.is_probability,
        written=_written(lang, written, off),
    )


def _bars(
    lang: Language, prepared: "CleanRun", answer: "AnswerReader", result: "Switched", both: bool
) -> "list[Bar]":
    """The first choices before and those that came up after; all of a short list."""
    return [
        Bar(
            _choice(lang, prepared, answer, place),
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


def _choice(lang: Language, prepared: "CleanRun", answer: "AnswerReader", place: int) -> str:
    if answer.kind == "cosines" and place == 0:
        return text(lang, "switchboard.itself")
    return answer.name(place)


def _sentence(
    lang: Language,
    prepared: "CleanRun",
    answer: "AnswerReader",
    result: "Switched",
    off: Sequence[Switch],
) -> str:
    """A sentence on the change of the answer."""
    best = int(np.argmax(result.before))
    if not off:
        if not answer.exclusive:
            return text(lang, "switchboard.all_on")
        name = _choice(lang, prepared, answer, best)
        return text(lang, "switchboard.says", answer=name, share=_share(result.before[best]))
    heads = _names(lang, [switch.head for switch in off])
    return changed_sentence(lang, prepared, answer, result, "switchboard", heads=heads)


def changed_sentence(
    lang: Language,
    prepared: "CleanRun",
    answer: "AnswerReader",
    result: "Switched",
    section: str,
    quote: Callable[[str], str] = str,
    **words: str,
) -> str:
    """The change of the answer, in the words of a section; `words` name what was changed.

    `quote` makes a token's text fit for where the sentence stands.
    """
    if not answer.is_probability:
        value = result.after[0] if answer.kind == "cosines" else result.after.mean()
        return text(lang, f"{section}.turned", cosine=cosine(float(value)), **words)
    best, now = int(np.argmax(result.before)), int(np.argmax(result.after))
    if not answer.exclusive:
        best = now = int(np.argmax(np.abs(result.after - result.before)))
    values = {
        "before": quote(_choice(lang, prepared, answer, best)),
        "after": quote(_choice(lang, prepared, answer, now)),
        "was": _share(result.before[best]),
        "left": _share(result.after[best]),
        "share": _share(result.after[now]),
        "points": _points(float(result.after[best] - result.before[best])),
        **words,
    }
    if not answer.exclusive:
        return text(lang, f"{section}.loses", **values)
    return text(lang, f"{section}.turns" if best != now else f"{section}.stays", **values)


def _names(lang: Language, heads: Sequence[str]) -> str:
    """The heads by name; of many only how many they are."""
    if len(heads) <= NEW_BARS:
        return ", ".join(heads)
    return text(lang, "switchboard.heads", n=len(heads))


def moved(answer: "AnswerReader", before: np.ndarray, after: np.ndarray) -> float:
    """The distance that an answer moved, as `AnswerReader.moved` computes it."""
    if answer.kind == "cosines":
        return max(0.0, float(1 - after[0]))  # rounding may leave a cosine just above 1
    change = np.abs(after - before)
    return float(change.sum() / 2 if answer.exclusive else change.mean())


def _control(
    lang: Language, answer: "AnswerReader", result: "Switched", off: Sequence[Switch]
) -> str:
    """A sentence on how far other heads, drawn at random, move the answer: the level of chance."""
    if not off or not len(result.controls):
        return ""
    return control_sentence(lang, answer, result, "switchboard", n=len(off))


def control_sentence(
    lang: Language,
    answer: "AnswerReader",
    result: "Switched",
    section: str,
    **words: object,
) -> str:
    """A sentence on how far the answer moved, and how far the controls move it."""
    controls = sorted(moved(answer, result.before, row) for row in result.controls)
    unit = _unit(answer)
    own = moved(answer, result.before, result.after)
    return text(
        lang,
        f"{section}.control",
        draws=len(controls),
        own=amount(lang, own, unit),
        median=_amount_again(lang, float(np.median(controls)), unit),
        most=_amount_again(lang, controls[-1], unit),
        **words,
    )


def _unit(answer: "AnswerReader") -> Unit:
    if not answer.is_probability:
        return "number"
    return "percent" if answer.exclusive else "points"


def amount(lang: Language, value: float, unit: Unit) -> str:
    """The distance that an answer moved.

    In percent of its probability, for several distributions in percentage points, or as a plain
    number.
    """
    if unit == "number":
        return f"<{NO_MOVE}" if 0 < value < NO_MOVE / 2 else f"{value:.4f}"
    return text(lang, f"switchboard.{unit}", value=_share(value))


def _amount_again(lang: Language, value: float, unit: Unit) -> str:
    """An amount after one that has named what it is a percentage of."""
    return f"{_share(value)}%" if unit == "percent" else amount(lang, value, unit)


def cosine(value: float) -> str:
    """A cosine; one just below 1 is never printed as 1."""
    return f">{1 - NO_MOVE}" if 1 - NO_MOVE / 2 < value < 1 else f"{value:.4f}"


def _points(change: float) -> str:
    """A change of a probability in percentage points, with its sign."""
    size = _share(abs(change))
    return f"{'−' if change < 0 else '+'}{size}" if change else "0"


def _share(value: float) -> str:
    """A probability in percent; one just below 1 is never printed as 100."""
    if NEARLY_ONE <= value < 1:
        return ">99.9"
    percent = 100 * value
    return "<0.01" if 0 < percent < 0.01 else f"{percent:.2g}" if percent < 1 else f"{percent:.1f}"


def _written(
    lang: Language, written: tuple[str, str] | None, off: Sequence[Switch]
) -> tuple[tuple[str, str], ...]:
    if written is None:
        return ()
    before, after = written
    first = (text(lang, "switchboard.writes"), before)
    if not off:
        return (first,)
    heads = _names(lang, [switch.head for switch in off])
    return first, (text(lang, "switchboard.writes_off", heads=heads), after)


# --- effects ------------------------------------------------------------------------------------


def effects_sentence(lang: Language, answer: "AnswerReader", effects: "Effects") -> str:
    """The head that matters most, the control, and what a head picked at random does."""
    from attnviz.experiment.effects import DRAWS

    unit = _unit(answer)
    first, control = effects.order[0], effects.control
    return text(
        lang,
        "switchboard.effects_drawn" if effects.to == "resample" else "switchboard.effects",
        n=len(effects.heads),
        draws=DRAWS,
        first=str(first),
        most=amount(lang, effects.of(first), unit),
        control=str(control),
        least=amount(lang, max(0.0, effects.of(control)), unit),
        median=amount(lang, float(np.median(np.abs(effects.changes))), unit),
    )
