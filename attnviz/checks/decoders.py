"""What a decoder can do and which of its heads does it, measured on prompts with known answers.

In: a loaded decoder and what `worlds.stories.probes` makes. Out: shares, and scores for each
[layer, head] taken from captures. *Induction*: the mean weight that a token of the second copy of
random tokens gives to the token after its first copy. *Previous*: the mean weight given to the
token before. (Elhage et al. 2021, Olsson et al. 2022.)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Int64

from attnviz.capture.generation.settings import Generation
from attnviz.capture.run import capture
from attnviz.models.loaded import LoadedModel
from attnviz.types import HeadId, Tokens
from attnviz.worlds.stories.probes import Choice

HeadScores = Float[np.ndarray, "layer head"]
# so many prompts go through the model together
BATCH = 50


@dataclass(frozen=True, eq=False)
class Copying:
    """`accuracy`: share of the second copy's tokens, its first aside, that come out on top."""

    accuracy: float
    induction: HeadScores
    previous: HeadScores


def copying(lm: LoadedModel, ids: Int64[np.ndarray, "text token"]) -> Copying:
    """How well random tokens that come twice are copied, and by which heads."""
    inputs = torch.from_numpy(ids)
    cap = capture(lm, inputs={"input_ids": inputs, "attention_mask": torch.ones_like(inputs)})
    assert cap.logits is not None
    length = (ids.shape[1] - 1) // 2
    asking = np.arange(length + 1, 2 * length)
    guesses = cap.logits[:, asking].argmax(-1).numpy()
    later = np.arange(2, ids.shape[1])
    induction, previous = [], []
    for batch in range(len(ids)):
        weights = cap.all_weights(batch)
        induction.append(weights[:, :, asking, asking - length + 1].mean(-1))
        previous.append(weights[:, :, later, later - 1].mean(-1))
    return Copying(
        accuracy=float((guesses == ids[:, asking + 1]).mean()),
        induction=np.mean(induction, axis=0),
        previous=np.mean(previous, axis=0),
    )


def best(scores: HeadScores) -> tuple[HeadId, float]:
    """The head with the largest score, and the score."""
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return HeadId(int(layer), int(head)), float(scores[layer, head])


def share_right(lm: LoadedModel, choices: Sequence[Choice]) -> float:
    """How often the right continuation is more likely than the wrong one."""
    right = log_likelihoods(lm, [(choice.prompt, choice.right) for choice in choices])
    wrong = log_likelihoods(lm, [(choice.prompt, choice.wrong) for choice in choices])
    return float((right > wrong).mean())


def log_likelihoods(
    lm: LoadedModel, pairs: Sequence[tuple[str, str]]
) -> Float32[np.ndarray, "pair"]:
    """log p(continuation | prompt) of each pair, summed over the continuation's tokens."""
    found = [_continued(lm, pairs[start : start + BATCH]) for start in range(0, len(pairs), BATCH)]
    return np.concatenate([log_p.sum(-1) for log_p, _ in found])


def share_on_top(lm: LoadedModel, pairs: Sequence[tuple[str, str]]) -> float:
    """How often every token of the continuation is the most likely one."""
    found = [_continued(lm, pairs[start : start + BATCH]) for start in range(0, len(pairs), BATCH)]
    return float(np.concatenate([top.all(-1) for _, top in found]).mean())


def mean_loss(lm: LoadedModel, texts: Sequence[str]) -> float:
    """The mean of −log p over the tokens of the texts, in nats."""
    total, n_tokens = 0.0, 0
    for start in range(0, len(texts), BATCH):
        rows = [_ids(lm, text) for text in texts[start : start + BATCH]]
        log_p, _ = _scored(lm, rows, [1] * len(rows))
        total -= float(log_p.sum())
        n_tokens += sum(len(row) - 1 for row in rows)
    return total / n_tokens


def _continued(
    lm: LoadedModel, pairs: Sequence[tuple[str, str]]
) -> tuple[Float32[np.ndarray, "pair token"], Bool[np.ndarray, "row token"]]:
    prompts = [_ids(lm, prompt) for prompt, _ in pairs]
    rows = [_ids(lm, prompt + continuation) for prompt, continuation in pairs]
    return _scored(lm, rows, [len(prompt) for prompt in prompts])


def _ids(lm: LoadedModel, text: str) -> list[int]:
    ids: list[int] = lm.text_tokenizer()(text)["input_ids"][: lm.max_tokens]
    return ids


@torch.no_grad()
def _scored(
    lm: LoadedModel, rows: Sequence[list[int]], starts: Sequence[int]
) -> tuple[Float32[np.ndarray, "row token"], Bool[np.ndarray, "row token"]]:
    """For each token from its row's start on: log p, and whether it is on top; else 0 and True.

    Rows are filled up on the right: a causal model's earlier tokens do not see what follows.
    """
    longest = max(map(len, rows))
    ids = torch.tensor([row + [row[0]] * (longest - len(row)) for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    filled = torch.arange(longest) < lengths[:, None]
    with lm.lock:
        logits = lm.model(input_ids=ids, attention_mask=filled.long()).logits[:, :-1].float()
    next_ids = ids[:, 1:]
    log_p = logits.log_softmax(-1).gather(-1, next_ids[..., None])[..., 0]
    place = torch.arange(1, longest)
    counts = (place >= torch.tensor(starts)[:, None]) & filled[:, 1:]
    on_top = (logits.argmax(-1) == next_ids) | ~counts
    return (log_p * counts).numpy(), on_top.numpy()


@dataclass(frozen=True, eq=False)
class Looking:
    """What the last token of each prompt gives to the two candidates, [prompt, layer, head]."""

    right: Float[np.ndarray, "prompt layer head"]
    wrong: Float[np.ndarray, "prompt layer head"]

    @property
    def preference(self) -> HeadScores:
        """Mean weight on the right candidate minus that on the wrong one."""
        return np.asarray((self.right - self.wrong).mean(axis=0))

    def share_right(self, head: HeadId) -> float:
        """How often the head gives the right candidate more than the wrong one; by chance 0.5."""
        right, wrong = (mass[:, head.layer, head.head] for mass in (self.right, self.wrong))
        return float((right > wrong).mean())


def looking(lm: LoadedModel, choices: Sequence[Choice]) -> Looking:
    """Where the last token of each prompt looks: at which of the two candidates, wherever named."""
    right, wrong = [], []
    for start in range(0, len(choices), BATCH):
        some = choices[start : start + BATCH]
        cap = capture(lm, [choice.prompt for choice in some])
        for batch, choice in enumerate(some):
            tokens = cap.tokens_of(batch)
            last = int(np.flatnonzero(~tokens.padding)[-1])
            row = cap.all_weights(batch)[:, :, last]
            right.append(row[:, :, _named(tokens, choice.right)].sum(-1))
            wrong.append(row[:, :, _named(tokens, choice.wrong)].sum(-1))
    return Looking(np.stack(right), np.stack(wrong))


def _named(tokens: Tokens, word: str) -> list[int]:
    """The tokens that spell the word, wherever it stands in the text."""
    found, start = [], tokens.text.find(word)
    while start >= 0:
        end = start + len(word)
        found += [n for n, (a, b) in enumerate(tokens.offsets) if a < end and b > start + 1]
        start = tokens.text.find(word, end)
    return found


def continued(lm: LoadedModel, prompt: str, how: Generation) -> str:
    """The prompt with what the model writes after it, up to the end of its text."""
    cap = capture(lm, prompt, generate=how)
    text = lm.text_tokenizer().decode(cap.tokens.ids.tolist(), skip_special_tokens=True)
    assert isinstance(text, str)
    return text
