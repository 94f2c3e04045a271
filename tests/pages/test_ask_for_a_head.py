"""`page.ask_for_a_head`: all heads ranked for a query and a key, with the control beside each."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.app.page_parts import head_search
from attnviz.app.session import widgets
from attnviz.app.session.view import default_view
from attnviz.pictures.group.groups import groups
from attnviz.pictures.group.ranking import links
from tests.pages.conftest import Visit, found_view, heads_found, parameters

KEY = widgets.key
CELL = {"query": "10", "key": "2"}  # "it" and "animal" of the first example


def asked(visit: Visit, page: str, **view: str) -> AppTest:
    """A page with the switch on."""
    app = visit(page, **view)
    app.toggle(KEY("links")).set_value(True).run()
    assert not app.error and not app.exception
    return app


def ranked(app: AppTest) -> list[str]:
    """The heads that are shown as small pictures, each with what is said of it, in their order."""
    return [one["words"] for one in heads_found(app)]


@pytest.mark.parametrize("page", ["overview", "head"])
def test_the_clearest_heads_are_named_with_their_control(visit: Visit, page: str) -> None:
    labels = ranked(asked(visit, page, **CELL))
    group = groups(attnviz.capture("minilm", default_view().input.text))[0]
    expected = links(group, 10, 2)[: head_search.N_SHOWN]
    assert [label.split(":")[0] for label in labels] == [str(link.head) for link in expected]
    assert labels[0].startswith("L3.H1: weight 0.677;") and "0.112 on average" in labels[0]


@pytest.mark.parametrize("page", ["overview", "head"])
def test_the_pictures_are_of_the_heads_and_grow_where_the_grid_is(visit: Visit, page: str) -> None:
    header, arrays = found_view(asked(visit, page, **CELL))
    assert (header["query"], header["key"], header["grows"]) == (10, 2, True)
    group = groups(attnviz.capture("minilm", default_view().input.text))[0]
    first, codes = header["heads"][0], arrays["weights"][0, 0]
    weights = group.call(first["layer"]).weights(batch=0)[first["head"]].numpy()
    assert np.abs((codes / 255.0) ** 2 - weights).max() < 0.005  # a rounded root in 8 bits


def test_only_heads_above_their_control_are_offered_and_the_shown_one_has_its_place(
    visit: Visit,
) -> None:
    text, cell = "The cat sat on the mat .", {"query": "3", "key": "2"}
    app = asked(visit, "overview", model="stories", text=text, layer="0", head="0", **cell)
    ranked_links = links(groups(attnviz.capture("stories", text))[0], 3, 2)
    above = [str(link.head) for link in ranked_links if link.difference > 0]
    assert 0 < len(above) < len(ranked_links)
    assert [label.split(":")[0] for label in ranked(app)] == above[: head_search.N_SHOWN]
    captions = " ".join(caption.value for caption in app.caption)
    count = len(ranked_links)
    assert i18n.text("en", "links.above", above=len(above), count=count) in captions
    place = [str(link.head) for link in ranked_links].index("L0.H0") + 1
    assert f"place {place} of {count}" in captions


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_cell_is_asked_for_where_none_is_chosen(visit: Visit, lang: i18n.Language) -> None:
    app = asked(visit, "head", lang=lang, layer="0")
    assert i18n.text(lang, "links.choose") in [caption.value for caption in app.caption]
    assert not ranked(app)


def test_another_key_is_asked_for_and_chosen_in_the_picture(visit: Visit) -> None:
    app = asked(visit, "head", **CELL)
    app.selectbox(KEY("links.key.en")).set_value(8).run()
    assert parameters(app)["key"] == "8"
    assert ranked(app)[0].startswith("L5.H5:")


def test_a_blocked_cell_has_nothing_to_rank(visit: Visit) -> None:
    app = asked(visit, "head", model="stories", layer="0", query="2", key="4")
    assert i18n.text("en", "links.none") in [caption.value for caption in app.caption]
    rows = app.selectbox(KEY("links.query.en")).options
    assert not any("U+" in row for row in rows)
    assert " ⇢ " in rows[2]  # a row of a decoder, and the token after it


def test_what_is_asked_for_is_in_the_link(visit: Visit) -> None:
    app = asked(visit, "overview", **CELL)
    again = visit("overview", **parameters(app))
    assert parameters(app)["links"] == "1" and ranked(again) == ranked(app)
