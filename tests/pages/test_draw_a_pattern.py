"""`page.draw_a_pattern`: heads ranked for a pattern of the palette, with chance beside each."""

import numpy as np

import attnviz
from attnviz import i18n
from attnviz.app.page_parts import head_search
from attnviz.app.session import widgets
from attnviz.pictures import mask_painter
from attnviz.pictures.group.groups import groups, queries
from attnviz.pictures.group.ranking import palette, shares
from tests.pages.conftest import Visit, heads_found, parameters

TEXT = "The cat sat on the mat."
KEY = widgets.key


def test_a_pattern_of_the_palette_ranks_all_heads(visit: Visit) -> None:
    app = visit("overview", text=TEXT)
    app.toggle(KEY("drawn")).set_value(True).run()
    box = app.selectbox(KEY("drawn.palette.en"))
    assert i18n.text("en", "measure.previous") in box.options
    assert box.value == "previous"  # what is painted at first has a name
    box.set_value("next").run()
    group = groups(attnviz.capture("minilm", TEXT))[0]
    expected = shares(group, palette(group)["next"])[: head_search.N_SHOWN]
    labels = [one["words"] for one in heads_found(app)]
    assert [label.split(":")[0] for label in labels] == [str(share.head) for share in expected]
    assert labels[0].split()[1] == f"{expected[0].share:.3f}"
    assert parameters(app)["drawn"] == "next"


def test_painted_cells_are_in_the_link(visit: Visit) -> None:
    group = groups(attnviz.capture("minilm", TEXT))[0]
    cells = np.zeros((len(queries(group)), len(queries(group))), np.bool_)
    cells[3, 1] = cells[4, 4] = True
    app = visit("overview", text=TEXT, drawn=mask_painter.write(cells))
    expected = shares(group, cells)[: head_search.N_SHOWN]
    above = [str(share.head) for share in expected if share.difference > 0]
    assert [one["words"].split(":")[0] for one in heads_found(app)] == above


def test_cells_of_another_length_leave_the_first_pattern(visit: Visit) -> None:
    app = visit("overview", text=TEXT, drawn=mask_painter.write(np.ones((3, 3), np.bool_)))
    assert app.selectbox(KEY("drawn.palette.en")).value == "previous"
