"""Small modules with a residual stream, whose summands can be computed by hand."""

import torch
from torch import Tensor, nn
from torch.nn import functional

VOCABULARY, WIDTH, INNER, CLASSES = 11, 6, 7, 5


class Gated(nn.Module):
    """A gated MLP as Llama has it: down(silu(gate(x)) · up(x))."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(WIDTH, INNER), nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Plain(nn.Module):
    """An MLP as BERT has it: down(gelu(up(x)))."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(functional.gelu(self.up(x)))


class PreNorm(nn.Module):
    """x + mlp(norm(x)) twice, then a norm and a head; RMS norms and gated MLPs, or GPT-2's."""

    def __init__(self, *, rms: bool = False, in_place: bool = False) -> None:
        super().__init__()
        norm = nn.RMSNorm if rms else nn.LayerNorm
        self.embed, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(13, WIDTH)
        self.norms = nn.ModuleList(norm(WIDTH) for _ in range(2))
        self.mlps = nn.ModuleList((Gated if rms else Plain)() for _ in range(2))
        self.last, self.head = norm(WIDTH), nn.Linear(WIDTH, CLASSES)
        self.in_place = in_place

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids) + self.places(torch.arange(ids.shape[1]))
        for norm, mlp in zip(self.norms, self.mlps, strict=True):
            written = mlp(norm(x))
            x = written.add_(x) if self.in_place else x + written
        return self.head(self.last(x))


class PostNorm(nn.Module):
    """norm(x + mlp(x)) twice, as BERT has it."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.mlps = nn.ModuleList(Plain() for _ in range(2))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)
        for norm, mlp in zip(self.norms, self.mlps, strict=True):
            x = norm(x + mlp(x))
        return x


def seeded(module: nn.Module) -> nn.Module:
    """The module with random parameters, norms and biases included."""
    draws = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=draws))
    return module.eval()


IDS = torch.tensor([[3, 1, 4], [1, 5, 9]])
