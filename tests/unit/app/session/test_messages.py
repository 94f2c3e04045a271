"""`messages`: a visitor's text on one line, without Markdown and live links; errors in words."""

import re

import pytest

from attnviz.app.session import messages
from attnviz.errors import AttnVizError, BadInput, TooLarge, require_index
from attnviz.i18n import LANGUAGES, Language, section
from attnviz.models.weights import missing

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


def shown(monkeypatch: pytest.MonkeyPatch, error: AttnVizError, lang: Language = "en") -> str:
    lines: list[str] = []
    monkeypatch.setattr(messages.st, "error", lines.append)
    messages.show(lang, error)
    return lines[0]


@pytest.mark.parametrize(
    ("lang", "count", "size"), [("en", "12,345", "0.5"), ("es", "12.345", "0,5")]
)
def test_numbers_of_an_error_have_the_signs_of_the_language(
    monkeypatch: pytest.MonkeyPatch, lang: Language, count: str, size: str
) -> None:
    long = TooLarge("x", code="too_many_tokens", found=12345, limit=512, unit="tokens")
    assert count in shown(monkeypatch, long, lang)
    off = BadInput(
        "x", code="mismatch", name="m", step="q", error="0.5", tolerance="1e-05", where="L0"
    )
    assert size in messages._details(lang, off)["error"]
    typed = messages._details(lang, BadInput("x", code="bad_edit", asked="0.5"))
    assert typed["asked"] == r"0\.5", "what a visitor typed stays as it is"


def refused(name: str, count: int) -> BadInput:
    with pytest.raises(BadInput) as error:
        require_index(name, 7, count)
    return error.value


def test_a_single_head_is_no_range(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(refused("head", 1)) == "head 7 does not exist: there is only head 0"
    assert "has only head 0" in shown(monkeypatch, refused("head", 1))
    assert "heads 0 to 3" in shown(monkeypatch, refused("head", 4))


def test_one_missing_weight_is_not_one_and_0_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "more" not in str(missing("m", ["a.weight"]))
    assert "more" not in shown(monkeypatch, missing("m", ["a.weight"]))
    assert "1 more" in str(missing("m", ["a.weight", "b.weight"]))
    assert "1 more" in shown(monkeypatch, missing("m", ["a.weight", "b.weight"]))


def test_the_texts_for_one_belong_to_errors() -> None:
    for lang in LANGUAGES:
        assert section(lang, "error_one").keys() <= section(lang, "error").keys()
