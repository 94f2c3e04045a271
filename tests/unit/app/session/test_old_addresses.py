"""Addresses that worked once open the same view for good: names, order, values and defaults."""

from typing import Any

import pytest

from attnviz.app.session import address
from attnviz.app.session.view import default_view

# the parameters of version 0.1, in the order in which they stand in an address
NAMES = [
    "model",
    "text",
    "text2",
    "cut",
    "file",
    "chat",
    "target",
    "generate",
    "temperature",
    "top_k",
    "top_p",
    "seed",
    "image",
    "window",
    "sound",
    "lang",
    "stack",
    "kind",
    "mean",
    "layer",
    "head",
    "query",
    "key",
    "scale",
    "special",
    "order",
    "cells",
    "sums",
    "masks",
    "words",
    "top",
    "across",
    "beside",
    "edits",
    "lab",
    "lesson",
    "card",
    "values",
    "answers",
    "room",
    "host",
    "seat",
    "model_b",
    "text_b",
    "target_b",
    "image_b",
    "stack_b",
    "kind_b",
    "layer_b",
    "head_b",
    "query_b",
    "key_b",
]

# (parameter, as it stood in an address, the value in the view or None, whether it was exact)
VALUES: list[tuple[str, str, Any, bool]] = [
    ("model", "stories", "stories", True),
    ("model", ' "~/models/x" ', "~/models/x", True),
    ("model", "gpt-9", "gpt-9", True),
    ("model", "org/name", "org/name", True),
    ("text", "a & b", "a & b", True),
    ("text", "", "", True),
    ("text", "x\ud800", "x\ufffd", False),
    ("text2", "", "", True),
    ("text2", "b", "b", True),
    ("cut", "1", True, True),
    ("cut", "0", False, True),
    ("cut", "yes", False, False),
    ("file", "1", True, True),
    ("file", "x", False, False),
    ("chat", "1", True, True),
    ("chat", "0", False, True),
    ("target", "Le chat", "Le chat", True),
    ("generate", "7", 7, True),
    ("generate", "65", 64, False),
    ("generate", "-1", None, False),
    ("temperature", "0.70", 0.7, True),
    ("temperature", "2.5", 2.0, False),
    ("temperature", "hot", None, False),
    ("top_k", "40", 40, True),
    ("top_k", "99999", 1000, False),
    ("top_p", "0.9", 0.9, True),
    ("top_p", "0", 0.01, False),
    ("top_p", "1.2", 1.0, False),
    ("seed", "3", 3, True),
    ("seed", "-3", None, False),
    ("image", "own", "own", True),
    ("image", "sample-7", "sample-7", True),
    ("image", "stripes", "stripes", True),
    ("image", "../x", None, False),
    ("image", "", None, False),
    ("window", "5", 5, True),
    ("window", "99999", 9999, False),
    ("sound", "own", "own", True),
    ("sound", "", "", True),
    ("sound", "x", None, False),
    ("lang", "ja", "ja", True),
    ("lang", "xx", None, False),
    ("stack", "decoder", "decoder", True),
    ("stack", "middle", None, False),
    ("kind", "cross", "cross", True),
    ("kind", "other", None, False),
    ("mean", "layer", "layer", True),
    ("mean", "all", "all", True),
    ("mean", "x", None, False),
    ("layer", "5", 5, True),
    ("layer", "-1", None, False),
    ("head", "11", 11, True),
    ("head", "1e3", None, False),
    ("query", "3", 3, True),
    ("query", "100000", None, False),
    ("key", "0", 0, True),
    ("key", "None", None, False),
    ("scale", "log", "log", True),
    ("scale", "cubic", None, False),
    ("special", "hide", "hide", True),
    ("special", "maybe", None, False),
    ("order", "induction", "induction", True),
    ("order", "x", None, False),
    ("cells", "1", True, True),
    ("cells", "x", False, False),
    ("sums", "1", True, True),
    ("sums", "0", False, True),
    ("masks", "window=4,padding", "padding,window=4", True),
    ("masks", "none", "none", True),
    ("masks", "sideways", None, False),
    ("masks", "", "", True),
    ("words", "1", True, True),
    ("top", "0", 0, True),
    ("top", "10", 10, True),
    ("top", "11", None, False),
    ("across", "1", True, True),
    ("beside", "L1.H8,L0.H2", "L1.H8,L0.H2", True),
    ("beside", "L1", None, False),
    ("edits", "q.3.5=0.70,masked.1.*=-inf", "q.3.5=0.7,masked.1.*=-inf", True),
    ("edits", "q.1", None, False),
    (
        "lab",
        "q=1,2;3,4~k=1,0;0,1~v=1;2~mask=causal~scale=d~tokens=a b",
        "q=1,2;3,4~k=1,0;0,1~v=1;2~mask=causal~scale=d~tokens=a b",
        True,
    ),
    ("lab", "junk", None, False),
    ("lesson", "block", "block", True),
    ("lesson", "Block!", None, False),
    ("card", "softmax", "softmax", True),
    ("card", "", "", True),
    ("values", "a=1,b=2", "a=1%2Cb%3D2", True),
    ("answers", "softmax=3", "softmax=3", True),
    ("room", "K7QM-2XLP-9RTA", "K7QM-2XLP-9RTA", True),
    ("room", "a b", None, False),
    ("host", "k_-1", "k_-1", True),
    ("seat", "s1", "s1", True),
    ("seat", "<", None, False),
    ("model_b", "translator", "translator", True),
    ("text_b", "other", "other", True),
    ("target_b", "x", "x", True),
    ("image_b", "sample-3", "sample-3", True),
    ("image_b", "/etc", None, False),
    ("stack_b", "encoder", "encoder", True),
    ("stack_b", "left", None, False),
    ("kind_b", "self", "self", True),
    ("kind_b", "", None, False),
    ("layer_b", "1", 1, True),
    ("layer_b", "x", None, False),
    ("head_b", "0", 0, True),
    ("query_b", "4", 4, True),
    ("query_b", "-1", None, False),
    ("key_b", "2", 2, True),
]

# what an address without parameters shows
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(NAMES, ""),
    **dict.fromkeys(("lang", "stack", "kind", "mean", "layer", "head", "query", "key")),
    **dict.fromkeys(("stack_b", "kind_b", "layer_b", "head_b", "query_b", "key_b")),
    **dict.fromkeys(("cut", "file", "chat", "cells", "sums", "words", "across"), False),
    **{"generate": 0, "temperature": 0.0, "top_k": 0, "top_p": 1.0, "seed": 0, "window": 0},
    **{"scale": "sqrt", "special": "show", "order": "layer", "top": 2, "model": "minilm"},
    "text": "The animal didn't cross the street because it was too tired.",
    "text2": "The street was wide.",
}


def values(view: object) -> dict[str, Any]:
    """The values of a view by the names of the old parameters."""
    parameters = [address.PARAMETERS[name] for name in NAMES]
    return {parameter.name: parameter.value(view) for parameter in parameters}  # type: ignore[arg-type]


def test_the_parameters_keep_their_names_and_their_order() -> None:
    """Parameters may be added between those of old; none goes, and none changes its place."""
    assert [name for name in address.PARAMETERS if name in NAMES] == NAMES
    assert {name for name, *_ in VALUES} == set(NAMES)


def test_an_empty_address_opens_the_same_view() -> None:
    assert values(address.view_of({})) == values(default_view()) == DEFAULTS


@pytest.mark.parametrize(("name", "raw", "value", "exact"), VALUES)
def test_a_parameter_opens_the_same_view(name: str, raw: str, value: Any, exact: bool) -> None:
    parsed, rejected = address.parse({name: raw})
    assert rejected == (() if exact else (name,))
    assert parsed == ({} if value is None else {name: value})
    opened = values(address.view_of(parsed))
    assert opened[name] == (DEFAULTS[name] if value is None else value)
    if name != "model":  # which brings its own text
        del opened[name]
        assert opened.items() <= DEFAULTS.items()


def test_all_parameters_together_come_back_as_they_were() -> None:
    first: dict[str, str] = {}
    for name, raw, value, exact in VALUES:
        if exact and value != DEFAULTS[name]:
            first.setdefault(name, raw)
    parsed, rejected = address.parse(first)
    assert rejected == () and len(first) == len(NAMES)
    again = address.params(address.view_of(parsed))
    keys = {name: parsed.pop(name) for name in address.KEYS}  # read, and never written again
    assert keys.keys() == {"host", "seat"}
    assert list(again) == [name for name in NAMES if name not in keys]
    assert address.parse(again) == (parsed, ())
