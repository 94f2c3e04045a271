"""The seat of this session in a class: found, taken back after a reload, or refused.

In: the view's class, and what the browser's tab has kept. Out: the key or the seat in the view, and
never in an address.
"""

from dataclasses import replace

from attnviz.app.page_parts.classroom import reach
from attnviz.app.server import visitors
from attnviz.app.server.class_socket import rooms
from attnviz.app.session import current, store
from attnviz.app.session.view import Seat
from attnviz.errors import BadInput
from attnviz.pictures.class_messages import parse_kept

REFUSED = "class.refused"  # the last unknown code of this session


def enter() -> bool:
    """True if this session leads the class of the view; refuses a code that no room has.

    Wrong codes are counted for this session and for the server; who has a seat or the key in that
    room is not held up by the wrong codes of others.
    """
    seat = current.view().classroom
    if not seat.host and not seat.seat:
        _knock(seat.room)
    return reach.tried(lambda: rooms().is_presenter(seat.room, seat.host), bool(seat.host))


def _knock(code: str) -> None:
    """Refuse a code that no room has, each code once: a page that runs again tries no other one."""
    before: tuple[str, BadInput] | None = store.get(REFUSED)
    if before is not None and before[0] == code:
        raise before[1].again()
    try:
        rooms().knock(code, store.visitor(), visitors.address())
    except BadInput as error:
        store.put(REFUSED, (code, error.again()) if error.code == "room_unknown" else None)
        raise


def sit(seat: Seat) -> None:
    """Take this place in a class."""
    current.update(replace(current.view(), classroom=seat))


def take_kept(sent: object) -> None:
    """Take back the seat or the key that the tab kept, if the room knows it."""
    seat = current.view().classroom
    kept = parse_kept(sent, seat.room)
    if kept is None or seat.host or seat.wall:
        return
    heed, value = kept
    if heed == "changes" and rooms().is_presenter(seat.room, value):
        rooms().take_back(seat.room, value, seat.seat)
        sit(replace(seat, host=value, seat=""))
    elif heed == "stage" and rooms().is_member(seat.room, value):
        rooms().take_back(seat.room, value, seat.seat)
        sit(replace(seat, seat=value))
