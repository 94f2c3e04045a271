"""What the tests of a class read of its pages: its code, the session's seat, the bars."""

from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from attnviz.app.session import widgets
from attnviz.app.session.view import Seat
from attnviz.teach.lessons.cards.texts import lesson_texts
from tests.pages.conftest import parameters

KEY = widgets.key
EN, JA = lesson_texts("block", "en"), lesson_texts("block", "ja")


def code(app: AppTest) -> str:
    return parameters(app)["room"]


def place(app: AppTest) -> Seat:
    """The session's place in its class."""
    seat: Seat = app.session_state["attnviz.view"].classroom
    return seat


def press(app: AppTest, name: str) -> None:
    app.button(key=KEY(name)).click().run()
    assert not app.exception and not app.error


def turn(app: AppTest, card: str) -> None:
    """Go to a card by the pills."""
    pills(app).set_value(card).run()
    assert not app.exception and not app.error


def pills(app: AppTest) -> ButtonGroup[Any]:
    """The pills of the lesson's cards."""
    return next(each for each in app.pills if str(each.key).startswith(KEY("learn.way.")))


def as_reported(app: AppTest) -> WidgetStates:
    """What a browser with this page says of its widgets; buttons only if they were pressed."""
    states = app._tree.get_widget_states()
    is_said = [
        state.WhichOneof("value") != "trigger_value" or state.trigger_value
        for state in states.widgets
    ]
    return WidgetStates(
        widgets=[state for state, said in zip(states.widgets, is_said, strict=True) if said]
    )


def bars(app: AppTest) -> list[str]:
    return [each.proto.text for each in app.get("progress")]


def option_bars(**counts: int) -> list[str]:
    """The bars of the card "order" with these counts."""
    names = ("nothing", "sums", "error")
    return [f"{said(name)}: {counts.get(name, 0)}" for name in names]


def said(option: str) -> str:
    """An option of the card "order" as a bar says it: bars read Markdown, the option is plain."""
    return EN.of("order", f"option.{option}").replace(":", r"\:")
