"""`page.draw_a_pattern`: heads ranked for a pattern of the palette, with chance beside each."""

import attnviz
from attnviz import i18n
from attnviz.app.page_parts import head_search
from attnviz.app.session import widgets
from attnviz.pictures.group.groups import groups
from attnviz.pictures.group.ranking import palette, shares
from tests.pages.conftest import Visit, parameters

TEXT = "The cat sat on the mat."
KEY = widgets.key


def test_a_pattern_of_the_palette_ranks_all_heads_and_opens_one(visit: Visit) -> None:
    app = visit("overview", text=TEXT)
    app.toggle(KEY("drawn")).set_value(True).run()
    box = app.selectbox(KEY("drawn.palette.en"))
    assert i18n.text("en", "measure.previous") in box.options
    assert box.value == "previous"  # what is painted at first has a name
    box.set_value("next").run()
    group = groups(attnviz.capture("minilm", TEXT))[0]
    expected = shares(group, palette(group)["next"])[: head_search.N_SHOWN]
    labels = [button.label for button in app.main.button if button.label.startswith("**L")]
    assert [label.split("**")[1] for label in labels] == [str(share.head) for share in expected]
    assert labels[0].split()[1] == f"{expected[0].share:.3f}"
    app.button(KEY(f"drawn.{expected[1].head}")).click().run()
    assert app.title[0].value == i18n.text("en", "page.head.title")
    place = parameters(app)
    opened = (place.get("layer", "0"), place.get("head", "0"))
    assert opened == (str(expected[1].head.layer), str(expected[1].head.head))
