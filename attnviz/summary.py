"""Short descriptions of objects: one line for a terminal, a small card for a notebook (a leaf).

In: plain strings, which may come from a text or a model and are not trusted. Out: one line without
line breaks, or HTML whose every string is escaped, without scripts and without anything to load.
"""

import html
from collections.abc import Mapping, Sequence

MAX_CHARS = 60
MAX_SHOWN = 160  # of a text below a picture
MAX_ROWS = 12
CELL = 'style="text-align:left;padding:0.1em 0.8em 0.1em 0"'


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "layer"), counted(6, "layer")
    ('1 layer', '6 layers')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shortened(text: str, most: int = MAX_CHARS) -> str:
    """The text on one line, its end replaced by an ellipsis if it is longer than `most` characters.

    Characters that cannot be printed, or that change the direction of the text, become U+FFFD.

    >>> shortened("a long text", most=6)
    'a lon…'
    """
    line = " ".join(text[: most + 1].split())
    line = "".join(char if char.isprintable() else "\ufffd" for char in line)
    return line if len(line) <= most and len(text) <= most + 1 else line[: most - 1] + "…"


def size(nbytes: int) -> str:
    """A number of bytes in the largest unit that gives at least 1.

    >>> size(512), size(3_500_000)
    ('512 B', '3.3 MiB')
    """
    units = ("B", "KiB", "MiB", "GiB")
    power = min(max(nbytes.bit_length() - 1, 0) // 10, len(units) - 1)
    return f"{nbytes / 1024**power:.{1 if power else 0}f} {units[power]}"


def text_table(columns: Mapping[str, Sequence[str]], most: int = MAX_ROWS) -> str:
    """Columns of one length under their names, aligned on the right, at most `most` rows of them.

    >>> print(text_table({"head": ["L0.H0", "L0.H1"], "peak": ["0.5", "12"]}))
     head  peak
    L0.H0   0.5
    L0.H1    12
    """
    n_rows = max((len(cells) for cells in columns.values()), default=0)
    shown = {name: [shortened(cell) for cell in cells[:most]] for name, cells in columns.items()}
    aligned = []
    for name, cells in shown.items():
        width = max(map(len, (name, *cells)))
        aligned.append([text.rjust(width) for text in (name, *cells)])
    lines = ["  ".join(row) for row in zip(*aligned, strict=True)]
    rest = [f"… {counted(n_rows - most, 'more row')}"] if n_rows > most else []
    return "\n".join([*lines, *rest])


def html_card(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A title and a table as HTML, at most `MAX_ROWS` rows of it; every string is escaped."""
    lines = [_row("th", header)] if header else []
    lines += [_row("td", row) for row in rows[:MAX_ROWS]]
    left_out = len(rows) - MAX_ROWS
    rest = f"<p>… and {counted(left_out, 'more row')}</p>" if left_out > 0 else ""
    return (
        f"<div><strong>{html.escape(shortened(title, 200))}</strong>"
        f"<table>{''.join(lines)}</table>{rest}</div>"
    )


def _row(tag: str, cells: Sequence[str]) -> str:
    escaped = (html.escape(shortened(cell, 200)) for cell in cells)
    return f"<tr>{''.join(f'<{tag} {CELL}>{cell}</{tag}>' for cell in escaped)}</tr>"


def described(record: object, *names: str) -> str:
    """One line for a dataclass: the named fields, or all; arrays and tensors by their shape only.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Line:
    ...     label: str
    ...     x: object = None
    >>> described(Line("a"))
    "Line(label='a')"
    """
    from dataclasses import fields as fields_of  # the command line starts without it

    fields = names or tuple(field.name for field in fields_of(record))  # type: ignore[arg-type]
    values = {name: getattr(record, name) for name in fields}
    parts = [f"{name}={_value(value)}" for name, value in values.items() if value is not None]
    return f"{type(record).__name__}({', '.join(parts)})"


def _value(value: object) -> str:
    shape = getattr(value, "shape", None)
    if shape is not None and not isinstance(value, float | int):
        return f"[{' × '.join(map(str, shape))}]"
    if isinstance(value, Mapping | tuple | list) and len(repr(value)) > MAX_CHARS:
        return f"{len(value)} entries"
    return shortened(repr(value))
