"""The ledger: what travels, and that hostile texts stay texts."""

import json

from streamlit.testing.v1 import AppTest

from attnviz.components import bundle, ledger
from attnviz.components.buffer import unpack
from attnviz.components.ledger import LedgerCell, LedgerRow, LedgerView, pack_ledger
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


def header() -> dict[str, object]:
    data = pack_ledger(VIEW)
    found: dict[str, object] = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    return found


def test_demo_json_is_the_header_that_travels() -> None:
    path = bundle.FOLDER / "ledger" / "demo.json"
    assert header() == json.loads(path.read_text(encoding="utf-8"))


def test_pack_ledger_keeps_every_text() -> None:
    found, arrays = unpack(pack_ledger(VIEW))
    assert not arrays
    assert found["rows"][1]["label"] == SCRIPT
    assert found["rows"][0]["cells"][1] == {
        "text": "-4.2",
        "share": -1.0,
        "note": "cut",
        "number": "",
        "opens": "L0.H1",
    }


def app() -> None:
    from attnviz.ui.host.components import show_ledger

    show_ledger(b"\0\0\0\0", "ledger")


def test_the_component_mounts_with_its_bytes() -> None:
    ran = AppTest.from_function(app).run(timeout=120)
    assert not ran.exception
    (mounted,) = ran.get("bidi_component")
    assert mounted.proto.component_name == ledger.NAME
