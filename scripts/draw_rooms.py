"""Draw the rooms of the package and their arrows: `python -m scripts.draw_rooms [--check]`.

In: the layers that the linter holds (pyproject.toml) and every import in attnviz/, read and not
run. Out: docs/images/rooms.svg, a row for each layer, an arrow from a room to a room that it
imports. An arrow that a longer path implies is left out. A contract test keeps the picture current.
"""

import ast
import html
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "attnviz"
TARGET = ROOT / "docs" / "images" / "rooms.svg"
CONTRACT = "one direction"
# rooms that nearly every other imports: their arrows would hide the rest
COMMON = ("types", "errors", "lazy", "summary", "i18n")
WIDTH, ROW, MARGIN = 960, 62, 20  # pixels
BOX_HEIGHT, LETTER, PADDING = 30, 7.4, 22

Arrows = dict[str, set[str]]
Box = tuple[float, float, float]  # centre, top, width


def layers() -> list[list[str]]:
    """The rooms of each layer, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (rows,) = (contract["layers"] for contract in contracts if contract["name"] == CONTRACT)
    return [
        [room.strip() for room in row.split("|") if "__" not in room]
        for row in rows
        if "__" not in row
    ]


def arrows(rooms: set[str]) -> Arrows:
    """The rooms that each room imports, at run time or for types."""
    found: Arrows = {room: set() for room in rooms}
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room in rooms:
            found[room] |= {name for name in _imported(path) if name in rooms and name != room}
    return found


@cache
def _imported(path: Path) -> frozenset[str]:
    """The rooms that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, _, rest = name.partition(".")
            if package == "attnviz" and rest:
                found.add(rest.split(".")[0])
    return frozenset(found)


def needed(imports: Arrows) -> Arrows:
    """The arrows that no longer path implies, those to common rooms left out."""
    return {
        room: {
            target
            for target in targets
            if target not in COMMON
            and not any(target in _reached(other, imports) for other in targets - {target})
        }
        for room, targets in imports.items()
    }


def _reached(room: str, imports: Arrows) -> set[str]:
    """Every room that can be reached from a room."""
    seen: set[str] = set()
    waiting = [room]
    while waiting:
        for target in imports[waiting.pop()] - seen:
            seen.add(target)
            waiting.append(target)
    return seen


def document() -> str:
    """The picture as SVG."""
    rows = layers()
    rooms = {room for row in rows for room in row}
    boxes = _boxes(rows)
    lines = [
        _arrow(boxes[room], boxes[target])
        for room, targets in sorted(needed(arrows(rooms)).items())
        for target in sorted(targets)
    ]
    height = 2 * MARGIN + ROW * len(rows)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        f' height="{height}" font-family="sans-serif" font-size="13" role="img"'
        ' aria-label="The rooms of attnviz; each imports only rooms below it">'
    )
    background = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    tip = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
        ' markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#7a8699"/></marker>'
        "</defs>"
    )
    drawn = [_box(room, boxes[room]) for row in rows for room in row]
    return "\n".join([head, background, tip, *lines, *drawn, "</svg>"]) + "\n"


def _boxes(rows: list[list[str]]) -> dict[str, Box]:
    """The place of each room."""
    boxes = {}
    for number, row in enumerate(rows):
        widths = [len(room) * LETTER + PADDING for room in row]
        gap = (WIDTH - 2 * MARGIN - sum(widths)) / (len(row) + 1)
        left = MARGIN + gap
        for room, width in zip(row, widths, strict=True):
            boxes[room] = (left + width / 2, MARGIN + number * ROW, width)
            left += width + gap
    return boxes


def _arrow(start: Box, end: Box) -> str:
    x, y = start[0], start[1] + BOX_HEIGHT
    to_x, to_y = end[0], end[1] - 2
    bend = (to_y - y) * 0.45
    return (
        f'<path d="M{x:.0f} {y:.0f} C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f}'
        f' {to_x:.0f} {to_y:.0f}" fill="none" stroke="#7a8699" stroke-opacity="0.65"'
        ' marker-end="url(#tip)"/>'
    )


def _box(room: str, box: Box) -> str:
    centre, top, width = box
    fill = "#eef1f6" if room in COMMON else "#dfe9fb"
    return (
        f'<rect x="{centre - width / 2:.1f}" y="{top}" width="{width:.1f}" height="{BOX_HEIGHT}"'
        f' rx="6" fill="{fill}" stroke="#4a6fb5"/>'
        f'<text x="{centre:.1f}" y="{top + 20}" text-anchor="middle" fill="#16233b">'
        f"{html.escape(room)}</text>"
    )


def main(arguments: list[str]) -> int:
    """Write the picture; with --check, return 1 if it is not current."""
    text = document()
    if "--check" in arguments:
        return int(not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
