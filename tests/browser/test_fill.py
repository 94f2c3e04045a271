"""The browser fills texts as `i18n.fill` does: placeholders, plurals, values that resemble them."""

from playwright.sync_api import Browser

from attnviz import i18n
from tests.support.canvas import module_page

FILL = """async ([templates, values]) => {
    const { fill } = await import("/shared/fmt.js");
    return templates.map((template) => fill(template, values));
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
        hostile = {"token": "{n:one|many}", "n": 1}
        assert page.evaluate(FILL, [["{token}: {n} {n:one|many}"], hostile]) == [
            i18n.fill("{token}: {n} {n:one|many}", hostile)
        ]
