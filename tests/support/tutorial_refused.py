"""Attention of tutorials and papers that is no softmax over keys: it has to be refused by name."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.support.tutorial_attention import DH, Base, D, H


class TalkingHeads(Base):
    """Heads mixed after the softmax (Shazeer et al. 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.talk = nn.Parameter(torch.randn(H, H))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        weights = torch.einsum("bhqk,hg->bgqk", (q @ k.mT).softmax(-1), self.talk)
        return self.joined(weights @ v)


class Differential(Base):
    """The difference of two softmaxes (Ye et al. 2024)."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        (q1, q2), (k1, k2) = q.chunk(2, -1), k.chunk(2, -1)
        return self.joined(((q1 @ k1.mT).softmax(-1) - 0.3 * (q2 @ k2.mT).softmax(-1)) @ v)


class Efficient(Base):
    """Linear attention: a softmax of q over features, of k over tokens (Shen et al. 2021)."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        return self.joined(q.softmax(-1) @ (k.softmax(-2).mT @ v))


class LinearElu(Base):
    """Linear attention by a feature map (Katharopoulos et al. 2020)."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        q, k = functional.elu(q) + 1, functional.elu(k) + 1
        norm = 1 / (q @ k.sum(2)[..., None])
        return self.joined(q @ (k.mT @ v) * norm)


class Sigmoid(Base):
    """Sigmoid in place of the softmax (Ramapuram et al. 2024)."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        return self.joined((q @ k.mT / DH**0.5 - math.log(x.shape[1])).sigmoid() @ v)


class Pointer(Base):
    """The softmax itself is the answer (Vinyals et al. 2015)."""

    def forward(self, x: Tensor) -> Tensor:
        return (self.to_q(x) @ self.to_k(x).mT).softmax(-1)


class Synthesizer(Base):
    """Weights computed by a layer from each token alone (Tay et al. 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(D, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.to_out(self.dense(x).softmax(-1) @ self.to_v(x))


class Learned(Base):
    """Weights that are a parameter (the random Synthesizer of Tay et al. 2020)."""

    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Parameter(torch.randn(H, 5, 5))

    def forward(self, x: Tensor) -> Tensor:
        return self.joined(self.scores.softmax(-1) @ self.split(self.to_v(x)))


class Halved(Base):
    """Weights scaled after the softmax."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        return self.joined((q @ k.mT).softmax(-1) * 0.5 @ v)


class Elementwise(Base):
    """The sum of weighted values, written without a matrix product."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        return self.joined(((q @ k.mT).softmax(-1)[..., None] * v[:, :, None]).sum(-2))


class OverHeads(Base):
    """The commonest mistake of homework: `softmax(dim=1)` of [batch, head, query, key]."""

    axis = 1

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        return self.joined((q @ k.mT / DH**0.5).softmax(self.axis) @ v)


class OverQueries(OverHeads):
    """A softmax over each column instead of each row."""

    axis = 2


class OverTexts(OverHeads):
    """A softmax over the batch."""

    axis = 0


# the axis that each runs over, by the name that its reason gives it
WRONG_AXIS: dict[type[OverHeads], str] = {
    OverHeads: "heads",
    OverQueries: "queries",
    OverTexts: "texts of the batch",
}
REFUSED: tuple[type[nn.Module], ...] = (
    TalkingHeads,
    Differential,
    Efficient,
    LinearElu,
    Sigmoid,
    Pointer,
    Synthesizer,
    Learned,
    Halved,
    Elementwise,
    *WRONG_AXIS,
)
