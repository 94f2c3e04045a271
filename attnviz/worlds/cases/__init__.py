"""Held-out cases of the embedded models, stored beside this module as JSON lines.

In: the name of a set, e.g. "stories/facts". Out: one frozen value per line. The grammars that drew
them are needed for training only and live in scripts/train/worlds; `python -m scripts.train.cases`
writes these files, and a test draws every case again and compares. The worlds of `dates` and
`shapes` are small and part of the app: their checks draw from a seed. No torch.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SUFFIX = ".jsonl"
CharSpan = tuple[int, int]  # first character, and the one after the last
Line = dict[str, Any]


@dataclass(frozen=True)
class AlignedPair:
    """A source text, its target, and the gold alignment: (source span, target span) links."""

    source: str
    target: str
    links: tuple[tuple[CharSpan, CharSpan], ...] = ()


@dataclass(frozen=True)
class Choice:
    """A prompt, how it goes on, and how it would go on if the two candidates were mixed up."""

    prompt: str
    right: str
    wrong: str


@dataclass(frozen=True)
class SpanPair:
    """A text, a span that attends and a span that is attended to; `query` None is [CLS]."""

    text: str
    query: CharSpan | None
    key: CharSpan


@dataclass(frozen=True)
class LabelledReview:
    """A review, True if it praises, and True if a negation says so."""

    text: str
    positive: bool
    negated: bool


def aligned_pairs(name: str) -> tuple[AlignedPair, ...]:
    """The sentences of a set with their translations; links where the set stores them."""
    return tuple(
        AlignedPair(
            line["source"],
            line["target"],
            tuple((_span(source), _span(target)) for source, target in line.get("links", ())),
        )
        for line in lines(name)
    )


def choices(name: str) -> tuple[Choice, ...]:
    """The prompts of a set, each with a right and a wrong continuation."""
    return tuple(Choice(**line) for line in lines(name))


def continuations(name: str) -> tuple[tuple[str, str], ...]:
    """The prompts of a set, each with its right continuation."""
    return tuple((line["prompt"], line["right"]) for line in lines(name))


def texts(name: str) -> tuple[str, ...]:
    """The texts of a set."""
    return tuple(line["text"] for line in lines(name))


def reviews(name: str) -> tuple[LabelledReview, ...]:
    """The reviews of a set."""
    return tuple(LabelledReview(**line) for line in lines(name))


def span_pairs(name: str, field: str = "") -> tuple[SpanPair, ...]:
    """The span pairs of a set; `field` is the part of each line that holds them."""
    stored = (line[field] if field else line for line in lines(name))
    return tuple(
        SpanPair(
            line["text"],
            None if line["query"] is None else _span(line["query"]),
            _span(line["key"]),
        )
        for line in stored
    )


def lines(name: str) -> Iterator[Line]:
    """The lines of a set, decoded."""
    for line in path(name).read_text(encoding="utf-8").rstrip("\n").split("\n"):
        yield json.loads(line)


def path(name: str) -> Path:
    """The file of a set."""
    return FOLDER / f"{name}{SUFFIX}"


def _span(pair: list[int]) -> CharSpan:
    start, end = pair
    return start, end
