"""A capture file in the app: uploaded, shown on every page without its model, refused in words."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
import torch
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.app.bar import own_files
from attnviz.app.server import loading, opened_captures, turns
from attnviz.app.server.turns import WaitingLine
from attnviz.app.session import messages, widgets
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.errors import TooLarge
from attnviz.files.capture_file import VARIABLE, digest_of_bytes
from attnviz.files.capture_file.read import read
from attnviz.files.save import content
from tests.pages.conftest import Visit, bar, beside_bar, component_name, is_typed, parameters, sent
from tests.support import captures

TEXT = "The cat sat on the mat."
SHOWN = {"overview": "grid", "head": "head", "steps": "steps", "masks": "masks", "compare": "pair"}


def say(key: str, **values: Any) -> str:
    return i18n.text("en", key, **values)


@pytest.fixture
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model can be loaded."""

    def refuse(*_: object) -> None:
        raise AssertionError("a model was asked for")

    monkeypatch.setattr(loading, "model", refuse)


def uploaded(data: bytes) -> str:
    return opened_captures.open_upload(data, "run.safetensors")


@pytest.fixture(scope="module")
def file() -> bytes:
    """The capture file of a text, made with the threads of the app: others round differently."""
    loading.import_libraries()
    return content(attnviz.capture("minilm", TEXT), ".safetensors")


def upload(app: AppTest, data: bytes, name: str = "run.safetensors") -> None:
    [box] = [box for box in app.file_uploader if box.key == widgets.key(own_files.CAPTURE)]
    box.set_value((name, data, "application/octet-stream")).run()


def test_a_file_is_uploaded_shown_and_closed(visit: Visit, file: bytes) -> None:
    app = visit("overview", layer="3", head="1", masks="causal")
    upload(app, b"no capture", "my *file*.safetensors")
    [error] = app.error
    assert error.value.startswith(r"my \*file\*\.safetensors is not a capture that can be read")
    upload(app, file)
    assert not app.error and not app.exception
    assert parameters(app)["capture"] == digest_of_bytes(file)
    assert not parameters(app).keys() & {"layer", "head", "masks"}
    captions = [caption.value for caption in bar(app).caption]
    assert any("Capture file of" in caption for caption in captions)
    assert not is_typed(app) and len(bar(app).selectbox) == 1  # the language alone
    header, _ = sent(app)
    assert header["tokens"][:3] == ["[CLS]", "The", "cat"]
    app.button(widgets.key("opened.close")).click().run()
    assert "capture" not in parameters(app) and is_typed(app)


@pytest.mark.parametrize("page", SHOWN)
def test_pages_show_a_file_without_its_model(
    page: str, visit: Visit, file: bytes, without_model: None
) -> None:
    app = visit(page, capture=uploaded(file), layer="2", head="3")
    assert not app.error
    assert component_name(app) == f"attnviz.{SHOWN[page]}"
    assert any("tolerance" in caption.value for caption in app.caption)


def test_numbers_are_those_of_the_model(visit: Visit, file: bytes) -> None:
    view = {"layer": "2", "head": "3"}
    from_file = sent(visit("head", capture=uploaded(file), **view))[1]
    from_model = sent(visit("head", text=TEXT, **view))[1]
    for name, array in from_model.items():
        np.testing.assert_array_equal(from_file[name], array, err_msg=name)


KEPT = [[], [], [1, 5], [], list(range(12)), []]


@pytest.fixture(scope="module")
def some_heads() -> bytes:
    """The capture file of some heads of the same text."""
    loading.import_libraries()
    return content(attnviz.capture("minilm", TEXT, keep=["L2.H1", "L2.H5", "L4"]), ".safetensors")


@pytest.mark.parametrize("page", ["overview", "head", "steps", "masks", "geometry"])
def test_some_heads_are_shown_under_their_own_numbers(
    page: str, visit: Visit, some_heads: bytes, without_model: None
) -> None:
    tab = {"tab": "head"} if page == "geometry" else {}
    app = visit(page, capture=uploaded(some_heads), layer="2", head="3", **tab)
    assert not app.error and not app.exception
    header, _ = sent(app)
    header = header.get("plane", header)
    assert (header["kept"], header["n_layers"], header["n_heads"]) == (KEPT, 6, 12)
    if page in ("steps", "masks", "geometry"):  # where one head is computed: the nearest
        assert (header["layer"], header["head"]) == (2, 1)
    assert any("tolerance" in caption.value for caption in app.caption) and not app.warning


def test_a_head_that_was_not_kept_has_no_weights(
    visit: Visit, file: bytes, some_heads: bytes
) -> None:
    of_all, of_some = (
        sent(visit("head", capture=uploaded(data)))[1]["weights"] for data in (file, some_heads)
    )
    for layer, heads in enumerate(KEPT):
        for head in range(12):
            expected = of_all[layer, head] if head in heads else 0 * of_all[layer, head]
            np.testing.assert_array_equal(of_some[layer, head], expected)


def test_share_offers_a_page_of_some_heads(
    visit: Visit, some_heads: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: dict[str, Callable[[], bytes]] = {}

    def offered(_label: str, data: Callable[[], bytes], name: str, **_options: Any) -> bool:
        files[name.rpartition(".")[2]] = data
        return False

    monkeypatch.setattr(st, "download_button", offered)
    app = visit("masks", capture=uploaded(some_heads), layer="2", head="3")
    app.session_state[widgets.key("take")] = True
    app.run()
    assert b'"L2.H1":' in files["html"]() and not app.exception


def test_what_needs_all_heads_says_so(visit: Visit, some_heads: bytes) -> None:
    app = visit("compare", capture=uploaded(some_heads), model_b="minilm")
    [error] = app.error
    assert error.value == say("error.layers_left_out", layers=messages.plain("2, 4"))


def test_steps_say_that_a_file_has_no_weights(
    visit: Visit, file: bytes, some_heads: bytes, without_model: None
) -> None:
    for data, projected in ((file, "without_weights"), (some_heads, "some_heads")):
        header, _ = sent(visit("steps", capture=uploaded(data), layer="2", head="1"))
        reasons = {panel["stage"]: panel["absent"] for panel in header["panels"]}
        assert reasons["x"] == say("absent.without_weights")
        assert reasons["projected"] == say(f"absent.{projected}")


@pytest.mark.parametrize("page", ["switches", "output"])
def test_what_needs_the_model_is_said_in_one_line(
    page: str, visit: Visit, file: bytes, without_model: None
) -> None:
    app = visit(page, capture=uploaded(file))
    title = messages.plain(say("model.minilm.label"))
    assert say("opened.needs_model", model=title) in [info.value for info in app.info]
    assert not app.error and len(beside_bar(app, "button")) <= 1


def test_the_model_is_run_on_the_text_of_a_file(visit: Visit, file: bytes) -> None:
    app = visit("switches", capture=uploaded(file))
    app.button(widgets.key("opened.run.switches")).click().run()
    assert component_name(app) == "attnviz.switches" and not app.error
    assert parameters(app)["text"] == TEXT and "capture" not in parameters(app)


def test_what_edits_do_needs_the_model(visit: Visit, file: bytes, without_model: None) -> None:
    app = visit("steps", capture=uploaded(file), edits="q.1.2=0.5", why="1")
    assert len([info for info in app.info if "itself" in info.value]) == 2
    assert not app.error


def test_an_alignment_needs_no_model(visit: Visit, without_model: None) -> None:
    lm = attnviz.load("translator")
    cap = attnviz.capture(lm, "I like red cars.", generate=8)
    app = visit("output", capture=uploaded(content(cap, ".safetensors")))
    assert component_name(app) == "attnviz.alignment"
    header, _ = sent(app)
    assert [word["text"] for word in header["target"]][:3] == ["J'", "aime", "les"]


def test_a_file_is_compared_with_a_model(visit: Visit, file: bytes) -> None:
    app = visit("compare", capture=uploaded(file), model_b="minilm")
    header, _ = sent(app)
    assert header["alike"] and not app.error
    assert header["rows"] == [[token, token, 1] for token in range(len(header["rows"]))]


def test_a_capture_that_is_not_kept_is_missed_in_words(visit: Visit) -> None:
    app = visit("head", capture="0" * 32)
    assert say("empty.capture_title") in [heading.value for heading in app.subheader]
    assert not app.error


def test_uploads_are_bounded(file: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    other = content(attnviz.capture("minilm", "Another text."), ".safetensors")
    first = uploaded(file)
    monkeypatch.setattr(opened_captures, "MAX_KEPT_BYTES", len(file))
    second = uploaded(other)
    assert opened_captures.opened(first) is None and opened_captures.opened(second) is not None
    monkeypatch.setattr(opened_captures, "MAX_PRODUCTS", 10**5)
    with pytest.raises(TooLarge, match="multiplications"):
        uploaded(file)
    monkeypatch.setattr(opened_captures, "MAX_BYTES", 1000)
    with pytest.raises(TooLarge):
        uploaded(file)


def test_heads_and_calls_have_a_price_of_their_own(file: bytes) -> None:
    """However few their tokens: 50,000 heads of one token in 1.2 kB took 40 s."""
    query = torch.zeros(1, 1, 1, 8)
    heads = [part.expand(1, 50_000, 1, 8) for part in (query, query, query)]
    call = AttentionCall(
        *("a", 0, 0, None, "self", AttentionInputs(*heads, None, False, 1.0)),
        output=torch.zeros(1, 1, 50_000, 8),
    )
    small = read(file)
    for calls in ((call,), small.calls[:1] * 3000):
        with pytest.raises(TooLarge, match="multiplications"):
            opened_captures._require_products(replace(small, calls=calls))


def test_an_upload_is_checked_and_first_shown_in_the_line_of_heavy_work(
    visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = content(attnviz.capture("minilm", "A text of its own."), ".safetensors")
    line, checked = WaitingLine(1), list[bool]()
    monkeypatch.setattr(turns, "line", line)
    monkeypatch.setattr(turns, "check", lambda: checked.append(holds_turn(line)))
    digest = uploaded(data)
    assert checked and all(checked), "each call is verified in a turn, and may end with its tab"
    joined: list[object] = []
    monkeypatch.setattr(line, "_join", lambda: joined.append(0) or WaitingLine._join(line))
    for page, n_turn in (("overview", 1), ("steps", 2), ("head", 2)):
        app = visit(page, capture=digest)
        assert not app.error and len(joined) == n_turn
    assert not line._tickets


def holds_turn(line: WaitingLine) -> bool:
    """True while somebody works in the line."""
    return len(line._tickets) == 1


@pytest.mark.some(3)
@pytest.mark.parametrize("kind", captures.every_kind())
def test_every_kind_of_capture_is_opened(kind: str) -> None:
    data = content(captures.every_kind()[kind], ".safetensors", with_weights=True)
    opened = opened_captures.opened(uploaded(data))
    assert opened is not None and opened.groups


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e30])
def test_numbers_that_are_not_finite_or_become_so_are_refused(number: float) -> None:
    cap = attnviz.capture("stories", "A cat that breaks.")
    query = cap.calls[0].inputs.query.clone()
    query[0, 0, 1, 0] = number
    inputs = replace(cap.calls[0].inputs, query=query, key=cap.calls[0].inputs.key * number)
    broken = replace(cap, calls=(replace(cap.calls[0], inputs=inputs), *cap.calls[1:]))
    with pytest.raises(attnviz.BadInput, match="NaN or infinite") as refused:
        uploaded(content(broken, ".safetensors"))
    assert refused.value.details["path"] == "run.safetensors"


def test_the_operator_names_a_file(
    visit: Visit,
    file: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    without_model: None,
) -> None:
    path = tmp_path / "of-operator.safetensors"
    path.write_bytes(file)
    monkeypatch.setenv(VARIABLE, str(path))
    app = visit("head", capture=digest_of_bytes(file))
    assert component_name(app) == "attnviz.head" and not app.error


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_the_uploader_speaks_the_language(
    lang: i18n.Language, visit: Callable[..., AppTest]
) -> None:
    app = visit("overview", lang=lang)
    assert i18n.text(lang, "opened.title") in [box.label for box in app.expander]
