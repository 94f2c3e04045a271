"""The switchboard: all heads as switches, and the model's answer before and after, in words.

In: what is shown, an answer with the changes that were made, measured effects. Out: the parts of a
`SwitchesView`. Nothing is computed here but which bars are shown: the numbers come from
`attnviz.experiment`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Bool, Float32, Float64

from attnviz.i18n import Language, joined, text
from attnviz.i18n.numbers import number
from attnviz.pictures.group import answers, groups
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import row_labels, token_axes
from attnviz.pictures.group.groups import Group, size_of
from attnviz.pictures.shared.bars import Bar
from attnviz.pictures.switches import (
    AnswerView,
    EffectsUnit,
    HeadFacts,
    MadeChange,
    Matrices,
    Switch,
    SwitchGroup,
    tiny,
)
from attnviz.types import Site

if TYPE_CHECKING:
    from attnviz.experiment.answers import AnswerReader
    from attnviz.experiment.changed_run import ChangedNumbers
    from attnviz.experiment.clean_run import CleanRun
    from attnviz.experiment.cuts import Cuts
    from attnviz.experiment.effects import Effects, OtherHeads

BARS, MAX_BARS = 5, 40  # of the likeliest choices, before as after; of a short list
NAMED_HEADS = 3
EXPLAINED = 0.75  # of a difference: what explains less of it is not named as its reason


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
            visible=_tiny_masks(group),
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
        heads = list(group.calls[layer].kept_heads)
        whole[layer, heads] = _stretched(of_layer, rows, columns)
    return whole


def _tiny_masks(group: Group) -> Bool[np.ndarray, "_ row column"] | None:
    """The points of the small pictures with a cell that is not hidden, once if layers are alike."""
    if not size_of(group).all_at_once:
        return None
    if group.uneven:
        return _uneven_masks(group)
    masks = groups.stacked_masks(group)
    if masks is None:
        return None
    return tiny(masks[:1] if (masks == masks[:1]).all() else masks)


def _uneven_masks(group: Group) -> Bool[np.ndarray, "layer row column"] | None:
    """The points of layers of different sizes, each at the size of the largest layer's pictures."""
    masks = [groups.mask(group, layer) for layer in range(group.n_layers)]
    if all(mask.all() for mask in masks):
        return None
    points = [tiny(mask[None]) for mask in masks]
    rows, columns = (max(layer.shape[axis] for layer in points) for axis in (1, 2))
    return np.concatenate([_stretched(layer, rows, columns) for layer in points])


def _stretched(weights: Matrices, rows: int, columns: int) -> Matrices:
    """A layer's small pictures at the size of the largest layer's, each cell repeated."""
    down = np.arange(rows) * weights.shape[1] // rows
    across = np.arange(columns) * weights.shape[2] // columns
    return weights[:, down][:, :, across]


# --- the answer ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SameLooks:
    """The look of one `head`, and the same look of all heads, each cut alone."""

    head: Site
    cuts: "Cuts"

    @property
    def others(self) -> "OtherHeads":
        """The control: all other heads that have the look."""
        return self.cuts.others(self.head)

    @property
    def other_numbers(self) -> Float64[np.ndarray, "head choice"]:
        """The answer without the look of each other head."""
        kept = [head != self.head for head, _, _ in self.cuts.edges]
        return self.cuts.numbers[kept].astype(np.float64)


@dataclass(frozen=True, eq=False)
class ChangedAnswer:
    """An answer after heads were switched off or a look was forbidden, as the page shows it.

    `look` names the look that is forbidden, "" for none. Where the effects of all heads are known,
    `effects`, and on the answer's lead `leads`, the control of one head that is off are all others;
    of one look alone all others of `looks`, the same of all heads. Else it is what `result` has
    drawn.
    """

    lang: Language
    prepared: "CleanRun"
    reader: "AnswerReader"
    result: "ChangedNumbers"
    off: Sequence[Switch]
    look: str = ""
    effects: "Effects | None" = None
    leads: "Effects | None" = None
    looks: "SameLooks | None" = None

    def view(self, written: tuple[str, str] | None) -> AnswerView:
        """The answer as bars, what became of it in a sentence, and its control."""
        is_off = self._is_changed
        return AnswerView(
            title=text(self.lang, f"switchboard.{self.reader.kind}"),
            bars=self._bars(),
            values=text(self.lang, "switchboard.after") if is_off else "",
            seconds=text(self.lang, "switchboard.before") if is_off else "",
            sentence=self._sentence(),
            control=self._control(),
            measured=self._measured(),
            percent=self.reader.is_probability,
            written=() if written is None else self._written(*written),
        )

    @property
    def _is_changed(self) -> bool:
        return bool(self.off or self.look)

    def _bars(self) -> tuple[Bar, ...]:
        """The first choices before and those that came up after; all of a short list."""
        result = self.result
        return tuple(
            Bar(
                self._name(place),
                float(result.after[place]),
                second=float(result.before[place]) if self._is_changed else None,
            )
            for place in chosen_bars(self.reader.exclusive, result)
        )

    def _sentence(self) -> str:
        """A sentence on the change of the answer."""
        if self._is_changed:
            return answers.changed_sentence(
                self.lang,
                self.prepared,
                self.reader,
                self.result,
                "switchboard",
                what=self._what(),
            )
        if not self.reader.exclusive:
            return text(self.lang, "switchboard.all_on")
        best = int(np.argmax(self.result.before))
        share = answers.share(self.lang, self.result.before[best])
        return text(self.lang, "switchboard.says", answer=self._name(best), share=share)

    @property
    def _others(self) -> "OtherHeads | None":
        """All other heads: those but the one that is off, or those whose same look was cut.

        None where they are not the control.
        """
        if self.looks is not None:
            return self.looks.others
        return others(self.effects, self.off, self.look)

    def _control(self) -> str:
        """A sentence on how far other heads move the answer, all or some drawn at random."""
        others = self._others
        if others is None:
            return self._drawn("switchboard")
        now = answers.moved(self.reader, self.result.before, self.result.after)
        if self.looks is not None or self.effects is None:
            return answers.every_control_sentence(self.lang, self.reader, now, others, "looks")
        own = abs(self.effects.of(self.off[0].head))  # as the board has it
        form: Literal["every", "drawn"] = "drawn" if self.effects.to == "resample" else "every"
        return answers.every_control_sentence(self.lang, self.reader, own, others, form, now)

    def _drawn(self, section: str) -> str:
        if not self._is_changed or not len(self.result.controls):
            return ""
        n = len(self.off) + bool(self.look)
        return answers.control_sentence(self.lang, self.reader, self.result, section, n=n)

    def _measured(self) -> str:
        """A sentence on what the control is of, and the lead of a nearly certain answer."""
        control = self._drawn("switchboard.measured") if self._others is None else ""
        lead = answers.lead_sentence(
            self.lang, self.prepared, self.reader, self.result, self._other_leads()
        )
        return " ".join(filter(None, (control, lead)))

    def _other_leads(self) -> list[float]:
        """The leads under the control; none of an answer that has no lead."""
        if not self.reader.exclusive:
            return []
        if self.looks is not None:
            rows = self.looks.other_numbers
        elif self._others is not None:
            if self.leads is None:
                return []
            changes = self.leads.others(self.off[0].head).changes
            found: list[float] = (self.leads.before + changes).tolist()
            return found
        else:
            rows = self.result.controls
        drawn: list[float] = answers.leads(self.reader, rows).tolist()
        return drawn

    def _written(self, before: str, after: str) -> tuple[tuple[str, str], ...]:
        nothing = text(self.lang, "switchboard.writes_nothing")
        first = (text(self.lang, "switchboard.writes"), before if before.strip() else nothing)
        if not self._is_changed:
            return (first,)
        label = text(self.lang, "switchboard.writes_off", what=self._what())
        return first, (label, after if after.strip() else nothing)

    def _name(self, place: int) -> str:
        return answers.choice_name(self.lang, self.prepared, self.reader, place)

    def _what(self) -> str:
        return in_words(self.lang, self.off, self.look)


def in_words(lang: Language, off: Sequence[Switch], look: str) -> str:
    """The change in words: whole heads and what stands in their place, and one look."""
    heads = text(lang, "switchboard.heads", n=len(off))  # of many, how many they are
    if len(off) <= NAMED_HEADS:
        heads = joined(lang, [switch.head for switch in off])
    instead = {switch.to for switch in off}
    form = f"whole_{instead.pop()}" if len(instead) == 1 else "whole"
    whole = text(lang, f"switchboard.{form}", heads=heads) if off else ""
    forbidden = text(lang, "switchboard.forbidden", look=look) if look else ""
    if whole and forbidden:
        return text(lang, "switchboard.both", whole=whole, look=forbidden)
    return whole or forbidden


def made_change(
    lang: Language,
    reader: "AnswerReader",
    head: str,
    form: Literal["head", "look"],
    before: np.ndarray,
    after: np.ndarray,
) -> MadeChange:
    """A change of one head in words: how far it moves the answer from what the others leave."""
    own = answers.amount(
        lang, answers.moved(reader, before, after), answers.unit_of(reader), "again"
    )
    if form == "look" and reader.kind == "cosines":
        return MadeChange(head, text(lang, "switchboard.adds_look_meaning", own=own))
    return MadeChange(head, text(lang, f"switchboard.adds_{form}", own=own))


def chosen_bars(exclusive: bool, result: "ChangedNumbers") -> list[int]:
    """The choices to show: the likeliest ones before and after; all of a short list."""
    if not exclusive:
        return list(range(min(MAX_BARS, len(result.before))))
    first = np.argsort(-result.before, kind="stable")[:BARS].tolist()
    after = np.argsort(-result.after, kind="stable")[:BARS].tolist()
    both = dict.fromkeys([*first, *after])
    return sorted(both, key=lambda place: -max(result.before[place], result.after[place]))


def others(effects: "Effects | None", off: Sequence[Switch], look: str = "") -> "OtherHeads | None":
    """The control of one head that is off, where all were measured: every other one; else None."""
    if effects is None or look or len(off) != 1 or off[0].to != effects.to:
        return None
    found = effects.others(off[0].head)
    return found if found.heads else None


# --- effects ------------------------------------------------------------------------------------


def effects_unit(answer: "AnswerReader") -> EffectsUnit:
    """The unit of the effects of heads on an answer."""
    return "meaning" if answer.kind == "cosines" else answers.unit_of(answer)


def leads_sentence(
    lang: Language, prepared: "CleanRun", answer: "AnswerReader", leads: "Effects"
) -> str:
    """The changes of a nearly certain answer's lead, which its probability does not show."""
    first = leads.order[0]
    own, second = answers.pair_names(lang, prepared, answer)
    return text(
        lang,
        "switchboard.effects_lead",
        was=answers.share(lang, float(answer.clean.max())),
        own=own,
        second=second,
        first=str(first),
        most=number(lang, leads.of(first), "+.1f"),
        median=number(lang, leads.others(first).median, ".1f"),
        control=str(leads.control),
    )


def effects_sentence(lang: Language, answer: "AnswerReader", effects: "Effects") -> str:
    """The head that matters most, the one that matters least, and the median of the others.

    Where the answer is no guess, that instead.
    """
    from attnviz.experiment.effects import DRAWS

    if not answers.guesses(answer):
        return answers.no_guess_sentence(lang, answer)
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
        median=answers.amount(lang, effects.others(first).median, unit),
    )


def most_note(lang: Language, answer: "AnswerReader", effects: "Effects") -> str:
    """A note on the head that is offered: it moves the answer most."""
    own = answers.amount(lang, effects.of(effects.order[0]), answers.unit_of(answer), "again")
    return text(lang, "switchboard.most_head", own=own)


def look_note(lang: Language, cuts: "Cuts") -> str:
    """The effect of the strongest look; the median look is the control."""
    return text(
        lang,
        "switchboard.most_look",
        own=answers.amount(lang, float(cuts.moved.max()), "percent", "again"),
        n=len(cuts.moved),
        median=answers.share(lang, float(np.median(cuts.moved))),
    )


def look_goes_on(lang: Language, head: Site, moved: tuple[float, float, float], word: str) -> str:
    """A sentence on why a forbidden look moves more than its whole head; "" where it does not.

    `moved` is how far the look, the head, and the look without the rest of its row growing move it.
    The row without the look goes to other words, mostly to `word`, and the head writes those into
    the answer; a head that is off writes none. That explains it where most of the difference goes
    away as soon as the rest of the row does not grow.
    """
    look, whole, kept = moved
    if look - whole < answers.HARDLY or look - kept < EXPLAINED * (look - whole):
        return ""
    shares = {"whole": answers.share(lang, whole), "kept": answers.share(lang, kept)}
    return text(lang, "switchboard.look_goes_on", head=str(head), word=word, **shares)


def facts(
    shown: PageContext, answer: "AnswerReader", effects: "Effects", cell: tuple[int, int] | None
) -> tuple[HeadFacts, ...]:
    """Looks and matters of the heads of every group; `cell` is that of the group that is shown."""
    from attnviz.experiment.effects import DRAWS

    lang, unit = shown.lang, answers.unit_of(answer)
    form = "alone_drawn" if effects.to == "resample" else "alone"
    is_meaning = answer.kind == "cosines"

    def sentence(group: Group, layer: int, head: int, effect: float) -> str:
        others = effects.others(Site(layer, head, group.kind, group.stack))
        own = answers.amount(lang, abs(effect), unit, "again")
        median = answers.amount(lang, others.median, unit, "again")
        n = len(others.heads)
        name = f"switchboard.{form}_meaning" if is_meaning else f"switchboard.{form}"
        return text(lang, name, own=own, n=n, median=median, draws=DRAWS)

    every = []
    for group in shown.captured.groups:
        is_shown = (group.kind, group.stack) == (shown.group.kind, shown.group.stack)
        is_drawn = size_of(group).all_at_once and not group.uneven
        chosen = cell if is_shown and is_drawn else None
        query, key = ("", "") if chosen is None else _tokens(shown, chosen)
        sentences = tuple(
            tuple(
                "" if np.isnan(effect) else sentence(group, layer, head, effect)
                for head, effect in enumerate(row)
            )
            for layer, row in enumerate(_effects(group, effects).tolist())
        )
        looks = _looks(group, chosen) if query and chosen is not None else None
        hidden = ""
        if looks is not None and chosen is not None and _is_hidden(group, chosen):
            hidden = text(lang, "switchboard.hidden", query=query, word=key)
        every.append(HeadFacts(query, key, sentences, looks, hidden))
    return tuple(every)


def _tokens(shown: PageContext, cell: tuple[int, int]) -> tuple[str, str]:
    """The names of a cell's row and of its key; "" where there is none."""
    queries, keys = token_axes(shown)
    if cell[0] >= len(queries.labels) or cell[1] >= len(keys.labels):
        return "", ""
    return row_labels(shown, queries)[cell[0]], keys.labels[cell[1]]


def _is_hidden(group: Group, cell: tuple[int, int]) -> bool:
    """True if the masks of all layers hide the key of a cell from its query."""
    masks = groups.stacked_masks(group)
    return masks is not None and not any(mask[cell] for mask in masks)


def _looks(group: Group, cell: tuple[int, int]) -> Float32[np.ndarray, "layer head number"]:
    """The weight of a cell in each head, and the mean of the other rows that may look there."""
    query, key = cell
    masks = groups.stacked_masks(group)
    table = np.full((group.n_layers, max(call.n_heads for call in group.calls), 2), np.nan)
    for layer, weights in enumerate(groups.each_layer(group)):
        may = np.ones(weights.shape[1], bool) if masks is None else masks[layer][:, key].copy()
        if not may[query]:
            continue
        may[query] = False
        if may.any():
            numbers = weights[:, query, key], weights[:, may, key].mean(1)
            table[layer, list(group.calls[layer].kept_heads)] = np.stack(numbers, -1)
    return table.astype(np.float32)
