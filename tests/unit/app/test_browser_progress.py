"""browser_progress.read: what a browser sends back is taken only in its own form."""

import json

import pytest

from attnviz.app.page_parts.learn.browser_progress import MAX_CHARS, read

SLUGS = ("where", "ask")
ENTRY = {"answers": "next=each", "card": "tokens", "known": "next=right"}


def test_progress_is_read_back() -> None:
    assert read(json.dumps({"where": ENTRY}), SLUGS) == {"where": ENTRY}


def test_progress_of_before_standings_were_kept_has_none() -> None:
    kept = {name: ENTRY[name] for name in ("answers", "card")}
    assert read(json.dumps({"where": kept}), SLUGS) == {"where": {**kept, "known": ""}}


@pytest.mark.parametrize(
    "text",
    [
        *(None, 3, "", "{", "[]", "[" * 5_000, json.dumps({"nowhere": ENTRY})),
        json.dumps({"where": "next=each"}),
        json.dumps({"where": {"answers": 1, "card": ""}}),
        json.dumps({"where": {**ENTRY, "known": {"next": "right"}}}),
        json.dumps({"where": {"answers": "x" * (MAX_CHARS + 1), "card": ""}}),
    ],
)
def test_anything_else_is_left_out(text: object) -> None:
    assert read(text, SLUGS) == {}
