"""Sets of named masks: their text form, what they block, and which of them a model ran with."""

from itertools import combinations, product

import pytest
import torch

from attnviz import masks
from attnviz.errors import BadInput
from attnviz.masks.recognition import ObservedMask, named_masks
from attnviz.masks.spec import MASK_NAMES, MaskName, MaskSet, Stroke, parse, write

N = 11
STROKES = (Stroke(True, 1, 2, 3, 5), Stroke(False, 2, 3, 2, 3))
SIZES: dict[MaskName, int] = {"window": 3, "prefix": 2, "block": 5}


def cell_is_blocked(name: str, query: int, key: int, pads: set[int]) -> bool:
    """Each mask by its definition, cell by cell."""
    return {
        "padding": key in pads,
        "causal": key > query,
        "window": abs(query - key) >= SIZES["window"],
        "prefix": key > query and key >= SIZES["prefix"],
        "block": query // SIZES["block"] != key // SIZES["block"],
        "custom": 1 <= query <= 3 and 2 <= key <= 5 and (query, key) != (2, 3),
    }[name]


@pytest.mark.parametrize(
    "text",
    [
        "none",
        "padding",
        "padding,causal,window=3",
        "prefix=2,block=5",
        "causal,custom=+1.2:3.5-2.3:2.3",
        "custom",
    ],
)
def test_a_set_is_read_as_it_is_written(text: str) -> None:
    written = write(parse(text))
    assert write(parse(written)) == written
    assert written.rstrip("=") == text


def test_masks_stand_in_one_order() -> None:
    assert write(parse("window=4,padding")) == "padding,window=4"


@pytest.mark.parametrize(
    "nonsense",
    [
        "",
        "sideways",
        "window",
        "window=0",
        "window=-1",
        "window=1e9",
        "causal=3",
        "custom=+1.2",
        "custom=1.2:3.4",
        "custom=" + "+0.0:0.0" * 65,
        "padding," * 400,
    ],
)
def test_nonsense_is_refused(nonsense: str) -> None:
    with pytest.raises(BadInput) as raised:
        parse(nonsense)
    assert raised.value.code == "bad_masks"


@pytest.mark.parametrize("n_on", range(len(MASK_NAMES) + 1))
def test_who_blocks_a_cell_is_its_definition(n_on: int) -> None:
    """All combinations of the six masks, every cell."""
    pads = {8, 9, 10}
    keep = torch.tensor([key not in pads for key in range(N)])
    for on in combinations(MASK_NAMES, n_on):
        layers = masks.named(MaskSet(on, SIZES, STROKES), N, keep)
        assert tuple(layers) == on
        if not on:
            continue
        bits = masks.blockers(layers)
        for query, key in product(range(N), range(N)):
            wanted = sum(
                1 << bit for bit, name in enumerate(on) if cell_is_blocked(name, query, key, pads)
            )
            assert int(bits[query, key]) == wanted, (on, query, key)


@pytest.mark.parametrize(
    "text",
    [
        "padding",
        "padding,causal",
        "padding,causal,window=3",
        "padding,window=4",
        "padding,prefix=3",
        "padding,causal,block=4",
        "padding,block=4",
    ],
)
@pytest.mark.parametrize("n_pads", [0, 2])
def test_a_models_mask_is_named(text: str, n_pads: int) -> None:
    real = torch.arange(N) < N - n_pads
    whole = torch.ones(N, dtype=torch.bool)
    batch = []
    for keep in (real, whole):
        layers = masks.named(parse(text), N, keep)
        batch.append(ObservedMask(masks.combine(*layers.values()), keep, keep))
    found = named_masks(batch)
    assert found is not None and write(found) == text


def test_the_simplest_name_is_given() -> None:
    """A window as wide as the text blocks nothing, so it is not named."""
    whole = torch.ones(N, dtype=torch.bool)
    ran = ObservedMask(masks.causal(N, N) & masks.window(N, N, N), whole, whole)
    assert write(named_masks([ran]) or MaskSet()) == "padding,causal"


def test_a_mask_without_a_name_gets_none() -> None:
    whole = torch.ones(N, dtype=torch.bool)
    odd = masks.causal(N)
    odd[7, 2] = False
    assert named_masks([ObservedMask(odd, whole, whole)]) is None


def test_order_means_nothing_across_two_texts() -> None:
    """A causal mask between two texts has no such name."""
    queries, keys = torch.ones(4, dtype=torch.bool), torch.ones(6, dtype=torch.bool)
    assert named_masks([ObservedMask(masks.causal(4, 6), queries, keys)], cross=True) is None
    open_cells = torch.ones(4, 6, dtype=torch.bool)
    found = named_masks([ObservedMask(open_cells, queries, keys)], cross=True)
    assert found is not None and found.on == ("padding",)
