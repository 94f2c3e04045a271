"""The answer of an encoder-decoder to a text: its greedy output, up to its own end token.

In: a model and a text. Out: the answer as text, fit to be given back to `attnviz.capture` as the
target. Nothing is recorded here, so that it is as fast as the model.
"""

import torch

from attnviz.capture.generation.decode import write
from attnviz.capture.generation.settings import Generation
from attnviz.capture.plan.text import plan_text
from attnviz.capture.request import Request
from attnviz.models.loaded_model import LoadedModel

MAX_TOKENS = 128


def answer(lm: LoadedModel, text: str, *, cut: bool = False) -> str:
    """The greedily generated text, no longer than a target may be; "" if the model ends at once.

    Raises what `attnviz.capture` raises for a text that the model cannot read.
    """
    # as a target it comes back with one token more: its end token, or the start before it
    how = Generation(min(MAX_TOKENS, max(1, lm.max_tokens - 1)))
    plan = plan_text(lm, Request.of(text, generate=how, cut=cut))
    with lm.lock, torch.no_grad():
        ids = write(lm, plan.inputs, how).ids[0]
    written = lm.text_tokenizer().decode(ids.tolist(), skip_special_tokens=True)
    assert isinstance(written, str)
    return written.strip()
