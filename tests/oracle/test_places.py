"""Where keys are that a model made coarser: a patch is changed, and seen in the keys that move."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import attnviz
from attnviz.attention.call import AttentionCall
from attnviz.models.loaded_model import LoadedModel
from tests.support import folders

PICTURE = np.random.default_rng(7).integers(0, 256, (64, 64, 3), dtype=np.uint8)
WIDE = (64, 96)
COARSE = {"segformer": 3, "pvt": 3, "pvt_v2": 3, "pvt_v2_pooled": 4, "glpn": 3, "cvt": 6}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], LoadedModel]:
    """A tiny model by name, from its folder, opened once."""
    known: dict[str, LoadedModel] = {}

    def model(name: str) -> LoadedModel:
        if name not in known:
            folder = tmp_path_factory.mktemp("coarse") / name
            known[name] = attnviz.load(folders.save(folder, name))
        return known[name]

    return model


def seen_inside(
    lm: LoadedModel, call: AttentionCall, pixels: Tensor, token: int | None
) -> AttentionCall:
    """The call again, with one token changed where its attention module begins."""

    def mark(_: nn.Module, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
        entered = args[0] if args else given["hidden_states"]
        changed = entered.clone()
        if token is not None:
            changed[0, token] += torch.linspace(1, 3, entered.shape[-1])
        return ((changed, *args[1:]), given) if args else (args, given | {"hidden_states": changed})

    module = lm.model.get_submodule(call.module)
    handle = module.register_forward_pre_hook(mark, with_kwargs=True)
    again = attnviz.capture(lm, inputs={"pixel_values": pixels})
    handle.remove()
    return next(of for of in again.calls if (of.module, of.index) == (call.module, call.index))


def moved(before: Tensor, after: Tensor) -> set[int]:
    """Which tokens of [batch, head, token, d_head] differ."""
    return set((before - after).abs().amax((0, 1, 3)).gt(1e-6).nonzero().flatten().tolist())


@pytest.mark.some(1)
@pytest.mark.parametrize("n_calls", [1, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", COARSE)
def test_a_key_is_the_block_that_changes_it(
    opened: Callable[[str], LoadedModel], name: str, n_calls: int
) -> None:
    lm = opened(name)
    height, width = (64, 64) if name == "pvt" else WIDE
    pixels = torch.randn(1, 3, height, width, generator=torch.Generator().manual_seed(2))
    capture = attnviz.capture(lm, inputs={"pixel_values": pixels})
    assert capture.verify().ok
    assert {call.kind for call in capture.calls} == {"self"}
    assert [call.layer for call in capture.calls] == list(range(len(capture.calls)))
    coarse = [call for call in capture.calls if call.key_places.coarse]
    assert len(coarse) == COARSE[name]
    for call in coarse[:n_calls]:
        queries, keys = call.query_places, call.key_places
        assert queries.grid == keys.grid and queries.grid[0] * width == queries.grid[1] * height
        plain = seen_inside(lm, call, pixels, None)
        for token in (0, call.n_query // 2, call.n_query - 1):
            marked = seen_inside(lm, call, pixels, token)
            assert moved(plain.inputs.key, marked.inputs.key) == inside(
                keys.boxes(), queries.boxes()[token]
            )
            found = moved(plain.inputs.query, marked.inputs.query)
            assert token in found and (found == {token} or name == "cvt")
        labels = capture.key_tokens(call).labels
        assert labels[-1] == f"r{keys.shape[0] - 1}c{keys.shape[1] - 1} block"


def inside(boxes: Any, patch: Any) -> set[int]:
    """The tokens whose boxes have a patch in them; the token beside the picture is its own key."""
    if patch is None:
        assert boxes[0] is None
        return {0}
    top, left = patch[:2]
    return {
        token
        for token, box in enumerate(boxes)
        if box is not None and box[0] <= top < box[2] and box[1] <= left < box[3]
    }


@pytest.mark.parametrize("own", [True, False])
def test_coarser_keys_of_another_picture_are_cross_attention(
    opened: Callable[[str], LoadedModel], own: bool
) -> None:
    """The same modules and sizes: only what the keys are made of differs."""
    lm = opened("segformer")

    def swap(_: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return (args[0] if own else args[0].flip(1), *args[1:])

    reductions = [of for name, of in lm.model.named_modules() if name.endswith("_reduction")]
    handles = [of.register_forward_pre_hook(swap) for of in reductions[:1]]
    capture = attnviz.capture(lm, image=PICTURE)
    for handle in handles:
        handle.remove()
    first, *others = capture.calls
    assert (first.n_query, first.n_key) == (256, 4)
    assert first.kind == ("self" if own else "cross")
    assert (first.key_places is not None) == own
    assert {call.kind for call in others} == {"self"}


@pytest.mark.some(1)
@pytest.mark.parametrize("name", ["blip", "marian", "t5"])
def test_cross_attention_stays_what_it_is(opened: Callable[[str], LoadedModel], name: str) -> None:
    lm = opened(name)
    given: dict[str, Any] = {"target": "a cat slept"} if name != "blip" else {"image": PICTURE}
    capture = attnviz.capture(lm, "the cat sat on a mat", **given)
    kinds = [call.kind for call in capture.calls if call.n_query != call.n_key]
    assert kinds and set(kinds) == {"cross"}
    assert all(call.key_places is None for call in capture.calls)


def unrolled(lm: LoadedModel, call: AttentionCall) -> list[int]:
    """Which place of the picture each token that enters a layer is: the model's own way there."""
    from transformers.models.hiera.modeling_hiera import unroll

    rows, columns = call.key_places.grid
    (schedule,) = {
        tuple(map(tuple, steps))
        for steps, size in lm.model.hiera.encoder.schedule.values()
        if list(size) == [rows, columns]
    }
    numbers = torch.arange(rows * columns).view(1, -1, 1)
    return unroll(numbers, [rows, columns], [1, 1], [list(each) for each in schedule])[
        0, :, 0
    ].tolist()


def windows_moved(before: Tensor, after: Tensor) -> list[list[int]]:
    """(window, token) of what differs in [window, head, token, d_head]."""
    return (before - after).abs().amax((1, 3)).gt(1e-6).nonzero().tolist()


@pytest.mark.slow
@pytest.mark.parametrize("n_tokens", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_unrolled_tokens_are_where_the_model_says(
    opened: Callable[[str], LoadedModel], n_tokens: int
) -> None:
    lm = opened("hiera")
    pixels = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(4))
    capture = attnviz.capture(lm, inputs={"pixel_values": pixels})
    assert capture.verify().ok
    assert [call.n_batch for call in capture.calls] == [4, 4, 4, 4, 1, 1]
    assert [call.query_places.coarse for call in capture.calls] == [False, True] * 3
    for call in capture.calls:
        order, plain = unrolled(lm, call), seen_inside(lm, call, pixels, None)
        columns = call.key_places.grid[1]
        for token in (len(order) // 3, 0, len(order) - 2)[:n_tokens]:
            row, column = divmod(order[token], columns)
            marked = seen_inside(lm, call, pixels, token)
            ((window, key),) = windows_moved(plain.inputs.key, marked.inputs.key)
            assert call.key_places.boxes(window)[key] == (row, column, row + 1, column + 1)
            assert capture.key_tokens(call, window).labels[key] == f"r{row}c{column}"
            ((window, query),) = windows_moved(plain.inputs.query, marked.inputs.query)
            top, left, bottom, right = call.query_places.boxes(window)[query]
            assert top <= row < bottom and left <= column < right


def test_pixels_arrive_where_they_are_said_to(opened: Callable[[str], LoadedModel]) -> None:
    """A patch of 4 × 4 pixels is read by its own token and by those below and to the right."""
    lm = opened("hiera")
    pixels = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(4))
    before = attnviz.capture(lm, inputs={"pixel_values": pixels}).calls[0]
    changed = pixels.clone()
    changed[0, :, 20:24, 44:48] += 1
    after = attnviz.capture(lm, inputs={"pixel_values": changed}).calls[0]
    found = windows_moved(before.inputs.key, after.inputs.key)
    boxes = {before.key_places.boxes(window)[key][:2] for window, key in found}
    assert boxes == {(5, 11), (5, 12), (6, 11), (6, 12)}


@pytest.mark.slow
def test_what_cannot_be_verified_keeps_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = attnviz.load(folders.save(tmp_path / "hiera", "hiera"))
    encoder = lm.model.hiera.encoder
    first = encoder.stages[0].layers[0].attn.qkv
    handle = first.register_forward_hook(lambda *given: given[2] * given[2])
    bent = attnviz.capture(lm, image=PICTURE)
    handle.remove()
    assert bent.calls[0].query_places is None
    assert bent.query_tokens(bent.calls[0]).labels[:2] == ("0", "1")
    assert bent.calls[1].query_places is not None
    lm, reroll = attnviz.load(tmp_path / "hiera"), type(encoder).reroll

    def mixed(self: Any, tokens: Tensor, stage: int) -> Tensor:
        return reroll(self, tokens.flip(1).roll(3, 1), stage)

    monkeypatch.setattr(
        type(encoder), "reroll", lambda self, of, stage_idx: mixed(self, of, stage_idx)
    )
    wrong = attnviz.capture(lm, image=PICTURE)
    assert all(call.query_places is None for call in wrong.calls if call.n_batch > 1)
