"""One question asked of many texts, or of pairs of a text and its partner.

In: a model, texts or pairs, and a measure for all or for each. Out: an `ExperimentSet`, whose
questions are those of one run: `effects`, `direct`, `lens` and `patching`, each a `SetResult` that
keeps every text's number. Texts of one length share a batch (`groups`). Patching takes a head's
output from the partner slot by slot: a slot is a named place that each text has, so that the two
need not be equally long; patterns, q and k need that, and are refused.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from attnviz.attention.call import AttentionCall
from attnviz.attention.stage_changes import Pairs
from attnviz.changes.kinds import CorpusTexts
from attnviz.errors import (
    BadInput,
    UnsupportedAttention,
    bad_argument,
    require_callback,
    require_one_of,
    require_wanted,
)
from attnviz.experiment.answer_measures import AnswerMeasure, Class, NextToken, as_measure
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.direct import linear_number, linear_of
from attnviz.experiment.effects import CORPUS_PART, ReplacementKind, replacement_of, sites_of
from attnviz.experiment.groups import TextAndMeasure, TextGroup, groups_of, numbered
from attnviz.experiment.lens import read_states
from attnviz.experiment.outputs.classes import class_names
from attnviz.experiment.patching import require_apart
from attnviz.experiment.readouts import Linear, class_index, readout, token_id
from attnviz.experiment.rows import PASS_ROWS, RowChange, placed_in_rows
from attnviz.experiment.set_results import SetResult, blocks_of
from attnviz.experiment.slots import (
    DifferenceSlot,
    SlotPlace,
    first_difference,
    last_token,
    position_of,
    words_of,
)
from attnviz.models.loaded_model import LoadedModel
from attnviz.summary import counted, shortened
from attnviz.types import Site, Tokens, Where, ignore

Unit = Literal["head", "layer"]
SlotStage = Literal["mixed", "v"]
SET_ROWS = 2 * PASS_ROWS
SEED = 0


@dataclass(frozen=True, eq=False)
class ExperimentSet:
    """Many texts run once, and every question on all of them; made by `attnviz.experiment`.

    `before` has the measure's number of each text, `source` that of its partner by the same
    measure. `solved` is True where the model's answer is the measured one: the number is above 0
    where it is a difference of two, else the token or class is the likeliest; None for measures of
    which that cannot be said.
    """

    lm: LoadedModel
    texts: tuple[str, ...]
    others: tuple[str, ...] | None
    measures: tuple[AnswerMeasure, ...]
    groups: tuple[TextGroup, ...]
    other_groups: tuple[TextGroup, ...]
    before: Float64[np.ndarray, " text"]
    source: Float64[np.ndarray, " text"] | None
    solved: Bool[np.ndarray, " text"] | None
    unit: str

    @property
    def n_solved(self) -> int | None:
        """The number of texts that the model solves."""
        return None if self.solved is None else int(self.solved.sum())

    def only_solved(self) -> "ExperimentSet":
        """The set without the texts that the model does not solve; `BadInput` if none is left."""
        if self.solved is None or not self.solved.any():
            raise BadInput(
                "no text of this set is known to be solved: give NextToken or Class, and texts that"
                " the model answers right",
                code="none_solved",
            )
        kept = np.flatnonzero(self.solved).tolist()
        texts: list[Any] = [self.texts[at] for at in kept]
        if self.others is not None:
            texts = [(self.texts[at], self.others[at]) for at in kept]
        return experiment_set(self.lm, texts, [self.measures[at] for at in kept])

    # --- questions --------------------------------------------------------------------------------

    def effects(
        self,
        *,
        to: ReplacementKind = "mean",
        corpus: CorpusTexts | None = None,
        heads: Sequence[Where] | str | None = None,
        progress: Callable[[float], None] = ignore,
        cancel: threading.Event | None = None,
    ) -> SetResult:
        """The change of each text's number with each head taken away alone, [head, text].

        The arguments are those of the effects of one run.
        """
        require_callback(progress)

        def recording(fraction: float) -> None:
            require_wanted(cancel)
            progress(CORPUS_PART * fraction)

        replacement = replacement_of(self.lm, to, corpus, recording)
        layout = self.groups[0].layout
        chosen = sites_of(layout, heads)
        changes = [replacement.changes(layout, head) for head in chosen]
        n_draw = len(changes[0]) if changes else 1
        after = np.zeros((len(chosen), len(self.texts)))
        work = _Work(len(chosen) * n_draw * len(self.texts), progress, cancel)
        for group in self.groups:
            rows = [
                (head, text, change)
                for head, draws in enumerate(changes)
                for text in range(len(group.runs))
                for change in draws
            ]
            for some in work.batches(rows):
                placed = placed_in_rows([(row, change) for row, (_, _, change) in enumerate(some)])
                numbers = group.changed([text for _, text, _ in some], placed)
                for (head, text, _), number in zip(some, numbers, strict=True):
                    after[head, group.places[text]] += number / n_draw
        how = f"{to} over {replacement.name}" if replacement.name else to
        names = tuple(map(str, chosen))
        return self._result("effects", how, names, after - self.before)

    def direct(self) -> SetResult:
        """The part of each text's number that each component wrote, [component, text].

        Direct logit attribution: the parts of a text sum to its number. Raises `BadInput` for a
        measure that is not a linear number of logits or hidden states.
        """
        table: dict[str, np.ndarray] = {}
        for group in self.groups:
            linears = [linear_of(run) for run in group.runs]
            output = readout(group.runs[0]).output
            for part in group.parts():
                linear = _by_row([linears[text] for text in part])
                number = linear_number(group.traced(part), output, linear)
                places = [group.places[text] for text in part]
                with torch.no_grad():
                    for component, shares in number.parts():
                        row = table.setdefault(str(component), np.zeros(len(self.texts)))
                        row[places] += shares.double().cpu().numpy()
        return self._result("direct", "", tuple(table), np.stack(list(table.values())))

    def lens(self) -> SetResult:
        """The measure's number at each state of the residual stream, [state, text] (logit lens).

        Raises `BadInput` for a model without logits, or a measure that is not linear in them.
        """
        table: dict[str, np.ndarray] = {}
        for group in self.groups:
            linears = [linear_of(run) for run in group.runs]
            if readout(group.runs[0]).output != "logits":
                raise BadInput(
                    f"{self.lm.name} has no head that turns hidden states into scores: there is"
                    " nothing to read a state with",
                    code="no_logits",
                    name=self.lm.name,
                )
            for part in group.parts():
                run, linear = group.traced(part), _by_row([linears[text] for text in part])
                places = [group.places[text] for text in part]
                for state, logits in read_states(run, run.value("logits")):
                    row = table.setdefault(state, np.zeros(len(self.texts)))
                    row[places] = linear(logits.float()).double().cpu().numpy()
        return self._result("lens", "", tuple(table), np.stack(list(table.values())))

    def patching(
        self,
        *,
        slots: Mapping[str, SlotPlace],
        stage: SlotStage = "mixed",
        by: Unit = "head",
        heads: Sequence[Where] | str | None = None,
        control: bool = True,
        progress: Callable[[float], None] = ignore,
        cancel: threading.Event | None = None,
    ) -> SetResult:
        """The change with a head's output, or its values, taken from the partner at one slot.

        Activation patching by position, [head, slot, text]; the result's `share` is of the gap to
        the partner. The control takes the same from the partner of another text, drawn at random.

        Parameters:

        - `slots`: named places, such as {"last": -1, "subject": WordSlot(names)}; a
          `DifferenceSlot` is where a text and its partner first differ.
        - `stage`: "mixed", a head's output at the slot, or "v", its values there. A partner with
          another number of tokens stands at other positions, which come with what is taken.
        - `by`: "head", or "layer" for all heads of a layer at once.

        Raises `BadInput` for texts without partners, for a slot that a text does not have, with its
        number, and where the mean gap is 0; `UnsupportedAttention` for a model that reads with
        several stacks, or whose values are not known.
        """
        require_callback(progress)
        grid = _Grid(self, slots, stage, by, heads)
        n_job = len(grid.rows) * len(slots) * len(self.texts)
        work = _Work(n_job * (2 if control else 1), progress, cancel)
        after = grid.run(work, np.arange(len(self.texts)))
        shuffled = grid.run(work, _others_at_random(len(self.texts))) if control else None
        return self._result(
            "patching",
            f"{'output' if stage == 'mixed' else 'values'} by {by}",
            grid.rows,
            after - self.before,
            slots=tuple(slots),
            control=None if shuffled is None else shuffled - self.before,
        )

    def _result(
        self,
        question: Literal["effects", "direct", "lens", "patching"],
        how: str,
        rows: tuple[str, ...],
        values: Float64[np.ndarray, "*cell text"],
        slots: tuple[str, ...] = (),
        control: Float64[np.ndarray, "*cell text"] | None = None,
    ) -> SetResult:
        source = self.source if question == "patching" else None
        return SetResult(
            question=question,
            how=how,
            rows=rows,
            slots=slots,
            values=values,
            before=self.before,
            unit=self.unit,
            n_solved=self.n_solved,
            source=source,
            control=control,
            blocks=blocks_of(self.texts, self.others, self.measures),
        )

    def to_dict(self) -> dict[str, object]:
        """The model, the texts and their numbers, as lists."""
        return {
            "model": self.lm.name,
            "text": list(self.texts),
            "other": None if self.others is None else list(self.others),
            "before": self.before.tolist(),
            "source": None if self.source is None else self.source.tolist(),
            "solved": None if self.solved is None else self.solved.tolist(),
        }

    def __repr__(self) -> str:
        texts = counted(len(self.texts), "text" if self.others is None else "pair")
        solved = "" if self.solved is None else f", {self.n_solved} solved"
        number = f"{self.before.mean():.4g} {self.unit}"
        return f"ExperimentSet on {self.lm.name}, {texts}{solved}: mean {number}"


def experiment_set(
    lm: LoadedModel,
    texts: Sequence[str] | Sequence[tuple[str, str]],
    on: AnswerMeasure | Sequence[AnswerMeasure] | None,
    cancel: threading.Event | None = None,
) -> ExperimentSet:
    """Many texts, or pairs of a text and its partner, each run once.

    Raises what `attnviz.capture` raises, with the number of the text, and `BadInput` for no text,
    pairs beside plain texts, or not one measure for each.
    """
    own, others = _texts(texts)
    measures = _measures(on, len(own))
    groups = groups_of(lm, list(zip(own, measures, strict=True)), cancel)
    partners: list[TextAndMeasure] = list(zip(others or (), measures, strict=others is not None))
    other_groups = groups_of(lm, partners, cancel) if others is not None else ()
    before = _numbers(groups, len(own))
    solved = {
        place: _solved(run, float(before[place]))
        for group in groups
        for place, run in zip(group.places, group.runs, strict=True)
    }
    return ExperimentSet(
        lm=lm,
        texts=own,
        others=others,
        measures=measures,
        groups=groups,
        other_groups=other_groups,
        before=before,
        source=None if others is None else _numbers(other_groups, len(own)),
        solved=None if None in solved.values() else np.array([solved[at] for at in sorted(solved)]),
        unit=readout(groups[0].runs[0]).unit,
    )


def _numbers(groups: Sequence[TextGroup], n: int) -> Float64[np.ndarray, " text"]:
    numbers = np.full(n, np.nan)
    for group in groups:
        numbers[list(group.places)] = group.clean()
    return numbers


def _texts(
    texts: Sequence[str] | Sequence[tuple[str, str]],
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """(the texts, their partners); None where they have none."""
    given: list[Any] = list(texts)
    pairs = [isinstance(text, tuple) and len(text) == 2 for text in given]
    plain = [isinstance(text, str) for text in given]
    if given and all(pairs) and all(isinstance(part, str) for pair in given for part in pair):
        return tuple(text for text, _ in given), tuple(other for _, other in given)
    if given and all(plain):
        return tuple(given), None
    at = next((at for at, fits in enumerate(plain) if fits != plain[0]), 0)
    found = "nothing" if not given else f"text {at} is {shortened(repr(given[at]))}"
    raise bad_argument(
        f"{found}: give a list of texts, or a list of pairs (text, partner)",
        name="text",
        found=found,
        allowed="texts, or pairs of texts",
    )


def _measures(
    on: AnswerMeasure | Sequence[AnswerMeasure] | None, n: int
) -> tuple[AnswerMeasure, ...]:
    if isinstance(on, Sequence):
        if len(on) != n:
            raise bad_argument(
                f"{n} texts were given and {counted(len(on), 'measure')}: give one for all, or one"
                " for each text",
                name="on",
                found=str(len(on)),
                allowed=f"1 or {n}",
            )
        return tuple(map(as_measure, on))
    if on is None:
        raise bad_argument(
            "on= is missing: a set of texts needs a measure, NextToken, Class, Cosine, Target or"
            " Divergence, or a list with one for each text",
            name="on",
            found="None",
            allowed="NextToken, Class, Cosine, Target, Divergence",
        )
    return (as_measure(on),) * n


def _solved(run: CleanRun, number: float) -> bool | None:
    """True if the model gives the measured answer; None where that cannot be said."""
    on, logits = run.on, run.clean.get("logits")
    if not (isinstance(on, NextToken | Class) and isinstance(logits, Tensor)):
        return None
    if on.against is not None:
        return number > 0
    if isinstance(on, NextToken):
        row = logits[0, run.position(on.at)]
        return int(row.argmax()) == token_id(run.lm, on.token, len(row))
    return int(logits[0].argmax()) == class_index(run.lm, class_names(run.lm), on.name)


def _by_row(linears: Sequence[Linear]) -> Linear:
    """The numbers of a batch, each row by its own text's measure."""
    return lambda tensor: torch.cat(
        [linear(tensor[row : row + 1]) for row, linear in enumerate(linears)]
    )


def _others_at_random(n: int) -> Int64[np.ndarray, " text"]:
    """Another text for each, drawn at random; none is its own where there are several."""
    order = np.random.default_rng(SEED).permutation(n)
    others = np.empty(n, np.int64)
    others[order] = np.roll(order, 1)
    return others


@dataclass(eq=False)
class _Work:
    """Rows of changed texts in batches, with progress and a way to stop."""

    n: int
    progress: Callable[[float], None]
    cancel: threading.Event | None
    done: int = 0

    def batches(self, rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """At most `SET_ROWS` rows at a time."""
        for start in range(0, len(rows), SET_ROWS):
            require_wanted(self.cancel)
            some = rows[start : start + SET_ROWS]
            yield some
            self.done += len(some)
            self.progress(self.done / self.n)


# --- patching by slot -----------------------------------------------------------------------------


class _Grid:
    """Every head or layer at every slot, patched from the partners.

    `sources` has, for each call, what stands at the slots of the partners: [slot, text, head, d].
    """

    def __init__(
        self,
        run: ExperimentSet,
        slots: Mapping[str, SlotPlace],
        stage: SlotStage,
        by: Unit,
        heads: Sequence[Where] | str | None,
    ) -> None:
        self.set, self.stage = run, stage
        layout = run.groups[0].layout
        _require_patchable(run, slots, stage, by)
        sites = sites_of(layout, heads)
        self.units: tuple[tuple[Site, ...], ...] = tuple((head,) for head in sites)
        if by == "layer":
            layers = dict.fromkeys(head.whole_layer for head in sites)
            self.units = tuple(
                tuple(head for head in sites if head.whole_layer == layer) for layer in layers
            )
        self.rows = tuple(
            str(unit[0] if by == "head" else unit[0].whole_layer) for unit in self.units
        )
        places = [_places(run, name, slot) for name, slot in slots.items()]
        self.at = torch.tensor(np.stack([own for own, _ in places]))  # [slot, text]
        self.sources = self._sources(torch.tensor(np.stack([other for _, other in places])))

    def _sources(self, at: Int64[Tensor, "slot text"]) -> list[Tensor]:
        layout, n_text = self.set.groups[0].layout, at.shape[1]
        sources: list[Tensor] = []
        for group in self.set.other_groups:
            for part in group.parts():
                calls = group.recorded(part)
                texts = torch.tensor([group.places[text] for text in part])
                for number, call in enumerate(calls):
                    stage = _by_position(call, self.stage, layout.calls[number].n_heads)
                    if len(sources) <= number:
                        sources.append(stage.new_zeros(len(at), n_text, *stage.shape[2:]))
                    for slot, places in enumerate(at):
                        rows = torch.arange(len(part), device=stage.device)
                        sources[number][slot, texts] = stage[rows, places[texts]]
        return sources

    def run(
        self, work: _Work, partners: Int64[np.ndarray, " text"]
    ) -> Float64[np.ndarray, "row slot text"]:
        """The numbers after each patch, with the partner of text t taken from `partners[t]`."""
        after = np.full((len(self.units), len(self.at), self.at.shape[1]), np.nan)
        other = torch.tensor(partners)
        for group in self.set.groups:
            jobs = [
                (unit, slot, text)
                for unit in range(len(self.units))
                for slot in range(len(self.at))
                for text in range(len(group.runs))
            ]
            for some in work.batches(jobs):
                texts = [text for _, _, text in some]
                numbers = group.changed(texts, self._placed(group, some, other))
                units, slots = ([job[axis] for job in some] for axis in (0, 1))
                after[units, slots, [group.places[text] for text in texts]] = numbers
        return after

    def _placed(
        self,
        group: TextGroup,
        jobs: Sequence[tuple[int, int, int]],
        other: Int64[Tensor, " text"],
    ) -> Mapping[Any, Any]:
        """The changes of a batch: one function for each call, told apart by row."""
        layout = group.layout
        slots = torch.tensor([slot for _, slot, _ in jobs])
        texts = torch.tensor([group.places[text] for _, _, text in jobs])

        def taken(number: int) -> Callable[[Tensor, Pairs], Tensor]:
            def change(values: Tensor, pairs: Pairs) -> Tensor:
                rows = pairs.rows.cpu()
                slot, text, out = slots[rows], texts[rows], values.clone()
                new = self.sources[number][slot, other[text], pairs.heads.cpu()]
                out[torch.arange(len(rows)), self.at[slot, text]] = new.to(values)
                return out

            return change

        functions = [taken(number) for number in range(len(layout.calls))]
        changes = []
        for row, (unit, _, _) in enumerate(jobs):
            for head in self.units[unit]:
                call = layout.find(head)[0]
                function = functions[layout.calls.index(call)]
                assert head.head is not None, "one head"
                changes.append((row, RowChange((call,), self.stage, (function,), head.head)))
        return placed_in_rows(changes)


def _by_position(call: AttentionCall, stage: SlotStage, n_heads: int) -> Tensor:
    """[text, position, head, d] of a recorded call."""
    if stage == "mixed":
        return call.output.float()
    assert call.inputs.value is not None, "own code is refused"
    values = call.inputs.value.float()
    return values.repeat_interleave(n_heads // values.shape[1], dim=1).transpose(1, 2)


def _require_patchable(
    run: ExperimentSet, slots: Mapping[str, SlotPlace], stage: str, by: str
) -> None:
    if run.others is None or run.source is None:
        raise BadInput(
            "these texts have no partners to patch from: give pairs (text, partner)",
            code="no_partners",
        )
    if stage not in ("mixed", "v"):
        raise bad_argument(
            f"stage= is {shortened(repr(stage))}: mixed and v stand at a slot; weights, q and k"
            " need texts of one length, as patched_from of one pair takes them",
            name="stage",
            found=shortened(str(stage)),
            allowed="mixed, v",
        )
    require_one_of("by", by, ("head", "layer"))
    if not slots:
        raise bad_argument(
            "slots= is empty: name places, such as {'last': -1}",
            name="slots",
            found="{}",
            allowed="names with positions or words",
        )
    require_apart(float(run.before.mean()), float(run.source.mean()), run.unit)
    calls = run.groups[0].layout.calls
    if len({(call.site.kind, call.site.stack) for call in calls}) > 1 or calls[0].windowed:
        raise UnsupportedAttention(
            f"{run.lm.name} reads with several attentions: slots are patched in models that read"
            " one text with one stack of self-attention",
            code="several_attentions",
            name=run.lm.name,
        )
    if stage == "v":
        for call in calls:
            if call.only_weights:
                raise UnsupportedAttention(
                    f"{call.place.module} computes attention with code of its own: its values"
                    " cannot be patched; take stage='mixed'",
                    code="own_code_unchanged",
                    module=call.place.module,
                )


def _places(
    run: ExperimentSet, name: str, slot: SlotPlace
) -> tuple[Int64[np.ndarray, " text"], Int64[np.ndarray, " text"]]:
    """The positions of a slot in every text and in its partner."""
    n = len(run.texts)
    if isinstance(slot, DifferenceSlot):
        own, other = (_by_text(groups, n) for groups in (run.groups, run.other_groups))
        places = np.zeros(n, np.int64)
        for text in range(n):
            with numbered(text):
                places[text] = first_difference(name, own[text].ids, other[text].ids)
        return places, places
    sides = []
    for side, groups in enumerate((run.groups, run.other_groups)):
        words = None if isinstance(slot, int) else words_of(name, slot, n, side)
        places = np.zeros(n, np.int64)
        for text, tokens in enumerate(_by_text(groups, n)):
            with numbered(text):
                if words is None:
                    assert isinstance(slot, int), "a position"
                    places[text] = position_of(name, slot, len(tokens))
                else:
                    places[text] = last_token(name, tokens, *words[text])
        sides.append(places)
    return sides[0], sides[1]


def _by_text(groups: Sequence[TextGroup], n: int) -> list[Tokens]:
    """The tokens of each text of a set."""
    places = {
        place: group.tokens(text) for group in groups for text, place in enumerate(group.places)
    }
    return [places[text] for text in range(n)]
