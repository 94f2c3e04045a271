"""docs/images/rooms.svg is drawn from the imports: current, and only what they say."""

import re

from scripts import draw_rooms
from tests.contracts import project


def test_the_picture_of_the_rooms_is_current() -> None:
    assert draw_rooms.main(["--check"]) == 0, "run `python -m scripts.draw_rooms`"


def test_arrows_that_a_longer_path_implies_are_left_out() -> None:
    imports = {
        "app": {"pictures", "masks"},
        "pictures": {"masks", "types"},
        "masks": set(),
        "types": set(),
    }
    assert draw_rooms.needed(imports) == {
        "app": {"pictures"},
        "pictures": {"masks"},
        "masks": set(),
        "types": set(),
    }


def test_every_arrow_points_down() -> None:
    rows = draw_rooms.layers()
    floor = {room: number for number, row in enumerate(rows) for room in row}
    imports = draw_rooms.arrows(set(floor))
    assert imports["app"] and imports["capture"]
    upwards = [(a, b) for a, targets in imports.items() for b in targets if floor[a] >= floor[b]]
    assert not upwards


def test_the_map_lists_rooms_in_the_order_that_the_linter_holds() -> None:
    rows = draw_rooms.layers()
    floor = {room: number for number, row in enumerate(rows) for room in row}
    lines = re.findall(
        r"^\| `attnviz/([a-z0-9]+)", project.docs()["docs/map.md"], flags=re.MULTILINE
    )
    assert len(lines) > 20
    assert [floor[room] for room in lines] == sorted(floor[room] for room in lines)
