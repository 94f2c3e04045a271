"""Texts that try to become something else than text, and how to tell that none of them did."""

from playwright.sync_api import Page

SCRIPT = "</script><img src=x onerror=window.__pwned=1>"
MARKUP = "**bold** `code` $x^2$ :red[red] [a](http://192.0.2.1)"
RIGHT_TO_LEFT = "\u05e9\u05dc\u05d5\u05dd"
OVERRIDE = "\u202egnirts"
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
HALF = "half \ud83d of a character"  # a lone surrogate: no encoding can carry it
TOKENS = (
    SCRIPT,
    "%{x}",
    "${window.__pwned=2}",
    "{query}",
    "<svg onload=alert(1)>",
    "[link](javascript:alert(2))",
    MARKUP,
    RIGHT_TO_LEFT,
    FAMILY,
    "&lt;b&gt;",
    HALF,
    "a" * 300,
)
TEXT = (
    f"{SCRIPT} %{{x}} {RIGHT_TO_LEFT} {OVERRIDE} {FAMILY} [a](javascript:alert(3)) **b** <b>c</b>"
)


def escaped(page: Page) -> list[str]:
    """What became more than text; empty for a safe page. Looks into the components too."""
    found: list[str] = page.evaluate(
        """() => {
            const bad = [], walk = (root) => {
                for (const node of root.querySelectorAll("*")) {
                    if (node.shadowRoot) walk(node.shadowRoot);
                    for (const { name, value } of node.attributes) {
                        if (/^on/i.test(name)) bad.push(`${node.tagName} has ${name}`);
                        const loads = /^(href|src)$/i.test(name);
                        if (loads && (/^javascript:/i.test(value) || value === "x"))
                            bad.push(`${node.tagName} has ${name}=${value}`);
                    }
                }
            };
            walk(document);
            if (window.__pwned !== undefined) bad.push(`window.__pwned is ${window.__pwned}`);
            return bad;
        }"""
    )
    return found
