"""Options of Overview and Head: what the address and the browser may say, and what they may not."""

import pytest

from attnviz.app.session import address
from attnviz.app.session.view import View
from attnviz.pictures.shared.options import DEFAULTS, ORDERS, checked, parse_options


def test_options_are_fields_of_the_view_with_the_same_defaults() -> None:
    assert {name: address.PARAMETERS[name].value(View()) for name in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_survives_the_address(order: str) -> None:
    found, rejected = address.parse({"order": order, "cells": "1"})
    assert found == {"order": order, "cells": True}
    assert rejected == ()


@pytest.mark.parametrize(
    ("name", "raw"), [("order", "size"), ("order", None), ("cells", "yes"), ("masks", "sideways")]
)
def test_nonsense_in_the_address_is_named(name: str, raw: object) -> None:
    assert address.parse({name: raw})[1] == (name,)
    assert checked(name, raw)[1] is False


def test_what_a_component_sends_is_believed_when_it_fits() -> None:
    sent = {"layer": 0, "more": {"order": "entropy", "cells": "1", "else": "x"}}
    assert parse_options(sent) == {"order": "entropy", "cells": True}
    assert parse_options({"more": dict.fromkeys(DEFAULTS)}) == DEFAULTS
    assert parse_options({"more": {"top": "0", "across": "1", "beside": "L0.H2,L5.H11"}}) == {
        "top": 0,
        "across": True,
        "beside": "L0.H2,L5.H11",
    }
    assert parse_options({"more": {"masks": "window=3,causal"}}) == {"masks": "causal,window=3"}


@pytest.mark.parametrize("sent", [None, 3, {}, {"more": 3}, {"more": {"order": ["x"]}}])
def test_what_does_not_fit_changes_nothing(sent: object) -> None:
    assert parse_options(sent) == {}


@pytest.mark.parametrize("top", ["11", "-1", "1.5", "all", "\u0663", 3])
def test_lines_are_one_to_ten_or_all(top: object) -> None:
    assert checked("top", top) == (None, False)


@pytest.mark.parametrize("beside", ["L0", "L0.H2;L1.H1", "<b>", ",".join(["L0.H0"] * 4), None])
def test_heads_kept_are_three_names_at_most(beside: object) -> None:
    assert checked("beside", beside) == (None, False)
