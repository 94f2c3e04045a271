"""The wrapper of the switch between light and dark: what travels."""

import json

from attnviz.components import bundle, scheme
from attnviz.views.texts import strings


def test_demo_json_is_the_header_that_travels() -> None:
    data = scheme.pack_scheme(strings("en", scheme.STRING_KEYS))
    demo = json.loads((bundle.FOLDER / "scheme" / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) == demo
