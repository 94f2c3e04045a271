"""`components.pages`: the rows name every page once, in groups; what the app derives from them."""

import re
from itertools import groupby
from typing import get_args
from urllib.parse import unquote
from xml.etree import ElementTree

from attnviz.app.session import routes, widgets
from attnviz.pictures.shared.pages import PAGES, ROWS, Group, Page
from tests.contracts import project


def test_the_rows_name_every_page_once() -> None:
    assert sorted(PAGES) == sorted(get_args(Page)) and len(set(PAGES)) == len(PAGES)
    assert {path.stem for path in project.python_files(project.PAGES)} == set(PAGES)


def test_the_pages_of_a_group_stand_together_in_the_order_of_the_navigation() -> None:
    assert [group for group, _ in groupby(ROWS, key=lambda row: row.group)] == [*get_args(Group)]
    assert [page for pages in routes.GROUPS.values() for page in pages] == [*PAGES]
    assert routes.WITHOUT_MODEL == ("start", "learn", "calculator")


def test_an_icon_is_an_svg_with_one_path() -> None:
    for row in ROWS:
        (svg,) = re.findall(r'url\("data:image/svg\+xml,(.*)"\)', row.image)
        (path,) = ElementTree.fromstring(unquote(svg))
        assert path.tag.endswith("}path") and path.get("d") == row.icon
        assert (path.get("fill-rule") == "evenodd") == row.has_holes
    assert len({row.icon for row in ROWS}) == len(ROWS)


def test_a_widget_has_the_class_that_the_style_sheet_names() -> None:
    name = widgets.class_name("page.head")
    assert name == "st-key-attnviz-widget-page-head"
    sheet = project.read(project.UI / "style.css")
    assert name.removesuffix("head") in sheet  # the rule that draws the icons
