"""Self- or cross-attention: told by where both sides come from, by a name where that is open."""

import pytest
import torch
from torch import Tensor, nn

from attnviz.attention.projection import Projection, WrittenLayer
from attnviz.capture.locate.structure import kind_of
from attnviz.types import Kind

STATES = torch.randn(1, 12, 4)
TEXT, PICTURE = STATES[:, :5], STATES[:, 5:]


def layer(made_from: Tensor) -> Projection:
    return Projection("layer", WrittenLayer(torch.eye(4)), made_from, made_from, (0,))


@pytest.mark.parametrize(
    ("name", "queries", "keys", "kind"),
    [
        ("layer.attn", STATES, STATES, "self"),
        ("layer.crossattention", STATES, STATES, "self"),  # whatever it is called
        ("layer.attn", STATES[:, ::2], STATES, "self"),  # every second query
        ("layer.attn", torch.randn(1, 5, 4), torch.randn(1, 7, 4), "cross"),
        ("layer.attn", TEXT, PICTURE, "cross"),  # joined in memory, not the same numbers
        ("layer.attn", torch.randn(1, 5, 4), torch.randn(1, 5, 4), "self"),  # positions added
        ("layer.crossattention", torch.randn(1, 5, 4), torch.randn(1, 5, 4), "cross"),
        ("layer.noncrossattention", torch.randn(1, 5, 4), torch.randn(1, 5, 4), "self"),
        ("decoder.final_attn_token_to_image", STATES[:, :0], STATES[:, :0], "cross"),
    ],
)
def test_the_kind_follows_the_data(name: str, queries: Tensor, keys: Tensor, kind: Kind) -> None:
    assert kind_of(nn.Module(), name, {"q": layer(queries), "k": layer(keys)}) == kind


@pytest.mark.parametrize(("declared", "kind"), [(True, "cross"), (False, "self")])
def test_what_a_module_declares_goes_first(declared: bool, kind: Kind) -> None:
    module = nn.Module()
    module.is_cross_attention = declared  # type: ignore[assignment]
    assert kind_of(module, "attn", {"q": layer(TEXT), "k": layer(TEXT)}) == kind


@pytest.mark.parametrize(("name", "kind"), [("encoder_attn", "cross"), ("attn", "self")])
def test_a_name_is_asked_where_no_layer_was_found(name: str, kind: Kind) -> None:
    assert kind_of(nn.Module(), f"layers.0.{name}", {}) == kind
