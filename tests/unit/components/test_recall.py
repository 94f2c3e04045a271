"""The wrapper of recall: what travels, and what of the browser's answer is believed."""

import json

import pytest

from attnviz.components import bundle, recall
from attnviz.components.recall import Left, RecallView


def test_demo_json_is_the_header_that_travels() -> None:
    data = recall.pack_recall(RecallView("head", "layer=3&head=1"))
    demo = json.loads((bundle.FOLDER / "recall" / "demo.json").read_text(encoding="utf-8"))
    assert json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) == demo


def test_parse_takes_a_page_and_a_query() -> None:
    assert recall.parse({"page": "steps", "query": "layer=3"}) == Left("steps", "layer=3")


@pytest.mark.parametrize(
    "sent",
    [None, "steps", {"page": "/etc", "query": ""}, {"page": "head"}, {"page": "head", "query": 3}],
)
def test_parse_refuses_nonsense(sent: object) -> None:
    assert recall.parse(sent) is None
