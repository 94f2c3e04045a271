"""The vectors of texts that a sentence encoder's answer is compared with.

In: a clean run and another text. Out: that text's pooled vector, which is kept with the run, and
with all runs that were given the same `vectors`: the same few sentences stand beside every text.
"""

from jaxtyping import Float
from torch import Tensor

from attnviz.capture.request import Request
from attnviz.experiment.clean_run import CleanRun, prepare_request
from attnviz.experiment.outputs.similarity import pooled

MAX_VECTORS = 32


def text_vector(prepared: CleanRun, text: str) -> Float[Tensor, "row d_model"]:
    """The mean of the last hidden states of a text, scaled to length 1; one row.

    Raises what `attnviz.capture` raises for a text that the model cannot read.
    """
    lm, vectors = prepared.lm, prepared.vectors
    with lm.lock:
        vector = vectors.get(text)
        if vector is None:
            run = prepare_request(lm, Request.of(text))
            vector = vectors[text] = pooled(run.clean["last_hidden_state"].float(), run.attended)
            while len(vectors) > MAX_VECTORS:
                del vectors[next(iter(vectors))]
    return vector
