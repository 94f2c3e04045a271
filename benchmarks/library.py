"""Capture, derivation and payload: the part that needs no browser.

The payload is what the app itself hands to the browser, run by Streamlit's own test runner.
Capture and the plain pass (tokenise, forward) take turns, so that a change of the machine's speed
meets both alike; the figure is the ratio of their medians. One thread computes, as in the app, and
its own CPU time is counted, so that other work on the machine does not.
"""

import logging
import statistics
import time
from pathlib import Path

import numpy as np
import torch
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz.app.session.view import DEFAULT_MODEL
from attnviz.attention.capture import Capture
from attnviz.attention.steps import Steps
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures import grid, rest
from attnviz.pictures.shared.buffer import unpack
from benchmarks.measure import Result, timed
from benchmarks.texts import text_of

N_TOKENS = 128
CAPTURE_RATIO = 1.10
DERIVE_MS = 2.0
PAYLOAD_EXTRA = 1.05
SAME = 1e-5
ENTRY = Path(attnviz.__file__).parent / "app" / "main.py"
RUN_LIMIT_S = 120
BARE_MODE_LOGGER = "streamlit.runtime.scriptrunner_utils.script_run_context"


def measure(model: LoadedModel, rounds: int) -> list[Result]:
    """The rows of this part."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        text = text_of(model, N_TOKENS)
        capture = attnviz.capture(model, text)
        return [
            capture_ratio(model, text, rounds),
            *derivation(capture, rounds),
            payload(text, capture),
        ]
    finally:
        torch.set_num_threads(threads)


def capture_ratio(model: LoadedModel, text: str, rounds: int) -> Result:
    """How much longer a capture takes than the same pass without it."""
    plain, ours = [], []
    for _ in range(3 + rounds):
        plain.append(timed(lambda: forward(model, text), time.thread_time))
        ours.append(timed(lambda: attnviz.capture(model, text), time.thread_time))
    plain, ours = plain[3:], ours[3:]  # the first rounds warm caches up
    return Result(
        name=f"capture of {N_TOKENS} tokens ÷ plain forward ({statistics.median(plain):.1f} ms)",
        samples=(statistics.median(ours) / statistics.median(plain),),
        unit="×",
        budget=CAPTURE_RATIO,
        wrong=wrong_capture(model, text),
    )


def forward(model: LoadedModel, text: str) -> torch.Tensor:
    """The last hidden state, as anyone would get it from transformers."""
    with torch.no_grad():
        encoded = model.tokenizer(text, return_tensors="pt")
        hidden: torch.Tensor = model.model(**encoded).last_hidden_state
    return hidden


def wrong_capture(model: LoadedModel, text: str) -> str | None:
    capture, hidden = attnviz.capture(model, text), forward(model, text)
    assert capture.hidden is not None, "the capture kept no hidden state"
    difference = float((capture.hidden - hidden).abs().max())
    if not difference <= SAME:
        return f"capturing changed the model's output by {difference:.1e}"
    verification = capture.verify()
    if not verification.ok:
        return f"derived numbers are off: {verification}"
    sums = capture.all_weights().sum(axis=-1)
    return None if np.abs(sums - 1).max() <= SAME else "rows of weights do not sum to 1"


def derivation(capture: Capture, rounds: int) -> list[Result]:
    """One head after another: its steps, and its steps with every matrix ready to draw."""
    heads = [
        (layer, head)
        for layer in range(capture.n_layers)
        for head in range(capture.call(0).n_heads)
    ]
    alone, drawn, wrong = [], [], None
    for layer, head in (heads * (rounds // len(heads) + 1))[: rounds + 3]:
        call = capture.call(layer)
        alone.append(timed(lambda call=call, head=head: attnviz.derive(call, head)))
        drawn.append(timed(lambda call=call, head=head: attnviz.derive(call, head).views()))
        wrong = wrong or wrong_steps(attnviz.derive(call, head))
    return [
        Result(f"derive one head, n={N_TOKENS}", tuple(alone[3:]), "ms", DERIVE_MS, wrong),
        Result(
            f"derive one head with all matrices and errors, n={N_TOKENS}",
            tuple(drawn[3:]),
            "ms",
            wrong=wrong,
        ),
    ]


def wrong_steps(steps: Steps) -> str | None:
    scores = steps.q @ steps.k.T * steps.inputs.scaling
    expected = torch.softmax(scores, dim=-1)
    difference = float((steps.weights - expected).abs().max())
    if not difference <= SAME:
        return f"{steps.id}: weights are off by {difference:.1e}"
    bad = [comparison for comparison in steps.comparisons.values() if not comparison.ok]
    return f"{steps.id}: {bad}" if bad else None


def payload(
    text: str,
    capture: Capture,
    name: str = "overview payload",
    share: float = 1.0,
    **parameters: str,
) -> Result:
    """The bytes that the overview sends for all heads, names and sentences included.

    Of a long text the weights follow a first picture; its bytes count too. `share` is what part of
    the weights has to travel at most.
    """
    logging.getLogger(BARE_MODE_LOGGER).setLevel(logging.ERROR)  # warns that there is no browser
    app = AppTest.from_file(ENTRY, default_timeout=RUN_LIMIT_S)
    # with a model the address is that of a view, and not of the stage with this text
    for parameter, value in {"model": DEFAULT_MODEL, "text": text, **parameters}.items():
        app.query_params[parameter] = value
    mounted = app.run().main.get("bidi_component")  # the bar has others
    sent: dict[str, list[bytes]] = {grid.CANVAS.element: [], rest.CANVAS.element: []}
    for part in mounted:
        if part.proto.component_name in sent:
            sent[part.proto.component_name].append(part.proto.bytes)
    pictures, later = ([unpack(data)[1] for data in parts] for parts in sent.values())
    weights = capture.all_weights()
    codes = [arrays["weights"] for arrays in later if "weights" in arrays] or [
        arrays["weights"] for arrays in pictures
    ]
    small = sum(arrays["first.largest"].size for arrays in pictures if "first.largest" in arrays)
    off = float(np.abs(np.concatenate(codes) / 255 - np.sqrt(weights)).max())
    return Result(
        name=f"{name}, n={weights.shape[-1]}",
        samples=(sum(len(data) for parts in sent.values() for data in parts) / 1000,),
        unit="kB",
        budget=round(PAYLOAD_EXTRA * (share * weights.size + small) / 1000, 1),
        wrong=None if off <= 0.5 / 255 + SAME else f"weights in the payload are off by {off:.1e}",
    )
