"""The training: a few hundred steps, with a snapshot every few of them.

In: a seed, which determines every weight. Out: snapshots one after the other, the first before any
step: scores on sequences that repeat and on the control that does not, and the weights in float16,
from which `restore` rebuilds the model. AdamW (Loshchilov and Hutter 2019).
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float16, Float32, Int64
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from attnviz.errors import BadInput, Cancelled
from attnviz.teach.course.birth import alphabet
from attnviz.teach.course.birth.scores import CircuitScores, measure, recorded, weights
from attnviz.teach.course.birth.transformer import TinyTransformer, untrained

STEPS = 800
EVERY = 20
LEARNING_RATE = 5e-3
WEIGHT_DECAY = 0.01
BETAS = (0.9, 0.98)
MAX_SEED = 999


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
    repeated, fresh = alphabet.repeated(), alphabet.fresh()
    for step in range(steps + 1):
        if step > 0:
            _require_not_cancelled(cancel)
            _learn(model, optimizer, alphabet.batch(draw))
        if step % every == 0:
            yield TrainingSnapshot(
                step, measure(model, repeated), measure(model, fresh), _weights(model)
            )


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


def _weights(model: TinyTransformer) -> dict[str, Float16[np.ndarray, "..."]]:
    return {name: value.detach().half().numpy() for name, value in model.state_dict().items()}


def _require_not_cancelled(cancel: threading.Event | None) -> None:
    if cancel is not None and cancel.is_set():
        raise Cancelled("the training was stopped on request; start it again", code="cancelled")
