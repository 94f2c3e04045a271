"""The display options of a page: part of the address, not of a place.

In: the text of a query parameter, or what a component sends beside its selection (`more`); either
may be anything. Out: values that fit. An option's name is that of its parameter and of its field in
the view; what equals `DEFAULTS` stands in no address.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from attnviz.errors import BadInput
from attnviz.masks import spec
from attnviz.types import HeadId, Measure

Order = Literal["layer", Measure]
ORDERS: tuple[Order, ...] = get_args(Order)
# of a row's way through a head
Stop = Literal["q", "scores", "scaled", "masked", "weights", "mixed", "projected"]
STOPS: tuple[Stop, ...] = get_args(Stop)
MAX_LINES = 10
MAX_BESIDE = 3  # heads beside the chosen one
DEFAULTS: dict[str, Any] = {
    "order": "layer",
    "cells": False,
    "open": False,
    "stop": "",
    "sums": False,
    "words": False,
    "masks": "",
    "top": 2,
    "across": False,
    "beside": "",
}


def checked(name: str, raw: object) -> tuple[Any, bool]:
    """(the value of an option, None where `raw` makes no sense; whether it is as given)."""
    if isinstance(DEFAULTS[name], bool):
        return (raw == "1"), raw in ("0", "1")
    if name in OWN_FORMS:
        return OWN_FORMS[name](raw)
    return (raw, True) if raw in ORDERS else (None, False)


def _masks(raw: object) -> tuple[str | None, bool]:
    """The masks in their text form; the empty one stands for those of the model."""
    if not isinstance(raw, str):
        return None, False
    try:
        return raw and spec.write(spec.parse(raw)), True
    except BadInput:
        return None, False


def _top(raw: object) -> tuple[int | None, bool]:
    """The number of lines of each query; 0 stands for all."""
    fits = isinstance(raw, str) and raw in map(str, range(MAX_LINES + 1))
    return (int(str(raw)), True) if fits else (None, False)


def _beside(raw: object) -> tuple[str | None, bool]:
    """The heads whose lines are drawn beside the chosen one's, by their names."""
    if not isinstance(raw, str):
        return None, False
    try:
        heads = [HeadId.parse(name) for name in raw.split(",")] if raw else []
    except BadInput:
        return None, False
    return (raw, True) if len(heads) <= MAX_BESIDE else (None, False)


def _stop(raw: object) -> tuple[str | None, bool]:
    """The stop of a row that is looked at; the empty one stands for all."""
    return (raw, True) if isinstance(raw, str) and raw in ("", *STOPS) else (None, False)


OWN_FORMS: dict[str, Callable[[object], tuple[Any, bool]]] = {
    "masks": _masks,
    "stop": _stop,
    "top": _top,
    "beside": _beside,
}


def parse_options(sent: object) -> dict[str, Any]:
    """The options among what a component committed; null is the default, nonsense is left out."""
    more = sent.get("more") if isinstance(sent, Mapping) else None
    if not isinstance(more, Mapping):
        return {}
    options = {
        name: default if more[name] is None else checked(name, more[name])[0]
        for name, default in DEFAULTS.items()
        if name in more
    }
    return {name: value for name, value in options.items() if value is not None}
