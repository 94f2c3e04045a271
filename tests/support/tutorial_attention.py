"""Attention as tutorials and papers write it, each with its own weights as the truth.

Every class keeps the weights [batch, head, query, key] that multiplied its values in `truth`; None
where there is no softmax over keys that multiplies values, so that it has to be refused.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

D, H = 12, 3
DH = D // H


class Base(nn.Module):
    """Three layers and one behind, heads of width 4."""

    def __init__(self) -> None:
        super().__init__()
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(D, D) for _ in range(4))
        self.truth: Tensor | None = None

    def split(self, x: Tensor) -> Tensor:
        """[batch, head, token, d] of [batch, token, width]."""
        return x.unflatten(-1, (H, DH)).transpose(1, 2)

    def heads(self, x: Tensor) -> list[Tensor]:
        """q, k and v of one tensor."""
        return [self.split(layer(x)) for layer in (self.to_q, self.to_k, self.to_v)]

    def keep(self, weights: Tensor) -> Tensor:
        """The weights, kept as the truth."""
        self.truth = weights.detach().clone()
        return weights

    def joined(self, mixed: Tensor) -> Tensor:
        """W_O of the heads side by side."""
        out: Tensor = self.to_out(mixed.transpose(1, 2).flatten(2))
        return out


class MultiQuery(Base):
    """One key and value head for all queries (Shazeer 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.to_k, self.to_v = nn.Linear(D, DH), nn.Linear(D, DH)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.split(self.to_q(x)), self.to_k(x), self.to_v(x)
        weights = self.keep(torch.einsum("bhqd,bkd->bhqk", q, k).div(DH**0.5).softmax(-1))
        return self.joined(torch.einsum("bhqk,bkd->bhqd", weights, v))


class GroupedQuery(Base):
    """One key and value head for several queries (Ainslie et al. 2023)."""

    def __init__(self) -> None:
        super().__init__()
        self.to_q, self.to_out = nn.Linear(D, 4 * DH), nn.Linear(4 * DH, D)
        self.to_k, self.to_v = nn.Linear(D, 2 * DH), nn.Linear(D, 2 * DH)

    def forward(self, x: Tensor) -> Tensor:
        q = self.to_q(x).unflatten(-1, (4, DH)).transpose(1, 2)
        k, v = (
            layer(x).unflatten(-1, (2, DH)).transpose(1, 2).repeat_interleave(2, 1)
            for layer in (self.to_k, self.to_v)
        )
        weights = self.keep((q @ k.mT / DH**0.5).softmax(-1))
        return self.joined(weights @ v)


class GroupedEinsum(Base):
    """Groups and the queries that share their keys apart, as grouped einsums have them."""

    names = "bigrd,bjgd->bgrij", "bgrij,bjgd->bigrd"

    def __init__(self) -> None:
        super().__init__()
        self.to_q, self.to_out = nn.Linear(D, 6 * DH), nn.Linear(6 * DH, D)
        self.to_k, self.to_v = nn.Linear(D, 2 * DH), nn.Linear(D, 2 * DH)

    def forward(self, x: Tensor) -> Tensor:
        q = self.to_q(x).unflatten(-1, (2, 3, DH))
        k, v = (layer(x).unflatten(-1, (2, DH)) for layer in (self.to_k, self.to_v))
        weights = (torch.einsum(self.names[0], q, k) / DH**0.5).softmax(-1)
        weights = self.keep(weights.flatten(1, 2)).unflatten(1, (2, 3))
        out: Tensor = self.to_out(torch.einsum(self.names[1], weights, v).flatten(2))
        return out


class GroupedLast(GroupedEinsum):
    """The same with neighbouring columns of W_Q in different groups: heads go by their columns."""

    def forward(self, x: Tensor) -> Tensor:
        q = self.to_q(x).unflatten(-1, (3, 2, DH))
        k, v = (layer(x).unflatten(-1, (2, DH)) for layer in (self.to_k, self.to_v))
        weights = (torch.einsum("birgd,bjgd->bgrij", q, k) / DH**0.5).softmax(-1)
        weights = self.keep(weights.transpose(1, 2).flatten(1, 2)).unflatten(1, (3, 2))
        weights = weights.transpose(1, 2)
        out: Tensor = self.to_out(torch.einsum("bgrij,bjgd->birgd", weights, v).flatten(2))
        return out


class GroupedRotary(GroupedEinsum):
    """Grouped queries turned after their layer: the number of heads that is declared tells them."""

    def __init__(self) -> None:
        super().__init__()
        self.num_heads = 6

    def forward(self, x: Tensor) -> Tensor:
        turned = torch.arange(x.shape[1]).cos()[None, :, None, None, None] + 2
        q = self.to_q(x).unflatten(-1, (2, 3, DH)) * turned
        k, v = (layer(x).unflatten(-1, (2, DH)) for layer in (self.to_k, self.to_v))
        weights = (torch.einsum(self.names[0], q, k * turned[:, :, 0]) / DH**0.5).softmax(-1)
        weights = self.keep(weights.flatten(1, 2)).unflatten(1, (2, 3))
        out: Tensor = self.to_out(torch.einsum(self.names[1], weights, v).flatten(2))
        return out


class Absorbed(Base):
    """Keys and values of all heads in one narrow vector; W_K is multiplied into q (DeepSeek-V2)."""

    def __init__(self) -> None:
        super().__init__()
        self.to_v, self.rotated = nn.Linear(D, 5), nn.Linear(D, 2)
        self.num_heads = H
        self.of_key, self.of_value = (nn.Parameter(torch.randn(H, DH, 5)) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        q, narrow, k = self.to_q(x).unflatten(-1, (H, DH)), self.to_v(x), self.rotated(x).cos()
        absorbed = torch.einsum("bihd,hdr->bihr", q, self.of_key)
        scores = torch.einsum("bihr,bjr->bhij", absorbed, narrow)
        scores = scores + torch.einsum("bihr,bjr->bhij", q[..., :2].sin(), k)
        weights = self.keep((scores / DH**0.5).softmax(-1))
        mixed = torch.einsum("bhij,bjr->bihr", weights, narrow)
        out: Tensor = self.to_out(torch.einsum("bihr,hdr->bihd", mixed, self.of_value).flatten(2))
        return out


class ALiBi(Base):
    """A linear bias by distance (Press et al. 2022)."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        places = torch.arange(x.shape[1])
        slopes = 2.0 ** -torch.arange(1, H + 1)
        bias = -(places[:, None] - places).abs() * slopes[:, None, None]
        return self.joined(self.keep((q @ k.mT / DH**0.5 + bias).softmax(-1)) @ v)


class Relative(Base):
    """Learned vectors by distance, for keys and for values (Shaw et al. 2018)."""

    def __init__(self) -> None:
        super().__init__()
        self.of_key, self.of_value = nn.Embedding(19, DH), nn.Embedding(19, DH)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        n = x.shape[1]
        places = torch.arange(n)[:, None] - torch.arange(n) + 9
        scores = q @ k.mT + torch.einsum("bhqd,qkd->bhqk", q, self.of_key(places))
        weights = self.keep((scores / DH**0.5).softmax(-1))
        more = torch.einsum("bhqk,qkd->bhqd", weights, self.of_value(places))
        return self.joined(weights @ v + more)


class Rotary(Base):
    """q and k rotated by their places (Su et al. 2021)."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        angles = torch.outer(torch.arange(x.shape[1]).float(), 100.0 ** -torch.arange(DH // 2))
        cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)

        def turned(t: Tensor) -> Tensor:
            left, right = t.chunk(2, -1)
            return t * cos + torch.cat([-right, left], -1) * sin

        return self.joined(self.keep((turned(q) @ turned(k).mT / DH**0.5).softmax(-1)) @ v)


class Local(Base):
    """Only neighbours are visible (a sliding window)."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        places = torch.arange(x.shape[1])
        far = (places[:, None] - places).abs() > 1
        scores = (q @ k.mT / DH**0.5).masked_fill(far, -torch.inf)
        return self.joined(self.keep(scores.softmax(-1)) @ v)


class TopK(Base):
    """Only the two largest scores of each query (sparse attention)."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        scores = q @ k.mT / DH**0.5
        least = scores.topk(2, dim=-1).values[..., -1:]
        weights = self.keep(scores.masked_fill(scores < least, -torch.inf).softmax(-1))
        return self.joined(weights @ v)


class Memory(Base):
    """Learned keys and values beside those of the text (Sukhbaatar et al. 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = nn.Parameter(torch.randn(2, H, 2, DH))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        more = self.memory[:, None].expand(-1, len(x), -1, -1, -1)
        k, v = torch.cat([k, more[0]], 2), torch.cat([v, more[1]], 2)
        return self.joined(self.keep((q @ k.mT / DH**0.5).softmax(-1)) @ v)


class Perceiver(Base):
    """Learned queries read the text (Jaegle et al. 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.latents = nn.Parameter(torch.randn(2, D))

    def forward(self, x: Tensor) -> Tensor:
        q = self.split(self.to_q(self.latents.expand(len(x), -1, -1)))
        k, v = self.split(self.to_k(x)), self.split(self.to_v(x))
        return self.joined(self.keep((q @ k.mT / DH**0.5).softmax(-1)) @ v)


class SetPooling(Base):
    """A set transformer's seed that attends in batches joined head by head (Lee et al. 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.seed = nn.Parameter(torch.randn(1, 2, D))

    def forward(self, x: Tensor) -> Tensor:
        n = len(x)
        q, k, v = self.to_q(self.seed.repeat(n, 1, 1)), self.to_k(x), self.to_v(x)
        q, k, v = (torch.cat(t.split(DH, 2), 0) for t in (q, k, v))
        weights = torch.softmax(q.bmm(k.transpose(1, 2)) / math.sqrt(D), 2)
        self.keep(weights.unflatten(0, (H, n)).transpose(0, 1))
        mixed = torch.cat((q + weights.bmm(v)).split(n, 0), 2)
        return mixed + functional.relu(self.to_out(mixed))


class Gated(Base):
    """A gate on the mixed values (gated attention)."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        mixed = self.keep((q @ k.mT / DH**0.5).softmax(-1)) @ v
        out: Tensor = self.to_out(mixed.transpose(1, 2).flatten(2) * self.gate(x).sigmoid())
        return out


class SingleHead(Base):
    """One head of the whole width, as a first lesson writes it."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        weights = functional.softmax(torch.bmm(q, k.permute(0, 2, 1)) / D**0.5, dim=-1)
        self.keep(weights[:, None])
        return torch.bmm(weights, v)


class Unbatched(Base):
    """Matrices of one text, as slides write it."""

    def forward(self, x: Tensor) -> Tensor:
        x = x[0]
        weights = torch.softmax(self.to_q(x) @ self.to_k(x).T / D**0.5, dim=1)
        self.keep(weights[None, None])
        return weights @ self.to_v(x)


class Additive(Base):
    """Scores by a small network, without a product of q and k (Bahdanau et al. 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(D, 1)

    def forward(self, x: Tensor) -> Tensor:
        both = torch.tanh(self.to_q(x)[:, :, None] + self.to_k(x)[:, None])
        weights = self.score(both).squeeze(-1).softmax(-1)
        self.keep(weights[:, None])
        return self.to_out(weights @ self.to_v(x))


class Captioner(Base):
    """One decoder state against features that no layer made, additive scores (Xu et al. 2015)."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(D, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        state = self.to_q(x.mean(1)).unsqueeze(1)
        weights = self.score(torch.tanh(self.to_k(x) + state)).softmax(1).transpose(1, 2)
        self.keep(weights[:, None])
        return torch.cat([(weights @ x).squeeze(1), x[:, -1]], 1)


class ConvolutionHeads(Base):
    """Heads that a convolution made, joined with the batch (Dhariwal and Nichol 2021)."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.proj = nn.Conv1d(D, 3 * D, 1), nn.Conv1d(D, D, 1)

    def forward(self, x: Tensor) -> Tensor:
        channels = self.to_out(x).mT
        q, k, v = self.qkv(channels).reshape(len(x) * H, 3 * DH, -1).split(DH, dim=1)
        scale = DH**-0.25
        weights = torch.einsum("bct,bcs->bts", q * scale, k * scale).softmax(-1)
        self.keep(weights.unflatten(0, (len(x), H)))
        mixed = torch.einsum("bts,bcs->bct", weights, v).reshape(channels.shape)
        return x + self.proj(mixed).mT


class DecoderStep(Base):
    """One decoder state against all encoder states, dot product (Luong et al. 2015)."""

    def forward(self, x: Tensor) -> Tensor:
        state, encoded = self.to_q(x[:, -1]), self.to_v(x)
        weights = functional.softmax(torch.bmm(encoded, state.unsqueeze(2)).squeeze(2), dim=1)
        self.keep(weights[:, None, None])
        return torch.bmm(weights.unsqueeze(1), encoded).squeeze(1)


EXACT: tuple[type[nn.Module], ...] = (
    MultiQuery,
    GroupedQuery,
    GroupedEinsum,
    GroupedLast,
    GroupedRotary,
    Absorbed,
    ALiBi,
    Relative,
    Rotary,
    Local,
    TopK,
    Memory,
    Perceiver,
    SetPooling,
    Gated,
    SingleHead,
    Unbatched,
    Additive,
    Captioner,
    ConvolutionHeads,
    DecoderStep,
)
