"""`pictures.shared.pages`: the rows name every page once, in rooms; what the app derives."""

from itertools import groupby
from typing import get_args

from attnviz.app.session import routes, widgets
from attnviz.pictures.shared.pages import PAGES, ROWS, Page, Room
from tests.contracts import project


def test_the_rows_name_every_page_once() -> None:
    assert sorted(PAGES) == sorted(get_args(Page)) and len(set(PAGES)) == len(PAGES)
    assert {path.stem for path in project.python_files(project.PAGES)} == set(PAGES)


def test_the_faces_of_a_room_stand_together_in_the_order_of_the_navigation() -> None:
    assert [room for room, _ in groupby(ROWS, key=lambda row: row.room)] == [*get_args(Room)]
    assert [page for pages in routes.ROOMS.values() for page in pages] == [*PAGES]
    assert routes.WITHOUT_MODEL == ("start", "learn", "calculator")


def test_the_room_of_a_page_has_it_as_a_face() -> None:
    assert routes.room("masks") == "compute" and routes.room("start") == "start"
    assert (routes.page("masks"), routes.door("steps", "masks")) == ("steps", "masks")
    assert (routes.page("head"), routes.door("steps", "")) == ("overview", "steps")
    assert all(page in routes.ROOMS[routes.room(page)] for page in PAGES)


def test_a_widget_has_the_class_that_the_style_sheet_names() -> None:
    name = widgets.class_name("current.head")
    assert name == "st-key-attnviz-widget-current-head"
    assert name.removesuffix("head") in project.read(project.UI / "bar" / "bar.css")
