"""A decoder with a chat template: its text as a message, opted into, kept in the address."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from transformers import AutoTokenizer

from attnviz import i18n
from attnviz.app.server import sources
from attnviz.app.session import widgets
from tests.pages.conftest import Visit, bar, parameters, sent
from tests.support import folders

Tiny = Callable[[str], str]
KEY = widgets.key
TEXT = "the cat sat"
WRAPPED = ["<|im_start|>", "user", "the", "cat", "sat", "<|im_end|>", "<|im_start|>", "assistant"]


def labels(app: AppTest) -> list[str]:
    return list(sent(app)[0]["tokens"])


def test_the_switch_puts_the_text_into_the_template(visit: Visit, tiny: Tiny) -> None:
    app = visit("overview", text=TEXT, model=tiny("chat"))
    assert labels(app) == ["the", "cat", "sat"]
    app.toggle(KEY("chat")).set_value(True).run()
    assert not app.error
    assert labels(app) == WRAPPED
    assert parameters(app)["chat"] == "1"
    (said,) = [each.value for each in app.caption if "assistant" in each.value]
    assert said.startswith(i18n.text("en", "notice.chat", tokens=""))
    app.toggle(KEY("chat")).set_value(False).run()
    assert labels(app) == ["the", "cat", "sat"] and "chat" not in parameters(app)


def test_an_address_opens_a_message_and_its_answer(visit: Visit, tiny: Tiny) -> None:
    app = visit("head", text=TEXT, model=tiny("chat"), chat="1", generate="3")
    assert not app.error
    assert labels(app)[:8] == WRAPPED and len(labels(app)) == 11
    header = sent(app)[0]
    assert app.toggle(KEY("chat")).value is True
    assert header["n_heads"] == 6


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_there_is_no_switch_without_a_template(visit: Visit, tiny: Tiny, name: str) -> None:
    app = visit("overview", text=TEXT, model=tiny(name), chat="1")
    assert not app.error and not bar(app).toggle
    assert "<|im_start|>" not in labels(app)


@pytest.mark.slow
def test_both_sides_of_compare_read_messages(visit: Visit, tiny: Tiny) -> None:
    app = visit("compare", text=TEXT, text_b="the dog sat", model=tiny("chat"), chat="1")
    assert not app.error
    header = sent(app)[0]
    assert [header[side]["tokens"][1] for side in "ab"] == ["user", "user"]


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_bad_template_is_said_and_the_text_can_be_given_as_it_is(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: i18n.Language
) -> None:
    folder = folders.save(tmp_path / "bad", "chat")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = "{{ raise_exception('no `user` <b>here</b>') }}"
    tokenizer.save_pretrained(folder)
    monkeypatch.setenv(sources.VARIABLE, str(tmp_path))
    app = visit("overview", text=TEXT, model=str(folder), chat="1", lang=lang)
    (said,) = [error.value for error in app.error]
    assert said.startswith(i18n.text(lang, "error.bad_chat_template", name="bad", reason="")[:20])
    assert "\\<b\\>here" in said
    app.button(KEY("way_out.bad_chat_template")).click().run()
    assert not app.error and labels(app) == ["the", "cat", "sat"]


@pytest.mark.slow
def test_a_message_has_a_picture_where_the_model_looks_at_one(visit: Visit, tiny: Tiny) -> None:
    asked = {"text": TEXT, "model": tiny("llava-chat"), "stack": "text", "image": "landscape"}
    app = visit("head", chat="1", generate="3", **asked)
    assert not app.error
    shown = labels(app)
    assert shown[:3] == ["<|im_start|>", "user", "r0c0"] and len(shown) == 24 + 3
    assert sent(app)[0]["patches"]["first"] == 2
    (said,) = [each.value for each in app.caption if "assistant" in each.value]
    assert "image" in said and "r0c0" not in said
    app.toggle(KEY("chat")).set_value(False).run()
    assert not app.error and labels(app)[0] == "r0c0"
