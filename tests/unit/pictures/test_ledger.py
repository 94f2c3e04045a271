"""The ledger: what travels, and that hostile texts stay texts."""

from attnviz.pictures import ledger
from attnviz.pictures.ledger import LedgerCell, LedgerRow, LedgerView
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from tests.support.hostile import SCRIPT

VIEW = LedgerView(
    caption="Guesses",
    corner="token",
    columns=("weight", "effect"),
    rows=(
        LedgerRow(
            "Mary", (LedgerCell("0.81", 0.81), LedgerCell("-4.2", -1.0, "cut", opens="L0.H1"))
        ),
        LedgerRow(SCRIPT, (LedgerCell(SCRIPT, 0.5), LedgerCell("0", 0.0)), mark="idle"),
    ),
    note="exact",
    chosen="L0.H1",
)


def test_pack_ledger_keeps_every_text() -> None:
    found, arrays = unpack(packed(ledger.CANVAS, VIEW, "en"))
    assert not arrays
    assert found["rows"][1]["label"] == SCRIPT
    assert found["rows"][0]["cells"][1] == {
        "text": "-4.2",
        "share": -1.0,
        "note": "cut",
        "number": "",
        "opens": "L0.H1",
    }
