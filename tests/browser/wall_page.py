"""An app for the tests alone: any card of the course as the wall shows it.

`?card=slug/name&revealed=1` says which. A class is opened for it in this process.
"""

import streamlit as st

from attnviz.app.host.draw import draw
from attnviz.app.page_parts.classroom import staged_card
from attnviz.app.server.class_socket import FOLDER, rooms
from attnviz.pictures import class_card
from attnviz.pictures.class_card import ClassCardView
from attnviz.teach.classroom.rooms import NewRoom
from attnviz.teach.classroom.stage import Stage
from attnviz.types import ignore


@st.cache_resource
def the_class() -> NewRoom:
    return rooms().create(Stage("where", "next"))


def main() -> None:
    slug, _, name = st.query_params.get("card", "where/next").partition("/")
    room, revealed = the_class(), "revealed" in st.query_params
    shown = Stage(slug, name, shown=revealed, revealed=revealed, count=12)
    rooms().show(room.code, room.key, shown)
    card = staged_card.staged(room.code, "en", rooms().stage(room.code)).card
    qr = ("10" * 12, "01" * 12) * 12
    link = "http://192.168.1.20:8501/learn?room=K7Q-M2X"
    view = ClassCardView(FOLDER, room.code, "", "wall", "en", card, present=30, link=link, qr=qr)
    draw(class_card.CANVAS, view, "wall", "en", {"heard": ignore, "kept": ignore})


main()
