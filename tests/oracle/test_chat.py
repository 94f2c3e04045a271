"""Texts as messages: the model's own template is applied as transformers applies it, and a bad or
hostile one is refused in words."""

import subprocess
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import attnviz
from attnviz.app.session import model_images
from attnviz.capture.plan import images
from attnviz.errors import BadInput, TooLarge
from attnviz.models import chat_template
from attnviz.models.loaded_model import LoadedModel
from tests.support import folders

TEXT = "the cat sat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folders.save(tmp_path_factory.mktemp("chat") / "chat", "chat")


@pytest.fixture(scope="module")
def lm(folder: Path) -> LoadedModel:
    return attnviz.load(folder)


def expected(lm: LoadedModel, text: str) -> list[int]:
    """What transformers makes of one message of a user."""
    made = lm.text_tokenizer().apply_chat_template(
        [{"role": "user", "content": text}], add_generation_prompt=True
    )
    return list(made["input_ids"])


def test_the_tokens_are_those_of_apply_chat_template(lm: LoadedModel) -> None:
    found = attnviz.capture(lm, TEXT, chat=True)
    assert found.tokens.ids.tolist() == expected(lm, TEXT)
    assert found.tokens.labels == (
        *("<|im_start|>", "user", "the", "cat", "sat", "<|im_end|>", "<|im_start|>", "assistant"),
    )
    assert np.flatnonzero(found.tokens.special).tolist() == [0, 5, 6]
    for (start, stop), label in zip(found.tokens.offsets, found.tokens.labels, strict=True):
        assert found.tokens.text[start:stop] == label
    assert found.verify().ok


def test_the_answer_is_what_the_model_writes_after_its_template(lm: LoadedModel) -> None:
    ids = torch.tensor([expected(lm, TEXT)])
    with torch.no_grad():
        whole = lm.model.generate(ids, max_new_tokens=4, do_sample=False)
    found = attnviz.capture(lm, TEXT, chat=True, generate=4)
    n_read = whole.shape[1] - 1  # the last token is never read
    assert found.tokens.ids.tolist() == whole[0, :n_read].tolist()
    assert found.n_generated == 3
    assert np.flatnonzero(found.tokens.special)[:3].tolist() == [0, 5, 6]
    forced = attnviz.capture(lm, inputs={"input_ids": whole[:, :n_read]})
    np.testing.assert_allclose(found.all_weights(), forced.all_weights(), atol=1e-5)


@pytest.mark.slow
def test_messages_run_as_a_batch_that_ends_where_the_answers_begin(lm: LoadedModel) -> None:
    texts = ["the cat", "a dog sat on the mat"]
    found = attnviz.capture(lm, texts, chat=True, generate=2)
    for batch, text in enumerate(texts):
        tokens, ids = found.tokens_of(batch), expected(lm, text)
        assert tokens.ids[~tokens.padding][: len(ids)].tolist() == ids


def test_a_message_that_is_cut_keeps_its_template(lm: LoadedModel) -> None:
    long = " ".join([TEXT] * 30)
    with pytest.raises(TooLarge):
        attnviz.capture(lm, long, chat=True)
    found = attnviz.capture(lm, long, chat=True, cut=True)
    whole = expected(lm, long)
    assert len(found.tokens) == lm.max_tokens == 32
    assert found.tokens.ids.tolist() == [*whole[: 32 - 3], *whole[-3:]]


@pytest.mark.slow
def test_a_message_that_is_all_template_is_too_large(
    lm: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lm.text_tokenizer(), "model_max_length", 5)
    with pytest.raises(TooLarge):
        attnviz.capture(lm, "the cat", chat=True, cut=True)


def test_a_card_says_whether_a_model_takes_messages(lm: LoadedModel, tmp_path: Path) -> None:
    assert lm.card.takes_messages
    for plain in ("llama", "bert"):
        other = attnviz.load(folders.save(tmp_path / plain, plain))
        assert not other.card.takes_messages
        with pytest.raises(BadInput) as raised:
            attnviz.capture(other, TEXT, chat=True)
        assert raised.value.code == "no_chat_template"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "chat= needs something to read"),
        ({"text": TEXT, "text_pair": TEXT}, "text_pair= does not go with a message"),
        ({"text": TEXT, "target": TEXT}, "target= does not go with a message"),
    ],
)
def test_a_message_is_one_text(lm: LoadedModel, given: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        attnviz.capture(lm, chat=True, **given)


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("{% if %}", "TemplateSyntaxError"),
        pytest.param(
            "{{ raise_exception('roles must alternate') }}",
            "TemplateError: roles must alternate",
            marks=pytest.mark.slow,
        ),
        pytest.param("{{ messages[0].nothing.more }}", "UndefinedError", marks=pytest.mark.slow),
        ("{{ ''.__class__.__mro__ }}", "SecurityError"),
        ("{{ 'a' * 10 ** 11 }}", "MemoryError"),
        ("{% set n = namespace(t='') %} ", "its output is empty"),
        ("{{ 'ab' * 3000000 }}", "more than 2097152 characters"),
    ],
)
def test_a_template_that_fails_or_grows_is_refused(
    lm: LoadedModel, monkeypatch: pytest.MonkeyPatch, source: str, reason: str
) -> None:
    monkeypatch.setattr(lm.text_tokenizer(), "chat_template", source)
    with pytest.raises(BadInput, match="chat template of chat cannot be used") as raised:
        attnviz.capture(lm, TEXT, chat=True)
    assert raised.value.code == "bad_chat_template"
    assert reason in str(raised.value.details["reason"])


def test_a_template_sees_nothing_of_the_environment(
    lm: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Mapping[str, str]] = []
    run = subprocess.run

    def noted(*command: Any, env: Mapping[str, str], **options: Any) -> Any:
        seen.append(env)
        return run(*command, env=env, **options)

    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setattr(chat_template.subprocess, "run", noted)
    monkeypatch.setattr(lm.text_tokenizer(), "chat_template", "{{ messages[0].content }} alone")
    attnviz.capture(lm, TEXT, chat=True)
    assert len(seen) == 1 and seen[0].keys() <= {"PATH", "LANG", "LC_ALL", "SYSTEMROOT"}


@pytest.mark.parametrize("wait_s", [0.5, pytest.param(30.0, marks=pytest.mark.slow)])
def test_a_template_without_an_end_is_stopped(
    lm: LoadedModel, monkeypatch: pytest.MonkeyPatch, wait_s: float
) -> None:
    """A power that keeps Python busy for hours in one step: stopped by our clock, or by its own."""
    monkeypatch.setattr(lm.text_tokenizer(), "chat_template", "{{ 7 ** (7 ** 11) }}")
    monkeypatch.setattr(chat_template, "WAIT_S", wait_s)
    with pytest.raises(BadInput) as raised:
        attnviz.capture(lm, TEXT, chat=True)
    assert raised.value.details["reason"] == chat_template.LIMITS


class Counted(subprocess.Popen[str]):
    """A process that tells how many of its kind are alive at the moment when it was started."""

    started: list["Counted"]
    alive: list[int]
    lock = threading.Lock()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        with self.lock:
            self.started.append(self)
            self.alive.append(sum(child.returncode is None for child in self.started))


@pytest.mark.slow
def test_many_templates_at_once_have_few_processes(
    lm: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may take a GiB; the number alive is greatest right after one was started."""
    Counted.started, Counted.alive = [], []
    monkeypatch.setattr(subprocess, "Popen", Counted)
    texts = [f"the cat sat at once {'on ' * at}" for at in range(6)]
    together = threading.Barrier(len(texts))

    def render(text: str) -> str:
        together.wait()
        return chat_template.as_messages(lm, [text])[0]

    with ThreadPoolExecutor(len(texts)) as visitors:
        messages = list(visitors.map(render, texts))
    assert all(text.strip() in message for text, message in zip(texts, messages, strict=True))
    assert len(Counted.started) == len(texts)
    assert max(Counted.alive) == chat_template.MAX_CHILDREN == 2


def test_several_templates_need_a_default(lm: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = lm.text_tokenizer()
    both = {"default": folders.CHAT_TEMPLATE, "tools": "{{ tools }}"}
    monkeypatch.setattr(tokenizer, "chat_template", both)
    assert chat_template.of_tokenizer(tokenizer) == folders.CHAT_TEMPLATE
    monkeypatch.setattr(tokenizer, "chat_template", {"rag": "x", "tools": "y"})
    assert chat_template.of_tokenizer(tokenizer) is None
    assert chat_template.of_tokenizer(None) is None


@pytest.fixture(scope="module")
def looks(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """A model that chats about a picture."""
    return attnviz.load(folders.save(tmp_path_factory.mktemp("looks") / "llava", "llava-chat"))


@pytest.mark.slow
def test_a_message_with_a_picture_stands_where_the_template_puts_it(looks: LoadedModel) -> None:
    parts = [{"type": "image"}, {"type": "text", "text": TEXT}]
    wrapped = looks.text_tokenizer().apply_chat_template(
        [{"role": "user", "content": parts}], add_generation_prompt=True
    )["input_ids"]
    at = wrapped.index(looks.model.config.image_token_id)
    picture = model_images.drawn("landscape")
    found = attnviz.capture(looks, TEXT, image=picture, chat=True, generate=4)
    tokens = found.tokens_of(stack="text")
    whole = [*wrapped[:at], *[wrapped[at]] * 16, *wrapped[at + 1 :]]
    assert tokens.ids[: len(whole)].tolist() == whole and found.n_generated == 3
    assert tokens.labels[:4] == ("<|im_start|>", "user", "r0c0", "r0c1")
    assert np.flatnonzero(tokens.special)[:3].tolist() == [0, 21, 22]
    ids = torch.from_numpy(tokens.ids)[None]
    given = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    forced = attnviz.capture(looks, inputs=given | images.pixel_inputs(looks, [picture]))
    for layer in (0, 1):
        np.testing.assert_allclose(
            found.weights(layer, stack="text"), forced.weights(layer, stack="text"), atol=2e-5
        )
    assert found.verify().ok


def test_a_message_without_a_picture_is_for_models_that_need_none(
    looks: LoadedModel, lm: LoadedModel
) -> None:
    for model, given in ((looks, {}), (lm, {"image": model_images.drawn("landscape")})):
        with pytest.raises(BadInput) as raised:
            attnviz.capture(model, TEXT, chat=True, **given)
        assert raised.value.code in ("no_chat_template", "not_both")
