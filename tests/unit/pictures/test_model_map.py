"""The map of the model: its parts, and what of the browser's answer is believed."""

import pytest

from attnviz import i18n
from attnviz.i18n import LANGUAGES, Language
from attnviz.pictures import model_map
from attnviz.pictures.model_map import PARTS, ModelMapView
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed


def test_parse_takes_parts_alone() -> None:
    assert model_map.parse("mlp") == "mlp"
    assert [model_map.parse(sent) for sent in ("none", "", None, 3, ["mlp"])] == [None] * 5


@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_part_of_the_map_has_a_text(lang: Language) -> None:
    assert {*PARTS, "label", "off"} <= i18n.section(lang, "component.model_map").keys()


def test_packed_map_says_what_is_lit_and_off() -> None:
    view = ModelMapView(("mlp",), ("attention",), 4, {"mlp": "The MLP"})
    header, _ = unpack(packed(model_map.CANVAS, view, "en"))
    assert (header["lit"], header["off"], header["layers"]) == (["mlp"], ["attention"], 4)
    assert header["titles"] == {"mlp": "The MLP"}
    assert header["missing"] == []
