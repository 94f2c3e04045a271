"""Where the tokens of a window are: one patch at a time is marked, and seen where it arrives."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import attnviz
from attnviz.attention.capture import Capture
from attnviz.vision.windows import Windows
from tests.support import folders

PICTURE = np.random.default_rng(3).integers(0, 256, (40, 40, 3), dtype=np.uint8)


@pytest.fixture(scope="module", params=["swin", "swinv2"])
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A model with windows, from its folder."""
    folder: Path = tmp_path_factory.mktemp("windows") / request.param
    return attnviz.load(folders.save(folder, request.param))


def arrival(loaded: Any, capture: Capture, layer: int, place: tuple[int, int]) -> tuple[int, int]:
    """(window, token) at which a marked patch reaches the attention of a layer."""
    call = capture.calls[layer]
    modules = dict(loaded.model.named_modules())
    attention = modules[call.module]
    block = modules[call.module[: call.module.index(".attention")]]
    columns, found = call.windows.grid[1], []

    def mark(_: object, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        marked = torch.zeros_like(args[0])
        marked[0, place[0] * columns + place[1]] = torch.arange(marked.shape[-1]).float()
        return marked, *args[1:]

    def arrived(_: object, args: tuple[torch.Tensor, ...], given: dict[str, Any]) -> None:
        entered = (args or tuple(given.values()))[0]
        found.extend(entered.abs().sum(-1).nonzero().tolist())

    handles = [
        block.register_forward_pre_hook(mark),
        attention.register_forward_pre_hook(arrived, with_kwargs=True),
    ]
    # nothing stays nothing on the way: norms of random models have no bias
    attnviz.capture(loaded, image=PICTURE)
    for handle in handles:
        handle.remove()
    (one,) = found
    return one[0], one[1]


@pytest.mark.some(1)
@pytest.mark.parametrize("n_places", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_tokens_are_named_by_where_they_are(loaded: Any, n_places: int) -> None:
    capture = attnviz.capture(loaded, image=PICTURE)
    assert capture.verify().ok
    for layer in range(5):
        windows = capture.calls[layer].windows
        assert windows is not None and windows.grid is not None
        rows, columns = windows.grid
        places = [(rows // 2, columns - 1), (0, 0), (rows - 1, 0), (1, columns // 2)]
        for place in set(places[:n_places]):
            window, token = arrival(loaded, capture, layer, place)
            assert windows.places(window)[token] == place
            named = capture.query_tokens(capture.calls[layer], window)
            assert named.labels[token] == f"r{place[0]}c{place[1]}"


@pytest.mark.some(1)
def test_the_windows_of_two_pictures_follow_one_another(loaded: Any) -> None:
    one = attnviz.capture(loaded, image=PICTURE)
    two = attnviz.capture(loaded, image=[np.zeros_like(PICTURE), PICTURE])
    count = one.calls[0].windows.count
    assert two.calls[0].windows == one.calls[0].windows
    assert two.calls[0].n_batch == 2 * count
    ours, theirs = (of.calls[0].weights(batch=at) for of, at in ((one, 2), (two, count + 2)))
    assert torch.allclose(ours, theirs, atol=1e-6)
    tokens = [of.query_tokens(of.calls[0], at) for of, at in ((one, 2), (two, count + 2))]
    assert tokens[0].labels == tokens[1].labels


def test_windows_that_stay_where_they_are(tmp_path: Path) -> None:
    """6 × 6 patches in 2 × 2 windows of 4, then one layer over the whole picture."""
    loaded = attnviz.load(folders.save(tmp_path / "vitdet", "vitdet"))
    capture = attnviz.capture(loaded, image=PICTURE)
    windowed, whole = capture.calls
    assert whole.windows == Windows(1, 6, 0, (6, 6))
    assert capture.query_tokens(whole).labels[-1] == "r5c5"
    assert windowed.windows == Windows(4, 4, 0, (6, 6))
    block = loaded.model.get_submodule(windowed.module.rpartition(".")[0])
    attention = loaded.model.get_submodule(windowed.module)
    for place in ((0, 0), (3, 4), (5, 1), (4, 5)):
        found: list[list[int]] = []

        def mark(
            _: object, args: tuple[torch.Tensor, ...], at: tuple[int, int] = place
        ) -> tuple[torch.Tensor, ...]:
            marked = torch.zeros_like(args[0])  # [batch, channel, row, column]
            marked[0, :, at[0], at[1]] = torch.arange(marked.shape[1]).float()
            return marked, *args[1:]

        def arrived(
            _: object, args: tuple[torch.Tensor, ...], into: list[list[int]] = found
        ) -> None:
            into.extend(args[0].abs().sum(-1).flatten(1).nonzero().tolist())

        handles = [
            block.register_forward_pre_hook(mark),
            attention.register_forward_pre_hook(arrived),
        ]
        attnviz.capture(loaded, image=PICTURE)
        for handle in handles:
            handle.remove()
        ((window, token),) = found
        assert windowed.windows.places(window)[token] == place
