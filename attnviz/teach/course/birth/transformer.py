"""The tiny transformer: two layers of attention and nothing else, so that its circuit can be read.

In: token ids. Out: a logit for each letter that may follow. Each layer adds the output of its two
heads to the residual stream: x + W_O·concat(heads). Positions are added to the input of queries and
keys, not to the stream: values carry letters, never positions (Press et al. 2021). Its attention
goes through torch's fused kernel, and `attnviz.record` finds q, k, v and their projections.
"""

from typing import cast

import torch
from jaxtyping import Float, Int64
from torch import Generator, Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from torch.nn.utils import skip_init

from attnviz.teach.course.birth.alphabet import LETTERS, MAX_LETTERS

LAYERS, HEADS, D_MODEL = 2, 2, 64
D_HEAD = D_MODEL // HEADS
POSITION_STD = 0.7


class TinyAttention(nn.Module):
    """Causal self-attention of two heads."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.out = (_linear(D_MODEL) for _ in range(4))

    def forward(
        self, x: Float[Tensor, "batch token d_model"], places: Float[Tensor, "token d_model"]
    ) -> Float[Tensor, "batch token d_model"]:
        """The output of the heads; positions reach queries and keys, not values."""
        positioned = x + places
        q, k, v = (
            projected.unflatten(2, (HEADS, D_HEAD)).transpose(1, 2)  # [batch, head, token, d_head]
            for projected in (self.q(positioned), self.k(positioned), self.v(x))
        )
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
        output: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return output


class TinyLayer(nn.Module):
    """The residual stream plus the output of attention."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(D_MODEL)
        self.attention = TinyAttention()

    def forward(
        self, x: Float[Tensor, "batch token d_model"], places: Float[Tensor, "token d_model"]
    ) -> Float[Tensor, "batch token d_model"]:
        """The stream after this layer."""
        stream: Tensor = x + self.attention(self.norm(x), places)
        return stream


class TinyTransformer(nn.Module):
    """Letters in, logits of the next letter out."""

    def __init__(self) -> None:
        super().__init__()
        self.letters = skip_init(nn.Embedding, len(LETTERS), D_MODEL)  # type: ignore[no-untyped-call]
        self.places = nn.Parameter(torch.zeros(MAX_LETTERS, D_MODEL))
        self.layers = nn.ModuleList(TinyLayer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(D_MODEL)
        self.scores = _linear(len(LETTERS))

    def forward(
        self, tokens: Int64[Tensor, "batch token"]
    ) -> Float[Tensor, "batch token vocabulary"]:
        """The logits of the next letter, after each token."""
        stream = self.letters(tokens)
        for layer in self.layers:
            stream = layer(stream, self.places[: tokens.shape[1]])
        logits: Tensor = self.scores(self.norm(stream))
        return logits

    def attention(self, layer: int) -> TinyAttention:
        """The attention of one layer."""
        return cast(TinyLayer, self.layers[layer]).attention


def untrained(draw: Generator) -> TinyTransformer:
    """A transformer whose weights are drawn from `draw` alone; torch's global state is not used."""
    model = TinyTransformer()
    width = D_MODEL**-0.5
    with torch.no_grad():
        model.letters.weight.normal_(generator=draw)
        model.places.normal_(std=POSITION_STD, generator=draw)
        for module in model.modules():
            if isinstance(module, nn.Linear):
                module.weight.uniform_(-width, width, generator=draw)
    return model


def _linear(d_out: int) -> nn.Linear:
    """A linear layer without a bias whose weights are yet to be drawn."""
    layer = skip_init(nn.Linear, D_MODEL, d_out, bias=False)  # type: ignore[no-untyped-call]
    return cast(nn.Linear, layer)
