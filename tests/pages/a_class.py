"""What the tests of a class read of its pages: its code, the session's seat, the card, the bars."""

import json
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from attnviz.app.session import widgets
from attnviz.app.session.view import Seat
from attnviz.pictures import class_card
from attnviz.pictures.shared.buffer import unpack
from attnviz.teach.lessons.cards.texts import lesson_texts
from tests.pages.conftest import beside_bar, parameters

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


def _canvas(app: AppTest) -> Any:
    (one,) = (
        each for each in beside_bar(app) if each.proto.component_name == class_card.CANVAS.element
    )
    return one.proto


def view(app: AppTest) -> dict[str, Any]:
    """What the canvas of a follower's page, or of the wall, was sent."""
    return unpack(_canvas(app).bytes)[0]


def card(app: AppTest) -> dict[str, Any]:
    """The card on that canvas."""
    shown: dict[str, Any] = view(app)["card"]
    return shown


def words(passages: list[dict[str, Any]]) -> str:
    """The words of a title or an option, or of paragraphs."""
    return "".join(part["text"] if "text" in part else words(part["spans"]) for part in passages)


def title(app: AppTest) -> str:
    return words(card(app)["title"])


def answer(app: AppTest, text: str, **other: object) -> AppTest:
    """Answer as the canvas does, or as a hostile page with an `other` lesson or card."""
    shown, states = card(app), as_reported(app)
    sent = {"lesson": shown["lesson"], "card": shown["card"], "text": text, **other}
    states.widgets.add(id=_canvas(app).id, json_value=json.dumps({"answer": sent}))
    app._run(states)
    assert not app.exception
    return app


def shares(app: AppTest) -> dict[str, int]:
    """The bars of a follower's card: how many gave each answer."""
    return {bar["label"]: bar["count"] for bar in card(app)["bars"]}


def bars(app: AppTest) -> list[str]:
    return [each.proto.text for each in app.get("progress")]


def option_bars(**counts: int) -> list[str]:
    """The bars of the card "order" with these counts."""
    names = ("nothing", "sums", "error")
    return [f"{said(name)}: {counts.get(name, 0)}" for name in names]


def said(option: str) -> str:
    """An option of the card "order" as a bar says it: bars read Markdown, the option is plain."""
    return EN.of("order", f"option.{option}").replace(":", r"\:")
