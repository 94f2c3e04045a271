"""The table: what travels, and that hostile texts stay texts."""

from attnviz.pictures import table
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.pictures.table import TableCell, TableRow, TableView
from tests.support.hostile import SCRIPT

VIEW = TableView(
    caption="Guesses",
    corner="token",
    columns=("weight", "effect"),
    rows=(
        TableRow("Mary", (TableCell("0.81", 0.81), TableCell("-4.2", -1.0, "cut", opens="L0.H1"))),
        TableRow(SCRIPT, (TableCell(SCRIPT, 0.5), TableCell("0", 0.0)), mark="idle"),
    ),
    note="exact",
    chosen="L0.H1",
)


def test_pack_table_keeps_every_text() -> None:
    found, arrays = unpack(packed(table.CANVAS, VIEW, "en"))
    assert not arrays
    assert found["rows"][1]["label"] == SCRIPT
    assert found["rows"][0]["cells"][1] == {
        "text": "-4.2",
        "share": -1.0,
        "note": "cut",
        "number": "",
        "opens": "L0.H1",
    }
