"""What `capture` and `load` make of bad input: a clear error each, and nothing half-captured."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attnviz.capture.run import capture
from attnviz.errors import BadInput, ModelNotFound, TooLarge
from attnviz.models import download, files, loader, registry
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from tests.support import shapes


@pytest.mark.parametrize("text", ["", "   ", "\n\t", ["fine", ""], []])
def test_empty_text(minilm: LoadedModel, text: str | list[str]) -> None:
    with pytest.raises(BadInput, match="text is empty") as caught:
        capture(minilm, text)
    assert caught.value.code == "empty_text"


@pytest.mark.parametrize("text", [3, b"bytes", ["fine", 4], {"a": 1}])
def test_not_a_string(minilm: LoadedModel, text: object) -> None:
    with shapes.unchecked(), pytest.raises(BadInput, match="give a string") as caught:
        capture(minilm, text)  # type: ignore[arg-type]
    assert caught.value.code == "not_a_string"


def test_pairs_must_match_the_texts(minilm: LoadedModel) -> None:
    with pytest.raises(BadInput, match="text has 2 entries and text_pair 1"):
        capture(minilm, ["one", "two"], ["only one"])


def test_too_long_says_both_numbers_and_can_be_cut(minilm: LoadedModel) -> None:
    text = "word " * 600
    with pytest.raises(TooLarge, match="602 tokens and minilm takes at most 512") as caught:
        capture(minilm, text)
    assert (caught.value.found, caught.value.limit) == (602, 512)
    cap = capture(minilm, text, cut=True)
    assert len(cap.tokens) == 512
    assert cap.tokens.labels[-1] == "[SEP]"


def test_a_text_of_exactly_the_limit_fits(minilm: LoadedModel) -> None:
    assert len(capture(minilm, "word " * 510).tokens) == 512


@pytest.mark.parametrize(
    "text",
    ["</script><img src=x onerror=alert(1)>", "%{x}", "a\ud800b", "\u202eabc", "👩‍👩‍👧", "\x00 x"],
)
def test_hostile_text_is_captured_as_text(minilm: LoadedModel, text: str) -> None:
    cap = capture(minilm, text)
    cap.verify().require()
    assert all(label.isprintable() or "\u200d" in label for label in cap.tokens.labels)
    "".join(cap.tokens.labels).encode()  # no surrogate survives


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("layer", (6,)), ("layer", (-1,)), ("head", (0, 12)), ("head", (0, -1)), ("batch", (0, 0))],
)
def test_out_of_range_names_the_last_one(
    minilm: LoadedModel, name: str, arguments: tuple[int, ...]
) -> None:
    cap = capture(minilm, "Two words.")
    with pytest.raises(BadInput, match=f"{name} -?[0-9]+ does not exist: .* 0( to|$)") as caught:
        cap.weights(*arguments, batch=1 if name == "batch" else 0)
    assert caught.value.code == f"bad_{name}"


def test_unknown_model_lists_those_that_exist() -> None:
    with pytest.raises(ModelNotFound) as caught:
        loader.load("gpt-17")
    for card in registry.models():
        assert card.name in str(caught.value)


def test_the_card_tells_what_the_model_is(minilm: LoadedModel) -> None:
    card = minilm.card
    assert (card.layers, card.heads) == (minilm.n_layers, minilm.n_heads)
    assert card.parameters == sum(p.numel() for p in minilm.model.parameters())
    folder = loader.packaged_folder(registry.MINILM)
    assert folder is not None
    size = (folder / files.WEIGHTS).stat().st_size
    assert card.size_mib == pytest.approx(size / 2**20, abs=0.1)


def test_damaged_weights_are_refused(tmp_path: Path) -> None:
    weights = tmp_path / files.WEIGHTS
    weights.write_bytes(b"not the model")
    with pytest.raises(ModelNotFound, match="sha256"):
        loader.check_weights(weights, registry.MINILM)
    right = hashlib.sha256(b"not the model").hexdigest()
    loader.check_weights(weights, replace(registry.MINILM, sha256=right))


def test_without_the_package_the_hub_is_tried_and_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gone = replace(registry.MINILM, distribution="a-package-that-is-not-there")
    monkeypatch.setitem(registry.REGISTRY, "minilm", gone)
    with pytest.raises(ModelNotFound, match="pip install a-package-that-is-not-there"):
        loader.load("minilm")


def test_without_the_package_the_model_says_where_it_came_from(
    monkeypatch: pytest.MonkeyPatch, minilm: LoadedModel
) -> None:
    folder = loader.packaged_folder(registry.MINILM)
    assert folder is not None
    gone = replace(registry.MINILM, distribution="a-package-that-is-not-there")
    monkeypatch.setitem(registry.REGISTRY, "minilm", gone)
    fetched = download.Snapshot(folder)  # the folder stands in for the hub
    monkeypatch.setattr(download, "fetch", lambda *_: fetched)
    loaded = loader.load("minilm")
    assert loaded.notice is not None and "from the hub" in loaded.notice
    assert loaded.key != minilm.key
    text = "The same numbers."
    np.testing.assert_array_equal(
        capture(loaded, text).all_weights(), capture(minilm, text).all_weights()
    )


def test_nbytes_is_what_the_tensors_hold(minilm: LoadedModel) -> None:
    cap = capture(minilm, "word " * 100)
    n, d_model, layers = len(cap.tokens), 384, 6
    # per layer: x, q, k, v, mixed, projected; and the last hidden state once
    expected = (6 * layers + 1) * n * d_model * 4
    assert cap.nbytes == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("model", ["translator", "dates"])
def test_a_target_beyond_the_models_positions_is_refused(model: str) -> None:
    with pytest.raises(TooLarge, match="takes at most"):
        capture(load(model), "I like red cars .", target=200 * "x")
