"""A question asked of a set of pairs, as what the page shows of it.

In: a `SetResult` of the library with the set that was asked. Out: its view in a language. Nothing
is computed here: means, shares and intervals are those of the result.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32

from attnviz.i18n import Language, text
from attnviz.i18n.numbers import number, percent_sign
from attnviz.pictures.group.answers import reference_in_words
from attnviz.pictures.pairs import Ask, PairsView, PairText

if TYPE_CHECKING:
    from attnviz.capture.changed.references import Reference
    from attnviz.experiment.answer_measures import AnswerMeasure
    from attnviz.experiment.set_results import SetResult
    from attnviz.experiment.sets import ExperimentSet

MISSED = 0.05  # of intervals at 95 %, by chance
NAMES = ("last", "difference")  # slots that have a name in each language


@dataclass(frozen=True, eq=False)
class PairsFound:
    """The numbers of a job, without the model: the result, its pairs, and how many were asked.

    `words` are those in which the first pair differs. `reference` has the texts over which heads
    were replaced by their mean, None where none was.
    """

    ask: Ask
    result: "SetResult"
    texts: tuple[PairText, ...]
    n_solved: int
    n_asked: int
    words: tuple[str, ...]
    reference: "Reference | None"


def found(
    ask: Ask, asked: "ExperimentSet", measured: "ExperimentSet", result: "SetResult"
) -> PairsFound:
    """The numbers of a question: `measured` is all that was `asked`, or the solved part of it."""
    from attnviz.capture.changed.references import reference_of
    from attnviz.experiment.set_results import differing_words

    assert measured.others is not None and measured.source is not None, "pairs"
    assert measured.solved is not None, "answers that can be right"
    answers = [_answers(on) for on in measured.measures]
    rows = zip(
        measured.texts,
        measured.others,
        [own for own, _ in answers],
        [other for _, other in answers],
        measured.before.tolist(),
        measured.source.tolist(),
        measured.solved.tolist(),
        strict=True,
    )
    return PairsFound(
        ask=ask,
        result=result,
        texts=tuple(PairText(*row) for row in rows),
        n_solved=asked.n_solved or 0,
        n_asked=len(asked.texts),
        words=tuple(sorted(differing_words(measured.texts[0], measured.others[0]))) or answers[0],
        reference=reference_of(measured.lm) if ask == "effects" else None,
    )


def _answers(on: "AnswerMeasure") -> tuple[str, str]:
    """The answer that a text should get, and that of its partner."""
    from attnviz.experiment.answer_measures import Class, NextToken

    assert isinstance(on, NextToken | Class), "answers of a token or a class"
    own = on.token if isinstance(on, NextToken) else on.name
    return str(own).strip(), str(on.against).strip()


def view(lang: Language, shown: PairsFound) -> PairsView:
    """The question in words, with its numbers."""
    result = shown.result
    is_share = shown.ask == "patching"
    mean, interval = (
        (result.share, result.share_interval) if is_share else (result.mean, result.interval)
    )
    return PairsView(
        ask=shown.ask,
        title=text(lang, f"pairs.title_{shown.ask}"),
        sentences=tuple(_sentences(lang, shown)),
        n_solved=shown.n_solved,
        n_asked=shown.n_asked,
        rows=tuple(_name(lang, row) for row in result.rows),
        order=tuple(map(result.rows.index, result.order())),
        slots=tuple(_slot(lang, slot) for slot in result.slots),
        texts=shown.texts,
        mean=_cells(mean),
        low=_cells(interval[..., 0]),
        high=_cells(interval[..., 1]),
        control=None if result.control_share is None else _cells(result.control_share),
        values=(result.own_shares if is_share else result.values)
        .reshape(len(result.rows), -1, result.n_text)
        .astype(np.float32),
    )


def _cells(numbers: np.ndarray) -> Float32[np.ndarray, "row slot"]:
    """Row × slot; without slots there is one column."""
    cells: np.ndarray = numbers.reshape(len(numbers), -1).astype(np.float32)
    return cells


def _name(lang: Language, row: str) -> str:
    return text(lang, "component.cut_out.embeddings") if row == "embeddings" else row


def _slot(lang: Language, slot: str) -> str:
    return text(lang, f"pairs.slot_{slot}") if slot in NAMES else slot


def _sentences(lang: Language, shown: PairsFound) -> list[str]:
    """The numbers of both texts, and what tells the two largest rows apart, or does not."""
    result, ask = shown.result, shown.ask
    before = [pair.before for pair in shown.texts]
    source = [pair.source for pair in shown.texts]
    said = [
        text(
            lang,
            "pairs.numbers",
            n=len(before),
            before=_signed(lang, float(np.mean(before))),
            source=_signed(lang, float(np.mean(source))),
        ),
        _note(lang, shown),
    ]
    if ask in ("effects", "direct") and len(result.rows) > 1:
        first, second = result.order()[:2]
        mean, low, high = result.difference(first, second)
        name = "apart" if low > 0 or high < 0 else "not_apart"
        said.append(
            text(
                lang,
                f"pairs.{name}",
                first=_name(lang, first),
                second=_name(lang, second),
                mean=_signed(lang, mean),
                low=_signed(lang, low),
                high=_signed(lang, high),
                which=text(
                    lang, f"pairs.{'lower' if mean < 0 else 'higher'}", first=_name(lang, first)
                ),
            )
        )
    if ask == "patching":
        said += _shares(lang, result)
    if result.blocks is None:
        said.append(text(lang, "pairs.interval"))
    else:
        said.append(
            text(
                lang,
                "pairs.interval_blocks",
                n=result.n_block,
                total=result.n_text,
                words=" / ".join(shown.words),
            )
        )
    n_interval = len(result.rows) * max(1, len(result.slots))
    missed = number(lang, MISSED * n_interval, ".1f")
    said.append(text(lang, "pairs.many", n=n_interval, missed=missed))
    return said


def _note(lang: Language, shown: PairsFound) -> str:
    """The sentence on what the numbers are; of the effects, what stands in for a head."""
    values = {}
    if shown.reference is not None:
        values["reference"] = reference_in_words(lang, shown.reference)
    return text(lang, f"pairs.note_{shown.ask}", **values)


def _shares(lang: Language, result: "SetResult") -> list[str]:
    """The largest share beside its control, and how many pairs have no share of their own."""
    said = []
    control = result.control_share
    if control is not None and result.n_text > 1:
        row, slot = np.unravel_index(np.argmax(np.abs(result.share)), result.share.shape)
        share, other = float(result.share[row, slot]), float(control[row, slot])
        low, high = (_percent(lang, float(bound)) for bound in result.share_interval[row, slot])
        said.append(
            text(
                lang,
                "pairs.patched",
                row=_name(lang, result.rows[row]),
                slot=_slot(lang, result.slots[slot]),
                share=_percent(lang, share),
                low=low,
                high=high,
                control=_percent(lang, other),
                above=number(lang, round(100 * share) - round(100 * other)),
            )
        )
    unknown = int(np.isnan(result.own_shares).any((0, 1)).sum())
    if unknown:
        said.append(text(lang, "pairs.no_share", n=unknown, total=result.n_text))
    return said


def _percent(lang: Language, share: float) -> str:
    return number(lang, round(100 * share)) + percent_sign(lang)


def _signed(lang: Language, value: float) -> str:
    return number(lang, value, "+.2f")
