"""`messages.plain`: a visitor's text on one line, without Markdown and without live links."""

import re

import pytest

from attnviz.ui.session import messages

# what browsers' Markdown makes a link of, after it has taken the escapes away
LINK = re.compile(r"https?://|\bwww\.|[\w.+-]+@[\w-]+", re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    [
        "Log in at https://evil.example/login",
        "see HTTP://evil.example",
        "see www.evil.example",
        "see WwW.evil.example now",
        "write to someone@evil.example",
        "mailto://x@y https://www.z",
    ],
)
def test_plain_leaves_no_live_link(text: str) -> None:
    assert LINK.search(text)
    shown = re.sub(r"\\(.)", r"\1", messages.plain(text))
    assert not LINK.search(shown)
    assert shown.replace(messages.WORD_JOINER, "") == text


def test_plain_is_one_line() -> None:
    assert messages.plain("a\n===\r\nb") == r"a↵\=\=\=⟨U\+000D⟩↵b"
