"""The browser fills texts as `i18n.fill` does: placeholders, plurals, values that resemble them."""

from playwright.sync_api import Browser

from attnviz import i18n
from tests.support.canvas import module_page

FILL = """async ([templates, values]) => {
    const { fill } = await import("/shared/fmt.js");
    return templates.map((template) => fill(template, values));
}"""
NODES = """async ([template, word]) => {
    const { el, fillNodes } = await import("/shared/dom.js");
    return el("p", {}, ...fillNodes(template, { word: el("b", {}, word) })).textContent;
}"""
NUMBERS = (0, 1, 2, 11, "1", "1,000")


def test_the_browser_fills_every_text_as_python_does(browser: Browser) -> None:
    templates = [
        template
        for lang in i18n.LANGUAGES
        for key, template in i18n.catalogue(lang).items()
        if key.startswith("component.")
    ]
    assert any("|" in template for template in templates)
    names = {name for template in templates for name in i18n.placeholders(template)}
    with module_page(browser) as page:
        for number in NUMBERS:
            values = dict.fromkeys(names, number)
            assert page.evaluate(FILL, [templates, values]) == [
                i18n.fill(template, values) for template in templates
            ]
        particles = ["{n}은(는) “{n}”을(를) {n}(으)로, {n}(이)라 {n}과(와)"]
        for value in ("L2.H1", "7", 9, "말", "고양이", "animal", "it", "%", ".", "{n}이(가)"):
            assert page.evaluate(FILL, [particles[:1], {"n": value}]) == [
                i18n.fill(particles[0], {"n": value})
            ]
        hostile = {"token": "{n:one|many}", "n": 1}
        assert page.evaluate(FILL, [["{token}: {n} {n:one|many}"], hostile]) == [
            i18n.fill("{token}: {n} {n:one|many}", hostile)
        ]
        assert page.evaluate(NODES, ["“{word}”을(를) 보는 단어", "cat"]) == "“cat”을 보는 단어"
