"""`fill` of shared/fmt.js fills texts as `i18n.fill` does: placeholders, plurals, particles."""

import pytest

from attnviz import i18n
from tests.support.cases import mostly_slow
from tests.support.node import in_node, needs_node

NODES = """async ([template, word]) => {
    const { fillNodes } = await load("shared/dom.js");
    const parts = fillNodes(template, { word: { textContent: word } });
    return parts.map((part) => part.textContent ?? part);
}"""
FILL = """async ([templates, values]) => {
    const { fill } = await load("shared/fmt.js");
    return values.map((each) => templates.map((template) => fill(template, each)));
}"""
NUMBERS = (0, 1, 2, 11, "1", "1,000")


@pytest.mark.some(1)
@needs_node
@pytest.mark.parametrize("lang", mostly_slow(i18n.LANGUAGES, ("en", "ja", "ko")))
def test_fill_fills_every_text_as_python_does(lang: i18n.Language) -> None:
    """In a language with plurals, one with signs that close up, one with particles; then all."""
    catalogue = i18n.catalogue(lang).items()
    templates = [template for key, template in catalogue if key.startswith("component.")]
    assert any("{" in template for template in templates)
    names = {name for template in templates for name in i18n.placeholders(template)}
    filled = [dict.fromkeys(names, number) for number in NUMBERS]
    assert in_node(FILL, [templates, filled]) == [
        [i18n.fill(each, dict.fromkeys(i18n.placeholders(each), number)) for each in templates]
        for number in NUMBERS
    ]


@needs_node
def test_fill_chooses_particles_by_the_value_as_python_does() -> None:
    template = "{n}은(는) “{n}”을(를) {n}(으)로, {n}(이)라 {n}과(와)"
    values = ("L2.H1", "7", 9, "말", "고양이", "animal", "it", "%", ".", "{n}이(가)")
    assert in_node(FILL, [[template], [{"n": value} for value in values]]) == [
        [i18n.fill(template, {"n": value})] for value in values
    ]
    assert in_node(NODES, ["“{word}”을(를) 보는 단어", "cat"]) == ["“", "cat", "”을 보는 단어"]


@needs_node
def test_fill_closes_up_signs_of_one_script_as_python_does() -> None:
    templates = ["答えは {n} 動きます", "{n} の行", "在 {n} 中，{n}", "the {n} of {n}"]
    values = ("5 ポイント", "確率の 0.5", "0.5", "L2.H1", "「猫」", "猫 cat", "")
    filled = in_node(FILL, [templates, [{"n": value} for value in values]])
    assert filled == [[i18n.fill(each, {"n": value}) for each in templates] for value in values]
    assert filled[0][0] == "答えは 5 ポイント動きます"
    assert filled[1][0] == "答えは確率の 0.5 動きます"
    assert in_node(NODES, ["{word} の行", "「猫」"]) == ["「猫」", "の行"]


@needs_node
def test_fill_fills_no_placeholder_of_a_value() -> None:
    template, hostile = "{token}: {n} {n:one|many}", {"token": "{n:one|many}", "n": 1}
    assert in_node(FILL, [[template], [hostile]]) == [[i18n.fill(template, hostile)]]
