"""The speed of the models in the box: `python -m benchmarks.box [--model NAME] [--rounds N]`.

For every model that is stored inside attnviz: loading its folder once torch and transformers are in
memory, its checksum included (budget 1 s); capturing 64 tokens, or one picture (150 ms); and for
those that write, 40 tokens with every step recorded (1.5 s). One thread computes and its own CPU
time is counted, so that other work on the machine does not; medians. A text is the model's first
example, over and over. A model that would end early is made to write on, by taking its end from it.

Each figure is checked: derived numbers agree with the model's, the tokens are those of the plain
`generate`, each written token is the likeliest of the row that it was drawn from, and the scores
kept step by step equal those of one run over the whole text. A wrong result ends with code 1.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch

import attnviz
from attnviz.app.session import model_images
from attnviz.attention.capture import Capture
from attnviz.checks import examples
from attnviz.errors import AttnVizError
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.registry import REGISTRY, EmbeddedModel
from benchmarks.measure import Result, report, timed

N_TOKENS, N_WRITTEN = 64, 40
LOAD_MS, CAPTURE_MS, WRITE_MS = 1000.0, 150.0, 1500.0
SAME = 1e-4
ROUNDS = 7
WRITERS = ("decoder", "encoder-decoder")


def embedded() -> tuple[str, ...]:
    """The models that are stored inside attnviz."""
    return tuple(name for name, entry in REGISTRY.items() if isinstance(entry, EmbeddedModel))


def measure(name: str, rounds: int) -> Iterator[Result]:
    """The rows of one model."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        lm = attnviz.load(name)  # the first one imports what its class needs
        load = _samples(lambda: attnviz.load(name), rounds)
        yield Result(f"{name}: load", load, "ms", LOAD_MS)
        yield _captured(lm, rounds)
        if lm.kind in WRITERS:
            with _without_end(lm):
                yield _written(lm, rounds)
    finally:
        torch.set_num_threads(threads)


def _samples(work: Callable[[], object], rounds: int) -> tuple[float, ...]:
    return tuple(timed(work, time.process_time) for _ in range(rounds))


def _captured(lm: LoadedModel, rounds: int) -> Result:
    if lm.kind == "vision":
        image = model_images.drawn(next(iter(model_images.DRAWN)))
        what, run = "a picture", lambda: attnviz.capture(lm, image=image)
    else:
        text = text_of(lm, min(N_TOKENS, lm.max_tokens))
        target = text if lm.kind == "encoder-decoder" else None
        what = f"{len(attnviz.capture(lm, text, target=target).tokens)} tokens"
        run = lambda: attnviz.capture(lm, text, target=target)  # noqa: E731
    samples = _samples(run, rounds)
    return Result(f"{lm.name}: capture {what}", samples, "ms", CAPTURE_MS, _mismatch(run()))


def _written(lm: LoadedModel, rounds: int) -> Result:
    text = examples.texts(lm.name)[0]
    cap = attnviz.capture(lm, text, generate=N_WRITTEN)  # its last token is never read
    samples = _samples(lambda: attnviz.capture(lm, text, generate=N_WRITTEN), rounds)
    name = f"{lm.name}: write {cap.n_generated + 1} tokens"
    return Result(name, samples, "ms", WRITE_MS, _mismatch(cap) or _wrong_words(lm, text, cap))


def text_of(lm: LoadedModel, n_tokens: int) -> str:
    """As many words of the model's first example, over and over, as fit so many tokens."""
    words, taken = examples.texts(lm.name)[0].split(), ""
    while True:
        longer = f"{taken} {words[len(taken.split()) % len(words)]}".strip()
        if len(lm.text_tokenizer()(longer)["input_ids"]) > n_tokens:
            return taken
        taken = longer


@contextmanager
def _without_end(lm: LoadedModel) -> Iterator[None]:
    """The model without a token that ends its text."""
    config = lm.model.generation_config
    ends = {name: getattr(config, name) for name in ("eos_token_id", "forced_eos_token_id")}
    for name in ends:
        setattr(config, name, None)
    try:
        yield
    finally:
        for name, end in ends.items():
            setattr(config, name, end)


def _mismatch(cap: Capture) -> str | None:
    try:
        cap.verify().require()
    except AttnVizError as error:
        return str(error)
    return None


def _wrong_words(lm: LoadedModel, text: str, cap: Capture) -> str | None:
    """What is wrong with what was written, and with the scores kept on the way."""
    encoded = lm.text_tokenizer()(text, return_tensors="pt")
    inputs = {name: encoded[name] for name in ("input_ids", "attention_mask")}
    stack = "decoder" if lm.kind == "encoder-decoder" else None
    ids = torch.from_numpy(cap.tokens_of(0, stack).ids)[None]
    with torch.no_grad():
        plain = lm.model.generate(**inputs, max_new_tokens=N_WRITTEN, do_sample=False)
        whole = {"input_ids": ids} if stack is None else inputs | {"decoder_input_ids": ids}
        logits = lm.model(**whole).logits
    if plain[:, : ids.shape[1]].tolist() != ids.tolist():
        return f"wrote {ids.tolist()}, the plain generate {plain.tolist()}"
    difference = float((cap.logits - logits).abs().max())
    if not difference <= SAME:
        return f"scores differ from one run over the whole text by {difference:.1e}"
    n = cap.n_generated
    drawn, likeliest = ids[0, -n:], cap.logits[0].argmax(-1)[-n - 1 : -1]
    return None if torch.equal(drawn, likeliest) else "a token is not the likeliest of its row"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    parser = argparse.ArgumentParser(prog="benchmarks.box", description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=embedded(), action="append", help="default: every one")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    names = options.model or embedded()
    results = [result for name in names for result in measure(name, options.rounds)]
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
