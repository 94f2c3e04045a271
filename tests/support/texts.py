"""What is wrong with the texts of a page, seen by texts.js beside this file."""

import json
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

SCRIPT = Path(__file__).with_name("texts.js").read_text(encoding="utf-8").strip().removesuffix(";")
STILL_MS, MOST = 100, 100


def problems(page: Page, words: Sequence[str] = ()) -> list[str]:
    """Texts without an accent that are none of `words`, cut off, or on another; once they rest.

    A page that was made narrower is laid out anew in steps: what is wrong must be so twice.
    """
    found = _found(page, words)
    for _ in range(MOST):
        page.wait_for_timeout(STILL_MS)
        again = _found(page, words)
        if again == found:
            break
        found = again
    return found


def _found(page: Page, words: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(page.evaluate(f"({SCRIPT})({json.dumps(list(words))})")))
