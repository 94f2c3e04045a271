"""A tiny transformer that learns to copy letters it has read before, trained in seconds.

    for snapshot in toy_model.train(seed=0):
        print(snapshot.step, snapshot.repeated.induction.max())
    toy_model.effects(toy_model.restore(snapshot))      # the scores without each head of layer 0

*Letters*: one random block, repeated; blocks differ in length, so that only the search for the same
letter helps. *Model*: two layers of attention alone, x + W_O·concat(heads); positions reach queries
and keys, not values (Press et al. 2021). *Scores*, between 0 and 1, on the second half of sequences
that repeat, and on a control without repeats. *Training*: AdamW (Loshchilov and Hutter 2019); the
seed determines every weight. *Ablation* by `attnviz.changed`; the weights are not touched. After
Olsson et al. 2022, "In-context learning and induction heads".
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy as np
import torch
from jaxtyping import Float, Float16, Float32, Int64
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention
from torch.nn.utils import skip_init

from attnviz.attention import formula
from attnviz.attention.call import AttentionCall
from attnviz.attention.inputs import AttentionInputs
from attnviz.capture.changed.run import changed
from attnviz.capture.record.recorder import record
from attnviz.changes.make import ablate
from attnviz.errors import BadInput, Cancelled, require_index
from attnviz.models.loader import load
from attnviz.models.seeded_models import ExampleInputs
from attnviz.types import HeadId

# the letters: of a sequence, of a block of it, of the sequences to measure on
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_LETTERS = 24
BLOCK = MAX_LETTERS // 2
SHORTEST_BLOCK = 4
BATCH = 48
N_MEASURED = 64
MEASURED_SEED = 2022  # seeds of trainings are below it
# the model
LAYERS, HEADS, D_MODEL = 2, 2, 64
D_HEAD = D_MODEL // HEADS
POSITION_STD = 0.7
# its training
STEPS = 800
EVERY = 20
LEARNING_RATE = 5e-3
WEIGHT_DECAY = 0.01
BETAS = (0.9, 0.98)
MAX_SEED = 999
# replace a head's output by 0, or by its mean over all tokens: no unusual stream after it
Ablation = Literal["zero", "mean"]
ABLATIONS: tuple[Ablation, ...] = get_args(Ablation)


def training_letters(draw: Generator) -> Int64[Tensor, "batch token"]:
    """Sequences to learn from: repeated blocks of one random length, cut anywhere."""
    period = _whole(SHORTEST_BLOCK, BLOCK + 1, draw)
    start = _whole(0, period, draw)
    blocks = torch.randint(len(LETTERS), (BATCH, period), generator=draw)
    positions = (start + torch.arange(MAX_LETTERS)) % period
    return blocks[:, positions]


def repeated_letters() -> Int64[Tensor, "batch token"]:
    """Sequences to measure on: twelve different letters, and the same twelve again."""
    return _different(BLOCK).repeat(1, 2)


def fresh_letters() -> Int64[Tensor, "batch token"]:
    """The control: sequences of the same length in which no letter occurs twice."""
    return _different(MAX_LETTERS)


def example() -> str:
    """The letters of the first sequence to measure on."""
    return "".join(labels(repeated_letters()[0]))


def labels(tokens: Int64[Tensor, "token"]) -> tuple[str, ...]:
    """The letter of each token."""
    return tuple(LETTERS[token] for token in tokens.tolist())


def encode(letters: str) -> Int64[Tensor, "token"]:
    """The tokens of typed letters, small or capital; spaces are left out.

    Raises `BadInput` for anything but the letters A to Z, for fewer than two of them, and for more
    than the model has positions.
    """
    typed = "".join(letters.split())
    unknown = sorted({letter for letter in typed if letter.upper() not in set(LETTERS)})
    if unknown:
        raise BadInput(
            f"{' '.join(unknown)}: the model knows the letters A to Z only; leave the rest out",
            code="bad_letters",
            found=" ".join(unknown),
        )
    capitals = typed.upper()
    if not 2 <= len(capitals) <= MAX_LETTERS:
        raise BadInput(
            f"{len(capitals)} letters: the model reads 2 to {MAX_LETTERS}",
            code="bad_letter_count",
            found=len(capitals),
            most=MAX_LETTERS,
        )
    return torch.tensor([LETTERS.index(letter) for letter in capitals])


def _different(count: int) -> Int64[Tensor, "batch token"]:
    draw = Generator().manual_seed(MEASURED_SEED)
    rows = [torch.randperm(len(LETTERS), generator=draw)[:count] for _ in range(N_MEASURED)]
    return torch.stack(rows)


def _whole(low: int, high: int, draw: Generator) -> int:
    return int(torch.randint(low, high, (1,), generator=draw))


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


@dataclass(frozen=True, eq=False)
class CircuitScores:
    """One measurement. `loss` (in nats) and `accuracy` are measured on the second half."""

    loss: float
    accuracy: float
    induction: Float32[np.ndarray, "layer head"]
    previous: Float32[np.ndarray, "layer head"]

    @property
    def best_induction(self) -> float:
        """The induction score of the best head of the last layer."""
        return float(self.induction[-1].max())

    @property
    def best_previous(self) -> float:
        """The previous-token score of the best head of the first layer."""
        return float(self.previous[0].max())

    @property
    def induction_head(self) -> HeadId:
        """The head of the last layer with the highest induction score."""
        return HeadId(len(self.induction) - 1, int(self.induction[-1].argmax()))

    @property
    def previous_head(self) -> HeadId:
        """The head of the first layer with the highest previous-token score."""
        return HeadId(0, int(self.previous[0].argmax()))


@dataclass(frozen=True)
class Chance:
    """The scores of a guess: even attention, every letter equally likely."""

    loss: float
    accuracy: float
    induction: float
    previous: float


def measure(model: TinyTransformer, tokens: Int64[Tensor, "batch token"]) -> CircuitScores:
    """The scores of every head, from attention that attnviz records and derives."""
    with torch.no_grad(), recorded(model) as calls:
        logits = model(tokens)
    maps = torch.stack([weights(call) for call in calls])  # [layer, batch, head, query, key]
    half = tokens.shape[1] // 2
    queries, keys, later = induction_cells(tokens.shape[1])
    predicted, target = logits[:, half:-1], tokens[:, half + 1 :]
    return CircuitScores(
        loss=float(cross_entropy(predicted.flatten(0, 1), target.flatten())),
        accuracy=float((predicted.argmax(-1) == target).float().mean()),
        induction=maps[..., queries, keys].mean(dim=(1, 3)).numpy(),
        previous=maps[..., later, later - 1].mean(dim=(1, 3)).numpy(),
    )


def chance(n_token: int) -> Chance:
    """The scores of even attention: each visible key of a query gets the same weight."""
    queries, _, later = induction_cells(n_token)
    return Chance(
        loss=float(np.log(len(LETTERS))),
        accuracy=1 / len(LETTERS),
        induction=float((1 / (queries + 1)).mean()),
        previous=float((1 / (later + 1)).mean()),
    )


def induction_cells(
    n_token: int,
) -> tuple[Int64[Tensor, "query"], Int64[Tensor, "query"], Int64[Tensor, "later"]]:
    """(queries of the second half, the key with each one's answer, all tokens but the first)."""
    half = n_token // 2
    queries = torch.arange(half, n_token)
    return queries, queries - half + 1, torch.arange(1, n_token)


def weights(call: AttentionCall) -> Float[Tensor, "batch head query key"]:
    """The attention weights of all texts of a batch at once."""
    inputs = call.inputs
    assert isinstance(inputs, AttentionInputs)
    scaled = formula.scaled(formula.scores(inputs.query, inputs.key), inputs.scaling)
    return formula.weights(formula.masked(scaled, inputs.may_attend(0)))


@contextmanager
def recorded(model: TinyTransformer) -> Iterator[list[AttentionCall]]:
    """Record one pass of the model; there is one call for each layer when the block ends."""
    with record(model) as calls:
        yield calls
    assert [call.layer for call in calls] == list(range(LAYERS))


@dataclass(frozen=True, eq=False)
class TrainingSnapshot:
    """The model after `step` steps: its scores, and its weights by name."""

    step: int
    repeated: CircuitScores
    fresh: CircuitScores
    weights: dict[str, Float16[np.ndarray, "..."]]


def train(
    seed: int, *, steps: int = STEPS, every: int = EVERY, cancel: threading.Event | None = None
) -> Iterator[TrainingSnapshot]:
    """Train from a seed; a snapshot of the untrained model, then one after every `every` steps.

    Raises `BadInput` for a seed that is not a whole number from 0 to 999, and `Cancelled` within
    one step once `cancel` is set.
    """
    require_seed(seed)
    draw = Generator().manual_seed(seed)
    model = untrained(draw)
    optimizer = torch.optim.AdamW(
        model.parameters(), LEARNING_RATE, betas=BETAS, weight_decay=WEIGHT_DECAY
    )
    repeated, fresh = repeated_letters(), fresh_letters()
    for step in range(steps + 1):
        if step > 0:
            if cancel is not None and cancel.is_set():
                raise Cancelled(
                    "the training was stopped on request; start it again", code="cancelled"
                )
            _learn(model, optimizer, training_letters(draw))
        if step % every == 0:
            state = {
                name: value.detach().half().numpy() for name, value in model.state_dict().items()
            }
            yield TrainingSnapshot(step, measure(model, repeated), measure(model, fresh), state)


def require_seed(seed: int) -> None:
    """Raise `BadInput` unless the seed is a whole number from 0 to 999."""
    if not 0 <= seed <= MAX_SEED:
        raise BadInput(
            f"seed {seed}: give a whole number from 0 to {MAX_SEED}",
            code="bad_training_seed",
            asked=seed,
            most=MAX_SEED,
        )


def restore(snapshot: TrainingSnapshot) -> TinyTransformer:
    """The model of a snapshot; its weights are rounded to float16."""
    model = TinyTransformer()
    tensors = {name: torch.from_numpy(values).float() for name, values in snapshot.weights.items()}
    model.load_state_dict(tensors)
    return model.eval()


def attention(
    model: TinyTransformer, tokens: Int64[Tensor, "token"]
) -> Float32[np.ndarray, "layer head query key"]:
    """The weights of every head on one sequence."""
    with torch.no_grad(), recorded(model) as calls:
        model(tokens[None])
    return torch.stack([weights(call)[0] for call in calls]).numpy()


def _learn(model: TinyTransformer, optimizer: torch.optim.Optimizer, tokens: Tensor) -> None:
    """One step of AdamW on the loss of every next letter."""
    logits = model(tokens)[:, :-1]
    loss = cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    optimizer.step()


@dataclass(frozen=True, eq=False)
class Effect:
    """The scores with one head ablated."""

    head: HeadId
    ablation: Ablation
    after: CircuitScores


@dataclass(frozen=True, eq=False)
class AblationScores:
    """The scores with all heads, and without each of them."""

    before: CircuitScores
    without: tuple[Effect, ...]

    def of(self, head: HeadId, ablation: Ablation) -> CircuitScores:
        """The scores without one head."""
        return next(
            effect.after
            for effect in self.without
            if (effect.head, effect.ablation) == (head, ablation)
        )


def effects(model: TinyTransformer, layer: int = 0) -> AblationScores:
    """The scores on repeated letters, whole and without each head of a layer, both ways."""
    require_index("layer", layer, LAYERS)
    tokens = repeated_letters()
    without = []
    for head in (HeadId(layer, number) for number in range(HEADS)):
        for ablation in ABLATIONS:
            with ablated(model, head, ablation):
                without.append(Effect(head, ablation, measure(model, tokens)))
    return AblationScores(measure(model, tokens), tuple(without))


@contextmanager
def ablated(
    model: TinyTransformer,
    head: HeadId,
    ablation: Ablation = "zero",
    tokens: Int64[Tensor, "batch token"] | None = None,
) -> Iterator[None]:
    """Ablate one head of the model while the block runs; its mean is that over all of `tokens`.

    Without tokens they are the repeated letters on which the circuit is measured.
    """
    require_index("layer", head.layer, LAYERS)
    require_index("head", head.head, HEADS)
    letters = repeated_letters() if tokens is None else tokens
    lm = load(model)
    lm.example = ExampleInputs({"tokens": letters}, labels=("",) * letters.shape[1])
    with changed(lm, ablate(head, ablation)):
        yield
