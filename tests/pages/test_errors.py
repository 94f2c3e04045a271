"""Errors are shown in the visitor's language with what to do; a traceback never shows."""

import pytest
from streamlit.testing.v1 import AppTest

from attnviz import i18n
from attnviz.app.server import captures, unexpected
from attnviz.app.session import address, messages, widgets
from attnviz.capture import run as capture_run
from attnviz.models.registry import REGISTRY
from tests.pages.conftest import Visit, beside_bar, parameters, pieces, sent, type_text

PAGES = ("overview", "head", "steps", "masks")
LONG = "cat " * 600
KEY = widgets.key
HOSTILE = "</script><img src=x onerror=alert(1)> %{x} \u202egnp.exe 👩‍👩‍👧 \ud800 $x$ :red[y] [z](http://example.org)"


def first_tokens(app: AppTest) -> list[str]:
    """The tokens of the first sentence that the component shows."""
    tokens: list[str] | list[list[str]] = sent(app)[0]["tokens"]
    return tokens if isinstance(tokens[0], str) else tokens[0]


@pytest.mark.some(1)
@pytest.mark.parametrize("lang", i18n.LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_an_empty_text_says_what_to_do(visit: Visit, page: str, lang: i18n.Language) -> None:
    app = visit(page, lang=lang, text=" \n ")
    assert app.subheader[0].value == i18n.text(lang, "empty.title")
    assert not beside_bar(app)
    assert not app.error
    type_text(app, i18n.text("en", "example.short"))
    assert pieces(app)["text"]["text"] == i18n.text("en", "example.short")
    assert "cat" in first_tokens(app)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_long_text_can_be_cut(visit: Visit, lang: i18n.Language) -> None:
    app = visit("overview", lang=lang, text=LONG)
    assert [each.value for each in app.error] == [
        i18n.text(lang, "error.too_many_tokens", found=602, limit=512)
    ]
    button = app.button(KEY("way_out.too_many_tokens"))
    assert button.label == i18n.text(lang, "cut.button", limit=512)
    app = button.click().run()
    assert parameters(app)["cut"] == "1"
    assert not app.error
    assert [each.value for each in app.info] == [i18n.text(lang, "cut.notice", limit=512)]
    assert len(sent(app)[0]["tokens"]) == 512


@pytest.mark.slow
def test_a_text_that_fits_is_not_said_to_be_cut(visit: Visit) -> None:
    assert not visit("overview", text="The cat sat.", cut="1").info


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_an_unknown_model_lists_those_that_exist(visit: Visit, lang: i18n.Language) -> None:
    app = visit("head", lang=lang, model="gpt-9")
    known = messages.plain(", ".join(REGISTRY))
    said = i18n.text(lang, "error.unknown_model", asked=messages.plain("gpt-9"), known=known)
    assert [each.value for each in app.error] == [said]
    app.button(KEY("way_out.unknown_model")).click().run()
    assert not app.error
    assert "model" not in parameters(app)


@pytest.mark.some(2)
@pytest.mark.parametrize("page", ["steps", "masks", "geometry"])
@pytest.mark.parametrize("wrong", [{"layer": "6"}, {"head": "12"}])
def test_a_head_that_does_not_exist(visit: Visit, page: str, wrong: dict[str, str]) -> None:
    app = visit(page, text="The cat sat.", **wrong)
    ((name, asked),) = wrong.items()
    last = {"layer": 5, "head": 11}[name]
    said = i18n.text("en", f"error.bad_{name}", asked=asked, last=last)
    assert [each.value for each in app.error] == [said]
    app.button(KEY(f"way_out.bad_{name}")).click().run()
    assert not app.error
    assert sent(app)[0].get("plane", sent(app)[0])[name] == 0


@pytest.mark.some(1)
@pytest.mark.parametrize("page", PAGES)
def test_hostile_text_is_only_text(visit: Visit, page: str) -> None:
    text = address.cleaned("text", HOSTILE)
    app = visit(page, text=text)
    assert not app.error
    tokens = first_tokens(app)
    assert any("script" in token for token in tokens)
    assert not any(ord(char) in range(0x202A, 0x202F) for token in tokens for char in token)


def test_a_hostile_model_name_is_only_text(visit: Visit) -> None:
    app = visit("overview", model="![x](http://example.org/x.png)`<b>`:red[z]\u202e")
    (error,) = app.error
    assert "](" not in error.value.replace("\\]", "").replace("\\(", "")
    assert "\\<b\\>" in error.value
    assert "\u202e" not in error.value


def test_the_unexpected_is_one_sentence_and_a_log_entry(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(captures, "recall", broken)
    app = visit("overview", text="The cat sat.")
    (error,) = app.error
    (record,) = [each for each in caplog.records if each.name == unexpected.logger.name]
    assert error.value == i18n.text("en", "error.unexpected", reference=record.args[1])
    assert "secret" not in error.value
    assert record.exc_info is not None
    assert app.title[0].value == "Overview"


def test_a_model_that_fails_once_runs_when_it_is_tried_again(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As a tokenizer does whose padding another thread changed at the same moment."""

    def broken(*_: object, **__: object) -> None:
        raise ValueError("Unable to create tensor")

    with monkeypatch.context() as patched:
        patched.setattr(capture_run, "capture_request", broken)
        app = visit("overview", text="The cat ran away.")
    (error,) = app.error
    (record,) = [each for each in caplog.records if "run failed" in each.msg]
    assert error.value == i18n.text("en", "error.run_failed", reference=record.args[0])
    assert record.exc_info is not None
    app.button(KEY("way_out.run_failed")).click().run()
    assert not app.error
    assert "ran" in first_tokens(app)


def test_an_error_says_the_kind_of_model_in_the_visitors_language() -> None:
    app = AppTest.from_function(_say_no_decoder).run()
    assert [each.value for each in app.error] == [
        i18n.text(lang, "error.no_decoder", name="m", kind=i18n.text(lang, "model_kind.encoder"))
        for lang in i18n.LANGUAGES
    ]


def _say_no_decoder() -> None:
    from attnviz import i18n
    from attnviz.app.session import messages
    from attnviz.errors import BadInput

    for lang in i18n.LANGUAGES:
        messages.show(lang, BadInput("x", code="no_decoder", name="m", kind="encoder"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a*b_c", "a\\*b\\_c"),
        ("[x](y)", "\\[x\\]\\(y\\)"),
        ("a b", "a b"),
        ("\n# x", "↵\\# x"),
        ("日本", "日本"),
        ("x" * 200, "x" * (messages.MAX_SHOWN_CHARS - 1) + "…"),
    ],
)
def test_plain(value: str, shown: str) -> None:
    assert messages.plain(value) == shown


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_an_edit_outside_the_matrix_is_refused_with_a_way_out(
    visit: Visit, lang: i18n.Language
) -> None:
    app = visit("steps", lang=lang, text="The cat sat.", edits="q.99.0=1")
    assert "q.99.0=1" in app.error[0].value.replace("\\", "")
    app.button(key="attnviz.widget.way_out.edit_outside").click().run()
    assert not app.error
    assert len(beside_bar(app)) == 1
