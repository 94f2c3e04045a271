"""The model's guess after each layer: every state of the stream through the model's own end.

In: a model and what `attnviz.capture` takes. Out: a `Lens`: for each state and position the
likeliest tokens (or classes) that the rest of the model, its last norm included, would read off it.
The last state gives the model's own logits, bit by bit. The logit lens (nostalgebraist 2020), found
by data flow; a guess of an early state says what can be read there, not what the model uses. Its
control is what the other positions of the same state say: " the" may be likely everywhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from attnviz.errors import BadInput
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.components import Naming
from attnviz.experiment.dataflow.stream import replay, start_of, states, writer_of
from attnviz.experiment.dataflow.trace import Value
from attnviz.experiment.readouts import readout
from attnviz.experiment.traced_run import TracedRun, traced_run
from attnviz.summary import counted

DEFAULT_COUNT = 5
EMBEDDINGS = "embeddings"


@dataclass(frozen=True, eq=False)
class Lens:
    """Guesses after each state. `states` are named after what wrote last: "L2", "MLP 2".

    `ids` are tokens of the vocabulary or numbers of classes, the likeliest first; a classifier has
    one position. `elsewhere` is the control of each guess, the mean probability that the other
    positions of its state give the same choice; None for one position. `values` is the measure's
    number at each state, where one was given. `error` is max |last state's logits − the model's
    own|.
    """

    states: tuple[str, ...]
    ids: Int64[np.ndarray, "state position guess"]
    probabilities: Float32[np.ndarray, "state position guess"]
    elsewhere: Float32[np.ndarray, "state position guess"] | None
    values: Float64[np.ndarray, " state"] | None
    error: float

    def to_dict(self) -> dict[str, list[str] | list[int] | list[float]]:
        """A row for each state, position and guess, as lists."""
        n_state, n_position, n_guess = self.ids.shape
        return {
            "state": [name for name in self.states for _ in range(n_position * n_guess)],
            "position": [
                at for _ in range(n_state) for at in range(n_position) for _ in range(n_guess)
            ],
            "id": self.ids.ravel().tolist(),
            "probability": self.probabilities.ravel().tolist(),
        }

    def __repr__(self) -> str:
        states, positions, guesses = self.ids.shape
        sizes = f"{counted(states, 'state')} × {counted(positions, 'position')}"
        return f"Lens: the {guesses} likeliest at {sizes}, error {self.error:.1e}"


def lens(prepared: CleanRun, *, count: int = DEFAULT_COUNT) -> Lens:
    """The `count` likeliest tokens after each state of the stream, at every position.

    With a measure each state gets its number. Raises `BadInput` for a model without logits.
    """
    lm = prepared.lm
    linear = None if prepared.on is None else readout(prepared).linear
    if not isinstance(prepared.clean.get("logits"), Tensor):
        raise BadInput(
            f"{lm.name} has no head that turns hidden states into scores: there is nothing to read"
            " a state with; take a language model or a classifier",
            code="no_logits",
            name=lm.name,
        )
    run = traced_run(prepared)
    own = run.value("logits")
    names, ids, shares, others, values, error = [], [], [], [], [], 0.0
    for name, logits in read_states(run, own):
        rows = logits[0] if logits.dim() == 3 else logits[:1]  # a classifier has one position
        probabilities = rows.float().softmax(-1)
        top = probabilities.topk(min(count, logits.shape[-1]))
        names.append(name)
        ids.append(top.indices.cpu().numpy())
        shares.append(top.values.cpu().numpy())
        others.append(_elsewhere(probabilities, top.indices).cpu().numpy())
        values += [] if linear is None else [float(linear(logits)[0])]
        error = float((logits - own.tensor).abs().max())
    return Lens(
        states=tuple(names),
        ids=np.stack(ids).astype(np.int64),
        probabilities=np.stack(shares).astype(np.float32),
        elsewhere=np.stack(others).astype(np.float32) if len(shares[0]) > 1 else None,
        values=np.array(values, dtype=np.float64) if values else None,
        error=error,
    )


def _elsewhere(
    probabilities: Float32[Tensor, "position choice"], guesses: Int64[Tensor, "position guess"]
) -> Float32[Tensor, "position guess"]:
    """The mean probability of each guess at the other positions; NaN where there is no other."""
    own = probabilities.gather(1, guesses)
    return (probabilities.sum(0)[guesses] - own).clamp(min=0) / (len(probabilities) - 1)


def read_states(run: TracedRun, logits: Value) -> Iterator[tuple[str, Tensor]]:
    """Each state's name and the logits that the rest of the model makes of it, the first first."""
    naming, stream = Naming(run), states(logits)
    written = [state for state in stream if writer_of(state) is not None]
    with torch.no_grad():
        for state in (start_of(written[0]), *written):
            writer = writer_of(state) if state in written else None
            name = EMBEDDINGS if writer is None else naming.layer_name(writer)
            yield name, replay(run.trace, stream[-1], state.tensor, logits)
