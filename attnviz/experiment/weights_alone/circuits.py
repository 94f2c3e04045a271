"""`circuits`: what the weights of a model say about its heads before any text is read.

In: a model. Out: `Circuits`. OV = W_V·W_O is what a head does with a token that it attends to,
QK = W_Q·W_Kᵀ which tokens match; composition is how far a later head can read what an earlier one
writes. Each number stands beside its control: shuffled words, random rotations. They say what could
be read, not what a text uses: for that there are `run.paths()` and `run.effects()`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from jaxtyping import Float, Float64
from numpy.typing import ArrayLike
from torch import Tensor, nn

from attnviz.attention.projection import apply_linear
from attnviz.attention.rotary import RotatedStage, rotation_of
from attnviz.changes.site import place_among
from attnviz.errors import TooLarge, UnsupportedAttention, bad_argument
from attnviz.experiment.readouts import token_id
from attnviz.experiment.weights_alone import scores
from attnviz.experiment.weights_alone.matrices import PARTS, Layer, Layers, Part, layers_of
from attnviz.experiment.weights_alone.norms import read_from
from attnviz.experiment.weights_alone.results import (
    ByDistance,
    Candidate,
    CircuitName,
    Composition,
    Folded,
    TokenCircuit,
    TopTokens,
)
from attnviz.experiment.weights_alone.scores import Factors, Side
from attnviz.experiment.weights_alone.vocabulary import (
    Through,
    Unembedding,
    Vocabulary,
    Words,
    unembedding_of,
    vocabulary_of,
)
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from attnviz.models.ranks import require_whole
from attnviz.summary import counted, text_table
from attnviz.types import MIB, Site, Where

# of folded weights that composition puts side by side: q, k, v and W_O, read and written
MOST_MIB, COPIES = 4096, 8
OWN_TOKENS = 2048  # so many tokens are looked up in their rows
SHUFFLES = 20
DRAWN_TOKENS = 200  # over which scores by distance are means
# a pair of heads is a candidate above this z, if the sender gives so much to the token before
CANDIDATE_Z, CANDIDATE_WEIGHT = 10.0, 0.4
# what each circuit of a head is made of
ENDS: dict[CircuitName, set[Part]] = {"OV": {"v", "out"}, "QK": {"q", "k"}}
Table = dict[str, list[str] | list[float]]


@dataclass(frozen=True, eq=False)
class Circuits:
    """The circuits of a model's heads; made by `attnviz.circuits`.

    `through` says what a token is to a head: "embedding", its row of W_E, or "mlp0", the same with
    what MLP 0 adds to the token alone. Heads above layer 0 read the stream, in which both stand
    together, so that the first may have the wrong sign for them: look at both.
    """

    lm: LoadedModel
    layers: Layers
    vocabulary: Vocabulary | None
    unembedding: Unembedding | None
    _known: dict[object, Any] = field(default_factory=dict, repr=False)

    @property
    def heads(self) -> tuple[Site, ...]:
        """All heads, in the order of the pass."""
        return self.layers.heads

    @property
    def folded(self) -> Folded:
        """The lists of what was folded into the weights, and what was left out."""
        return _folded(self.layers)

    def ov(self, head: Where, through: Through = "embedding") -> TokenCircuit:
        """The OV circuit of a head, W_E·W_V·W_O·W_U: from a token that it attends to, to logits.

        Raises `UnsupportedAttention` where W_V or W_O is not known, where the logits are not read
        off the stream, or where norms stand between the layers.
        """
        return self._token_circuit(head, "OV", through)

    def qk(self, head: Where, through: Through = "embedding") -> TokenCircuit:
        """The QK circuit of a head, W_E·W_Q·W_Kᵀ·W_Eᵀ: the match of tokens, positions aside.

        Raises `UnsupportedAttention` where W_Q or W_K is not known.
        """
        return self._token_circuit(head, "QK", through)

    def shares(
        self, circuit: CircuitName, through: Through = "embedding"
    ) -> Float64[np.ndarray, " head"]:
        """The `share` of one circuit of every head, from one product over the vocabulary.

        NaN where it has no meaning or is not known: `ov` and `qk` of that head say why.
        """
        compute = partial(self._all_shares, circuit, through)
        shares: np.ndarray = self._once((circuit, through), compute)
        return shares

    def composition(self, side: Side) -> Composition:
        """The composition of each head with each earlier one, on the side of its q, k or v.

        ‖OV of the sender · X of the receiver‖ ÷ (‖OV‖·‖X‖), X = QK, QKᵀ or OV (Elhage et al. 2021).
        A candidate, never a circuit: what goes through an MLP is not in it.

        Raises `BadInput` for another side, and `TooLarge` for a model whose heads do not fit.
        """
        if side not in get_args(Side):
            raise bad_argument(
                f"side is {side!r}; give q, k or v", name="side", found=str(side), allowed="q, k, v"
            )
        known: Mapping[Side, Composition] = self._once("composition", self._compositions)
        return known[side]

    def by_distance(self, head: Where, through: Through | None = None) -> ByDistance:
        """A head's mean score and weight by how far apart two tokens are.

        Positions of every kind count: rotary, learned, or a bias of the scores. Without `through` a
        head of the first layer reads the embedding, any other a token through MLP 0.

        Raises `UnsupportedAttention` where W_Q or W_K is not known, or a token alone does not reach
        the head.
        """
        layer, number = self._at(head)
        first = self.vocabulary is not None and layer is self.vocabulary.first
        through = through or ("embedding" if first else "mlp0")
        self._words(layer, through)
        layer.part("q", number), layer.part("k", number)
        compute = partial(self._by_position, layer, through)
        mean, own = self._once((layer.call.name, through), compute)
        visible = layer.call.visible(0)
        furthest = len(visible) - 1
        backwards = bool(visible.triu(1).any())
        distances = np.arange(-furthest if backwards else 0, furthest + 1)
        weights = scores.mean_weights(mean[number], visible)
        diagonals = partial(scores.along_diagonals, visible=visible, distances=distances)
        return ByDistance(
            head=layer.heads[number],
            through=through,
            distances=distances,
            scores=diagonals(mean[number]),
            own=diagonals(own[number] - mean[number]),
            weights=diagonals(weights),
            n_tokens=self._n_drawn,
        )

    def previous(self) -> dict[Site, float]:
        """The mean weight that positions alone give to the token before, in the first layer.

        Empty where they are not known. `by_distance` has the same for any head and distance.
        """
        vocabulary = self.vocabulary
        if vocabulary is None or not {"q", "k"} <= vocabulary.first.norms.keys():
            return {}
        return {head: self.by_distance(head).weight(1) for head in vocabulary.first.heads}

    def top_tokens(
        self, head: Where, token: str | int, n: int = 5, *, through: Through = "embedding"
    ) -> TopTokens:
        """The tokens whose logits a head raises and lowers most if it attends to `token`.

        Raises what `ov` raises, and `BadInput` for a text that is not one token.
        """
        layer, number = self._at(head)
        words, unembedding = self._words(layer, through), self._unembedding()
        number_of_token = token_id(self.lm, token, words.n)
        row = words.rows(torch.tensor([number_of_token], device=self._device))
        written = row @ layer.part("v", number) @ layer.part("out", number)
        logits = torch.cat([written @ unembedding.columns(block) for block in words.blocks()], 1)
        z = (logits[0] - logits[0].mean()) / logits[0].std()
        ends = (z.topk(n), (-z).topk(n))
        raised, lowered = (
            tuple(
                zip(self.lm.labels_of(end.indices.tolist()), z[end.indices].tolist(), strict=True)
            )
            for end in ends
        )
        named = self.lm.labels_of([number_of_token])[0]
        return TopTokens(layer.heads[number], named, through, raised, lowered)

    def candidates(self) -> tuple[Candidate, ...]:
        """The pairs of heads that could be an induction circuit, by their weights; often none.

        The K composition lies 10 standard deviations above that of random rotations, and positions
        alone send the sender to the token before. None is no proof that a model has no such
        circuit: its path may go through an MLP. Look for it on a text, with `run.paths()`.
        """
        found, keys = [], self.composition("k")
        for sender, receiver, value, z in keys.strongest(len(self.heads) ** 2):
            back = self.previous().get(sender, 0.0)
            if z > CANDIDATE_Z and back > CANDIDATE_WEIGHT:
                through = self._deepest(receiver)
                copies = self.shares("OV", through)[self.heads.index(receiver)]
                at = keys.beside(sender, receiver)
                found.append(
                    Candidate(sender, receiver, value, z, back, float(copies), at.rank, at.n)
                )
        return tuple(found)

    def to_dict(self) -> Table:
        """A row for each head: both shares through both embeddings, and the weight one back.

        NaN where a number has no meaning or is not known; its own function says why.
        """
        previous = self.previous()
        return {
            "head": [str(head) for head in self.heads],
            "ov": self.shares("OV", "embedding").tolist(),
            "ov_mlp0": self.shares("OV", "mlp0").tolist(),
            "qk": self.shares("QK", "embedding").tolist(),
            "qk_mlp0": self.shares("QK", "mlp0").tolist(),
            "previous": [previous.get(head, float("nan")) for head in self.heads],
        }

    def __repr__(self) -> str:
        return f"Circuits of {self.lm.name}, {counted(len(self.heads), 'head')}; print() lists them"

    def __str__(self) -> str:
        columns = {
            name: [cell if isinstance(cell, str) else f"{cell:+.2f}" for cell in cells]
            for name, cells in self.to_dict().items()
        }
        return f"{text_table(columns)}\n{self.folded}"

    # --- what the numbers are made of -------------------------------------------------------------

    @property
    def _device(self) -> torch.device:
        return torch.device(self.lm.key.device)

    @property
    def _n_drawn(self) -> int:
        return 0 if self.vocabulary is None else min(DRAWN_TOKENS, len(self.vocabulary.table))

    def _once(self, key: object, compute: Callable[[], Any]) -> Any:
        """The result of a function, computed by the first who asks."""
        with self.lm.lock, torch.no_grad():
            if key not in self._known:
                self._known[key] = compute()
            return self._known[key]

    def _at(self, head: Where) -> tuple[Layer, int]:
        """A head's layer, and its number there."""
        site = self.heads[place_among(head, self.heads, "is not a head of this model; it has")]
        layer = next(layer for layer in self.layers.layers if site in layer.heads)
        return layer, layer.heads.index(site)

    def _deepest(self, head: Site) -> Through:
        """Through MLP 0 where a token alone reaches a head so; else the embedding."""
        refused = _refusal(self.layers, self.vocabulary, self._at(head)[0], "mlp0") is not None
        return "embedding" if refused else "mlp0"

    def _words(self, layer: Layer, through: Through) -> Words:
        """The vocabulary as a layer reads it; `UnsupportedAttention` where that has no meaning."""
        if through not in get_args(Through):
            raise bad_argument(
                f"through is {through!r}; give embedding or mlp0",
                name="through",
                found=str(through),
                allowed="embedding, mlp0",
            )
        reason = _refusal(self.layers, self.vocabulary, layer, through)
        if reason is not None:
            raise UnsupportedAttention(
                f"{layer.heads[0].whole_layer} of {self.lm.name}: {reason}",
                code="no_circuit",
                name=self.lm.name,
            )
        assert self.vocabulary is not None
        with self.lm.lock, torch.no_grad():
            return self.vocabulary.words(through)

    def _unembedding(self) -> Unembedding:
        reason = _no_unembedding(self.layers, self.vocabulary, self.unembedding)
        if reason is not None:
            raise UnsupportedAttention(
                f"{self.lm.name}: {reason}, so that no circuit leads from a token to a token's"
                " logit",
                code="no_circuit",
                name=self.lm.name,
            )
        assert self.unembedding is not None
        return self.unembedding

    def _columns(self, circuit: CircuitName, words: Words, block: slice) -> Tensor:
        """The vectors that a circuit ends in: those that read logits, or those of the keys."""
        return self._unembedding().columns(block) if circuit == "OV" else words.rows(block).T

    def _token_circuit(self, head: Where, circuit: CircuitName, through: Through) -> TokenCircuit:
        """One circuit of one head with its controls."""
        layer, number = self._at(head)
        words, (near, far) = self._words(layer, through), _near_and_far(layer, number, circuit)
        pairs = [
            (far @ self._columns(circuit, words, block), words.rows(block) @ near)
            for block in words.blocks()
        ]
        left, right = (
            torch.cat([one for one, _ in pairs], dim=1),
            torch.cat([one for _, one in pairs]),
        )
        values = scores.eigenvalues(left, right)
        drawn = torch.randperm(words.n, generator=torch.Generator().manual_seed(0))[:OWN_TOKENS]
        some = drawn.to(self._device)
        return TokenCircuit(
            head=layer.heads[number],
            circuit=circuit,
            through=through,
            eigenvalues=values,
            share=scores.share(values),
            own_first=scores.own_first(left, right, some),
            own_positive=scores.own_positive(left, right, some),
            n_tokens=len(some),
            n_vocab=words.n,
            shuffled=scores.shuffled_shares(left, right, SHUFFLES),
            shuffled_positive=scores.shuffled_positive(left, right, some, SHUFFLES),
        )

    def _all_shares(self, circuit: CircuitName, through: Through) -> Float64[np.ndarray, " head"]:
        shares = np.full(len(self.heads), np.nan)
        no_logits = _no_unembedding(self.layers, self.vocabulary, self.unembedding)
        reached = [
            layer
            for layer in self.layers.layers
            if ENDS[circuit] <= layer.norms.keys()
            and _refusal(self.layers, self.vocabulary, layer, through) is None
        ]
        if not reached or (circuit == "OV" and no_logits is not None):
            return shares
        words = self._words(reached[0], through)
        gram = self._unembedding().times(words) if circuit == "OV" else words.gram()
        for layer in reached:
            for number, site in enumerate(layer.heads):
                near, far = _near_and_far(layer, number, circuit)
                values = scores.eigenvalues(far @ gram, near)
                shares[self.heads.index(site)] = scores.share(values)
        return shares

    def _compositions(self) -> dict[Side, Composition]:
        factors, known = _factors(self.layers)
        squares = scores.squared_composition(factors, known)
        d_model = factors.written.shape[2]
        found: dict[Side, Composition] = {}
        for side, square in squares.items():
            z = (square - 1 / d_model) / scores.spread_over_rotations(factors, side)
            values, far = (
                np.where(known[side], table.double().cpu().numpy(), np.nan)
                for table in (square.sqrt(), z)
            )
            found[side] = Composition(side, self.heads, values, d_model**-0.5, far)
        return found

    def _by_position(
        self, layer: Layer, through: Through
    ) -> tuple[Float[Tensor, "head query key"], Float[Tensor, "head query key"]]:
        """The mean scores of two independent tokens at any two places, and of one at both."""
        vocabulary = self.vocabulary
        assert vocabulary is not None
        generator = torch.Generator().manual_seed(0)
        drawn = torch.randperm(len(vocabulary.table), generator=generator)[: self._n_drawn]
        streams = [_stream(vocabulary, token, through) for token in drawn.to(self._device)]
        q, k = _asked(vocabulary, layer, "q", streams), _asked(vocabulary, layer, "k", streams)
        k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
        scaling, bias = layer.inputs.scaling, layer.inputs.bias
        mean = scaling * torch.einsum("hqd,hkd->hqk", q.mean(0), k.mean(0))
        own = scaling * torch.einsum("thqd,thkd->hqk", q, k) / len(q)
        added = 0 if bias is None else bias[0].float()
        return mean + added, own + added


def circuits(
    lm: LoadedModel | nn.Module | str | Path,
    *,
    inputs: Mapping[str, ArrayLike | None] | None = None,
) -> Circuits:
    """The circuits of a model's heads from its weights alone; no text is needed.

    `lm` is a loaded model; a module, or a name, hub id or folder, is loaded first. Its matrices are
    found by data flow from one pass of any input, with γ of the norms folded in: `folded` says what
    was, and what was left out. Only a model that reads neither ids, pictures nor sound needs
    `inputs`, whatever they say, as in `attnviz.capture`.

    Returns `Circuits`: `ov(head)` and `qk(head)` with eigenvalues and a control of shuffled words,
    `composition("k")` of each pair of heads beside random rotations, `by_distance(head)`,
    `previous()`, `top_tokens(head, token)`, `candidates()` for induction, and `to_dict()`.

    Raises what `attnviz.capture` raises for a model that cannot be recorded.

    Example:

    >>> c = attnviz.circuits("stories")
    >>> round(c.ov("L2.H1").share, 1), round(c.ov("L2.H1", through="mlp0").share, 1)
    (-0.6, 1.0)
    """
    loaded = lm if isinstance(lm, LoadedModel) else load(lm)
    require_whole(loaded.model)
    with loaded.lock, torch.no_grad():
        layers = layers_of(loaded, inputs)
        return Circuits(loaded, layers, vocabulary_of(layers), unembedding_of(layers))


def _near_and_far(layer: Layer, number: int, circuit: CircuitName) -> tuple[Tensor, Tensor]:
    """The factors of a head's circuit: [d_model, d_head], that reads, and [d_head, d_model]."""
    if circuit == "OV":
        return layer.part("v", number), layer.part("out", number)
    return layer.part("q", number), layer.part("k", number).T


def _refusal(
    layers: Layers, vocabulary: Vocabulary | None, layer: Layer, through: Through
) -> str | None:
    """Why a token alone does not reach a layer; None if it does."""
    if vocabulary is None:
        return "no table of tokens leads into its stream, so nothing can be said token by token"
    first = vocabulary.first
    if layer.call.stack != first.call.stack or layer.call.kind != first.call.kind:
        return f"it does not read the tokens of {first.heads[0].whole_layer}"
    if layers.between and layer is not first:
        return (
            "norms stand between the layers, and each scales a token in its own way: there is no"
            " path of weights alone from a token to this layer; composition() is what can be said"
        )
    if through == "mlp0":
        return "layer 0 reads a token before MLP 0 does" if layer is first else vocabulary.no_mlp
    return None


def _no_unembedding(
    layers: Layers, vocabulary: Vocabulary | None, unembedding: Unembedding | None
) -> str | None:
    """Why no logits of tokens are read off the stream; None if they are."""
    if unembedding is None:
        return "no linear layer reads logits off its stream through one norm"
    if vocabulary is not None and unembedding.weight.shape[1] != len(vocabulary.table):
        return f"its {unembedding.weight.shape[1]} logits are not those of its tokens"
    return "norms stand between its layers" if layers.between else None


def _stream(vocabulary: Vocabulary, token: Tensor, through: Through) -> Tensor:
    """One token at every place of the stream."""
    stream = vocabulary.words("embedding").raw(token[None]) + vocabulary.places
    if through == "embedding":
        return stream
    start, writes = vocabulary.mlp
    wrote = [vocabulary.run_from(start, stream, write) for write in writes]
    return stream + torch.stack(wrote).sum(0)


def _asked(
    vocabulary: Vocabulary, layer: Layer, part: RotatedStage, streams: list[Tensor]
) -> Float[Tensor, "token head position d_head"]:
    """The queries or keys of every head, turned as the model turns them, for each stream."""
    value, projection = layer.values[part], layer.call.projections[part]
    found = read_from(vocabulary.layers.run.trace, value)
    assert found is not None
    read = torch.stack([vocabulary.run_from(found[0], stream, value) for stream in streams])
    written = apply_linear(read, projection)
    d_head = layer.inputs.d_head
    heads = torch.stack([written[..., start : start + d_head] for start in projection.starts], 1)
    if projection.turned:
        return rotation_of(layer.call, 0).rotated(part, heads)
    return heads * projection.factor


def _factors(layers: Layers) -> tuple[Factors, dict[Side, np.ndarray]]:
    """All that heads write and read, and the pairs that meet; what is not known is zeros."""
    heads = [(layer, number) for layer in layers.layers for number in range(layer.call.n_heads)]
    known = [layer.norms["out"].scale for layer in layers.layers if "out" in layer.norms]
    if not known:
        reasons = sorted({reason for layer in layers.layers for reason in layer.absent.values()})
        raise UnsupportedAttention(
            f"the weights of no head are known: {'; '.join(reasons)}", code="no_circuit"
        )
    d_model = len(known[-1])
    width = max(layer.call.output.shape[3] for layer in layers.layers)
    n_mib = round(len(heads) * d_model * width * COPIES * 4 / MIB)
    if n_mib > MOST_MIB:
        raise TooLarge(
            f"the weights of {counted(len(heads), 'head')} side by side take {n_mib:,} MiB; the"
            f" limit is {MOST_MIB:,}. ov(), qk() and by_distance() take one head at a time",
            code="too_many_heads",
            found=n_mib,
            limit=MOST_MIB,
            unit="MiB",
        )
    d_head = max(layer.inputs.d_head for layer in layers.layers if layer.norms)
    widths: dict[Part, int] = {"q": d_head, "k": d_head, "v": width, "out": width}
    q, k, v, out = (_side_by_side(heads, part, d_model, widths[part]) for part in PARTS)
    pairs = {"q": (q, k), "k": (k, q), "v": (v, out)}
    read = {
        side: near @ scores.root(far)
        for side, (near, far) in zip(get_args(Side), pairs.values(), strict=True)
    }
    n_heads = [layer.call.n_heads for layer in layers.layers]
    meet = {}
    for side in read:
        by_layer = [[_meet(layers, i, j, side) for j in layers.layers] for i in layers.layers]
        meet[side] = np.repeat(np.repeat(np.array(by_layer), n_heads, 0), n_heads, 1)
    return Factors(scores.root(v).transpose(1, 2) @ out.transpose(1, 2), read), meet


def _side_by_side(
    heads: Sequence[tuple[Layer, int]], part: Part, d_model: int, width: int
) -> Float[Tensor, "head d_model width"]:
    """One part of every head, W_O turned; zeros where it is not known or of another stream."""
    device = heads[0][0].call.output.device
    whole = torch.zeros(len(heads), d_model, width, device=device)
    for at, (layer, number) in enumerate(heads):
        if part in layer.norms:
            one = layer.part(part, number)
            one = one.T if part == "out" else one
            if len(one) == d_model:
                whole[at, :, : one.shape[1]] = one
    return whole


def _meet(layers: Layers, sender: Layer, receiver: Layer, side: Side) -> bool:
    """True if what one layer writes is a summand of what the other reads, all parts known."""
    needed: dict[Side, set[Part]] = {"q": {"q", "k"}, "k": {"q", "k"}, "v": {"v", "out"}}
    known = {"v", "out"} <= sender.norms.keys() and needed[side] <= receiver.norms.keys()
    return known and layers.layers.index(sender) in receiver.senders.get(side, ())


def _folded(layers: Layers) -> Folded:
    norms = [norm for layer in layers.layers for norm in layer.norms.values()]
    kinds = {norm.kind for norm in norms}
    reading = [layer for layer in layers.layers if layer.norms]
    projections = [one for layer in reading for one in layer.call.projections.values()]
    shared = {layer.inputs.n_heads // layer.inputs.n_kv_heads for layer in reading}
    exact = {
        "γ of the norms in front of W_Q, W_K, W_V and the unembedding": kinds != {"none"},
        "the mean that a LayerNorm subtracts": "layer norm" in kinds,
        "γ of the norms behind W_O": any(
            "out" in layer.norms and layer.norms["out"].kind != "none" for layer in layers.layers
        ),
        "what all tokens share: the mean embedding and the mean logit": True,
    }
    left_out = {
        "σ of the norms, one positive number for each token": kinds != {"none"},
        "β of the norms, and the biases of W_Q, W_K, W_V and W_O": any(
            one.bias is not None for one in projections
        ),
        "rotary positions: QK is the match of tokens at one place; by_distance() has the rest": (
            any(one.turned for one in projections)
        ),
        "the position bias of the scores: by_distance() has it": any(
            layer.inputs.bias is not None for layer in reading
        ),
        "norms between the layers: composition is approximate": layers.between,
    }
    groups = [f"{n} heads share one W_K and one W_V" for n in sorted(shared) if n > 1]
    missing = {
        f"W_{part[0].upper()} of {layer.heads[0].whole_layer}: {reason}"
        for layer in layers.layers
        for part, reason in layer.absent.items()
    }
    return Folded(
        tuple(text for text, holds in exact.items() if holds),
        (*(text for text, holds in left_out.items() if holds), *groups, *sorted(missing)),
    )
