"""The change of a model's answer in words: sentences, amounts and their control.

In: a language, how an answer is read, the answer before and after. Out: sentences of the catalogue;
Switches, Circuit and edited numbers say a change in the same way. `reference_in_words` says what
"without the head" means: over which texts a head's mean output is taken.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float64

from attnviz.i18n import Language, text
from attnviz.i18n.numbers import local, number
from attnviz.summary import shortened

if TYPE_CHECKING:
    from attnviz.capture.changed.references import Reference
    from attnviz.experiment.answers import AnswerReader
    from attnviz.experiment.changed_run import ChangedNumbers
    from attnviz.experiment.clean_run import CleanRun
    from attnviz.experiment.effects import OtherHeads

Unit = Literal["percent", "points", "number"]
NEARLY_ONE = 0.9995  # rounds to 100.0 %
SATURATED = 0.9  # of a probability: from here on it hardly says what a change does
# what matters moves the answer so much further than the median head, and this part of the most
TIMES_MEDIAN, PART_OF_MOST = 3.0, 0.05
NO_MOVE = 0.0001  # of a cosine: what four decimals show
BEGINNING = 48  # characters of the first text
HARDLY = 0.005  # of a probability
LEAST_GUESS = 0.05  # below it the likeliest word is no guess, and what moves it decides nothing
LEAST_WEIGHT = 0.005  # what is below it is printed as 0.00


def choice_name(lang: Language, prepared: "CleanRun", answer: "AnswerReader", place: int) -> str:
    if answer.kind == "cosines" and place == 0:
        return text(lang, "switchboard.itself")
    return answer.name(place)


def changed_sentence(
    lang: Language,
    prepared: "CleanRun",
    answer: "AnswerReader",
    result: "ChangedNumbers",
    section: str,
    quote: Callable[[str], str] = str,
    **words: str,
) -> str:
    """The change of the answer, in the words of a section; `words` name what was changed.

    `quote` makes a token's text fit for where the sentence stands.
    """
    if not answer.is_probability:
        value = result.after[0] if answer.kind == "cosines" else result.after.mean()
        return text(lang, f"{section}.turned", cosine=cosine(lang, float(value)), **words)
    best, now = int(np.argmax(result.before)), int(np.argmax(result.after))
    if not answer.exclusive:
        best = now = int(np.argmax(np.abs(result.after - result.before)))
    values = {
        "before": quote(choice_name(lang, prepared, answer, best)),
        "after": quote(choice_name(lang, prepared, answer, now)),
        "was": share(lang, result.before[best]),
        "left": share(lang, result.after[best]),
        "share": share(lang, result.after[now]),
        "points": points(lang, float(result.after[best] - result.before[best])),
        **words,
    }
    if not answer.exclusive:
        return text(lang, f"{section}.loses", **values)
    return text(lang, f"{section}.turns" if best != now else f"{section}.stays", **values)


def moved(answer: "AnswerReader", before: np.ndarray, after: np.ndarray) -> float:
    """The distance that an answer moved, as `AnswerReader.moved` computes it."""
    if answer.kind == "cosines":
        return max(0.0, float(1 - after[0]))  # rounding may leave a cosine just above 1
    change = np.abs(after - before)
    return float(change.sum() / 2 if answer.exclusive else change.mean())


def guesses(answer: "AnswerReader") -> bool:
    """True if the answer has an idea of what it says."""
    return not answer.exclusive or float(answer.clean.max()) >= LEAST_GUESS


def no_guess_sentence(lang: Language, answer: "AnswerReader") -> str:
    """A sentence on an answer that is no guess, whose heads are not ranked."""
    best = share(lang, float(answer.clean.max()))
    return text(lang, "switchboard.no_guess", n=len(answer.clean), share=best)


def least_that_matters(answer: "AnswerReader", sizes: np.ndarray, spread: float) -> float:
    """The least distance, of all `sizes`, by which a head must move the answer to matter.

    However little the others move it: half a percentage point, or what a printed cosine shows.
    Nothing matters to an answer that is no guess.
    """
    if not guesses(answer):
        return 1.0
    floor = HARDLY if answer.is_probability else NO_MOVE
    by_chance = TIMES_MEDIAN * float(np.median(sizes))
    return max(floor, by_chance, PART_OF_MOST * float(sizes.max()), spread)


def control_sentence(
    lang: Language,
    answer: "AnswerReader",
    result: "ChangedNumbers",
    section: str,
    **words: object,
) -> str:
    """A sentence on how far the answer moved, and how far controls do: both of two."""
    controls = sorted(moved(answer, result.before, row) for row in result.controls)
    unit = unit_of(answer)
    own = moved(answer, result.before, result.after)
    return text(
        lang,
        f"{section}.control_two" if len(controls) == 2 else f"{section}.control",
        draws=len(controls),
        own=amount(lang, own, unit, "moved"),
        median=amount(lang, float(np.median(controls)), unit, "again"),
        least=amount(lang, controls[0], unit, "again"),
        most=amount(lang, controls[-1], unit, "again"),
        **words,
    )


def every_control_sentence(
    lang: Language,
    answer: "AnswerReader",
    own: float,
    others: "OtherHeads",
    form: Literal["every", "drawn", "looks"],
    now: float = 0.0,
) -> str:
    """A sentence on how far the answer moved, and how far all other heads move it, each alone.

    They are off, `every` one, or their same `looks` are forbidden. Where outputs are `drawn`, all
    are means of draws, of which the answer shows one, that moved it by `now`.
    """
    from attnviz.experiment.effects import DRAWS

    unit = unit_of(answer)
    return text(
        lang,
        f"switchboard.control_{form}",
        draws=DRAWS,
        now=amount(lang, now, unit, "moved"),
        own=amount(lang, own, unit, "again" if form == "drawn" else "moved"),
        n=len(others.heads),
        median=amount(lang, others.median, unit, "again"),
        most=amount(lang, others.most, unit, "again"),
        head=str(others.strongest),
    )


def lead_sentence(
    lang: Language,
    prepared: "CleanRun",
    answer: "AnswerReader",
    result: "ChangedNumbers",
    controls: Sequence[float],
) -> str:
    """The lead of a nearly certain answer, which does not saturate; "" for another answer.

    `controls` are the leads under the control.
    """
    if not controls or not (answer.exclusive and result.before.max() >= SATURATED):
        return ""
    first, second = pair_names(lang, prepared, answer)
    before, after = leads(answer, np.stack([result.before, result.after])).tolist()
    return text(
        lang,
        "switchboard.lead",
        first=first,
        second=second,
        lead=number(lang, before, "+.1f"),
        left=number(lang, after, "+.1f"),
        median=number(lang, float(np.median(controls)), "+.1f"),
        least=number(lang, min(controls), "+.1f"),
    )


def leads(
    answer: "AnswerReader", rows: Float64[np.ndarray, "row choice"]
) -> Float64[np.ndarray, " row"]:
    """The lead of the first choice over the second one of an answer's pair, in each row."""
    first, second = answer.pair
    with np.errstate(divide="ignore"):
        lead: np.ndarray = np.log(rows[:, first]) - np.log(rows[:, second])
    return lead


def pair_names(
    lang: Language,
    prepared: "CleanRun",
    answer: "AnswerReader",
    quote: Callable[[str], str] = str,
) -> tuple[str, str]:
    """(the first choice, the one it is held against: what that is, where it is not the second)."""
    first, second = (quote(choice_name(lang, prepared, answer, at)) for at in answer.pair)
    if is_runner_up(answer, answer.pair[1]):
        return first, second
    return first, text(lang, "switchboard.of_text", name=second)


def is_runner_up(answer: "AnswerReader", choice: int) -> bool:
    """True for the second likeliest choice of all."""
    return int((answer.clean > answer.clean[choice]).sum()) == 1


def without_weight(lang: Language, weight: float) -> str:
    """A sentence on a look that has no weight to take away, as it is printed; "" for others."""
    said = number(lang, weight, ".2f")
    return text(lang, "word_shares.nothing", weight=said) if weight < LEAST_WEIGHT else ""


def unit_of(answer: "AnswerReader") -> Unit:
    if not answer.is_probability:
        return "number"
    return "percent" if answer.exclusive else "points"


def amount(
    lang: Language, value: float, unit: Unit, form: Literal["", "moved", "again"] = ""
) -> str:
    """The distance that an answer moved.

    In percentage points of probability, ½ · Σ |change|; for several distributions their mean
    |change|; or as a plain number. Of points `moved` says where they go: there may be more than the
    likeliest answer had; `again` follows an amount that has named its unit.
    """
    if unit == "number":
        hardly = 0 < value < NO_MOVE / 2
        return local(lang, f"<{NO_MOVE}") if hardly else number(lang, value, ".4f")
    name = f"percent_{form}" if form and unit == "percent" else unit
    return text(lang, f"switchboard.{name}", value=share(lang, value))


def cosine(lang: Language, value: float) -> str:
    """A cosine; one just below 1 is never printed as 1."""
    nearly = 1 - NO_MOVE / 2 < value < 1
    return local(lang, f">{1 - NO_MOVE}" if nearly else f"{value:.4f}")


def points(lang: Language, change: float) -> str:
    """A change of a probability in percentage points, with its sign."""
    size = share(lang, abs(change))
    return f"{'−' if change < 0 else '+'}{size}" if change else "0"


def share(lang: Language, value: float) -> str:
    """A probability in percent; one just below 1 is never printed as 100."""
    if NEARLY_ONE <= value < 1:
        return local(lang, ">99.9")
    percent = 100 * value
    if 0 < percent < 0.01:
        return local(lang, "<0.01")
    return number(lang, percent, ".2g" if percent < 1 else ".1f")


def reference_in_words(lang: Language, reference: "Reference") -> str:
    """A reference as part of a sentence: "50 generated stories (“Ben was a happy boy …”)"."""
    first = shortened(reference.texts[0], BEGINNING) if reference.texts else ""
    return text(lang, f"reference.{reference.kind}", n=reference.n, first=first)
