"""The atlas as its component shows it: all heads of a survey on two measures, one of them in words.

In: a survey, a head, two measures, and the table of the visitor's text where there is one. Out: an
`AtlasView`. Nothing is counted here: numbers become texts.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from attnviz.i18n import Language, joined, text
from attnviz.i18n.numbers import number, percent_sign
from attnviz.metrics.measures import SHARES, UNITS
from attnviz.metrics.table import HeadTable
from attnviz.pictures.atlas import (
    NO_FAMILY,
    AtlasHead,
    AtlasView,
    CountedRow,
    DecileRow,
    HeadDetail,
    MeasureRow,
)
from attnviz.types import MEASURES, HeadId, Measure

if TYPE_CHECKING:
    from attnviz.corpus.result import Decile, Survey
    from attnviz.metrics.over_texts import RoleTable

N_PAIRS = N_KEYS = 8


def atlas(
    lang: Language,
    survey: "Survey",
    head: HeadId,
    axes: tuple[Measure, Measure],
    own: HeadTable | None,
    other: "Survey | None" = None,
) -> AtlasView:
    """The atlas with one head's details.

    `own` is the table of a text by the same model, `other` the survey of a model with whose heads
    they are matched.
    """
    table, roles = survey.table(), survey.roles()
    held = [roles.roles(row) for row in range(len(survey.heads))]
    families = tuple(dict.fromkeys(names[0] for names in held if names))
    return AtlasView(
        heads=tuple(
            AtlasHead(
                place.layer,
                place.head,
                joined(lang, (text(lang, f"measure.{name}") for name in names)),
            )
            for place, names in zip(survey.heads, held, strict=True)
        ),
        axes=(text(lang, f"measure.{axes[0]}"), text(lang, f"measure.{axes[1]}")),
        points=np.stack(
            [
                np.stack([table[f"{name}{end}"] for end in ("_low", "", "_high")], axis=-1)
                for name in axes
            ],
            axis=1,
        ),
        families=tuple(text(lang, f"measure.{name}") for name in families),
        family=np.array(
            [families.index(names[0]) if names else NO_FAMILY for names in held], np.uint8
        ),
        maps=np.stack([survey.mean_map(place) for place in survey.heads]).astype(np.float32),
        detail=head_detail(lang, survey, roles, head, axes[1], own, other),
    )


def head_detail(
    lang: Language,
    survey: "Survey",
    roles: "RoleTable",
    head: HeadId,
    by: Measure,
    own: HeadTable | None = None,
    other: "Survey | None" = None,
) -> HeadDetail:
    """One head over the texts; its tenths are those of the measure `by`."""
    return HeadDetail(
        layer=head.layer,
        head=head.head,
        title=str(head),
        sentences=(*_sentences(lang, survey, roles, head), *_match(lang, survey, head, other)),
        rows=tuple(_row(lang, survey, roles, head, name, own) for name in MEASURES),
        by=text(lang, f"measure.{by}"),
        deciles=_tenths(lang, by, survey.deciles(head, by)),
        pairs=tuple(
            CountedRow((pair.query, pair.key), pair.n, _value(lang, "peak", pair.weight))
            for pair in survey.pairs(head, N_PAIRS)
        ),
        keys=tuple(
            CountedRow((key.token,), key.n, number(lang, key.weight, ".2f"))
            for key in survey.keys(head, N_KEYS)
        ),
        profile=survey.profile(head).astype(np.float32),
    )


def _tenths(lang: Language, by: Measure, deciles: Sequence["Decile"]) -> tuple[DecileRow, ...]:
    """The tenths, those with the same ends as one."""
    rows = []
    for (low, high), alike in groupby(enumerate(deciles, 1), lambda tenth: tenth[1][:2]):
        numbers, same = zip(*alike, strict=True)
        name = "–".join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))
        texts = tuple(text for tenth in same for text in tenth.texts)
        rows.append(DecileRow(name, _value(lang, by, low), _value(lang, by, high), texts))
    return tuple(rows)


def _sentences(
    lang: Language, survey: "Survey", roles: "RoleTable", head: HeadId
) -> tuple[str, ...]:
    """The roles of a head with both baselines, each in how many texts; or that none holds."""
    row = survey.heads.index(head)
    said = []
    for name in roles.roles(row):
        place = roles.patterns.index(name)
        baseline = _baseline(roles, row, place)
        n, of = survey.above(head, name, baseline)
        said.append(
            text(
                lang,
                "atlas.role",
                role=text(lang, f"measure.{name}"),
                share=_percent(lang, roles.share.mean[row, place]),
                low=_percent(lang, roles.share.low[row, place]),
                high=_percent(lang, roles.share.high[row, place]),
                control=_percent(lang, baseline),
                n=n,
                of=of,
            )
        )
    return tuple(said) or (text(lang, "atlas.no_role"),)


def _match(
    lang: Language, survey: "Survey", head: HeadId, other: "Survey | None"
) -> tuple[str, ...]:
    """The nearest head of another model, beside the distance of any of its heads."""
    if other is None:
        return ()
    match = survey.matches(other)[survey.heads.index(head)]
    name = "atlas.match_mutual" if match.mutual else "atlas.match"
    return (
        text(
            lang,
            name,
            model=other.model.id,
            head=str(head),
            other=str(match.other),
            distance=number(lang, match.distance, ".2f"),
            median=number(lang, match.median, ".2f"),
        ),
    )


def _baseline(roles: "RoleTable", row: int, place: int) -> float:
    """The larger of what even attention and what other words in the same places give."""
    values = (roles.even[row, place], roles.other_words.mean[row, place])
    return float(np.fmax(*values))


def _row(
    lang: Language,
    survey: "Survey",
    roles: "RoleTable",
    head: HeadId,
    name: Measure,
    own: HeadTable | None,
) -> MeasureRow:
    row = survey.heads.index(head)
    table = survey.table([name])
    mean, low, high = (float(table[f"{name}{end}"][row]) for end in ("", "_low", "_high"))
    even = other = above = ""
    holds = False
    if name in SHARES:
        place = roles.patterns.index(name)
        even = _value(lang, name, float(roles.even[row, place]))
        other = _value(lang, name, float(roles.other_words.mean[row, place]))
        baseline = _baseline(roles, row, place)
        if baseline == baseline:
            n, of = survey.above(head, name, baseline)
            above = text(lang, "atlas.above_of", n=n, of=of)
        holds = bool(roles.holds[row, place])
    return MeasureRow(
        label=text(lang, f"measure.{name}"),
        mean=_value(lang, name, mean),
        interval=f"{_value(lang, name, low)}–{_value(lang, name, high)}" if low == low else "",
        even=even,
        other=other,
        above=above,
        own="" if own is None else _own(lang, survey, own, row, name),
        holds=holds,
    )


def _own(lang: Language, survey: "Survey", own: HeadTable, row: int, name: Measure) -> str:
    """The value on the visitor's text, and the share of texts with a smaller one."""
    value, smaller = float(own[name][row]), float(survey.quantiles(own)[name][row])
    if value != value or smaller != smaller:
        return ""
    return text(
        lang, "atlas.own_value", value=_value(lang, name, value), percent=round(100 * smaller)
    )


def _value(lang: Language, name: Measure, value: float) -> str:
    """A share in percent, bits and tokens with two decimals; "" where no text has one."""
    if value != value:
        return ""
    if UNITS[name] != "share":
        return number(lang, value, ".2f")
    return _percent(lang, value) + percent_sign(lang)


def _percent(lang: Language, share: float) -> str:
    return number(lang, 100 * share, ".1f" if share < 0.0995 else ".0f")
