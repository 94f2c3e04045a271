"""The wrapper of the camera: what travels."""

import json

from attnviz.components import bundle, camera
from attnviz.views.texts import strings


def test_demo_json_is_the_header_that_travels() -> None:
    origin = ["MiniLM · L5.H11 · The animal was too tired"]
    data = camera.pack_camera(strings("en", camera.STRING_KEYS), origin)
    demo = json.loads((bundle.FOLDER / "camera" / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) == demo
