"""The abilities of a decoder and the heads behind them, measured on prompts with known answers.

In: a loaded decoder and held-out cases (`attnviz.worlds.cases`). Out: fractions, and scores for
each [layer, head] taken from captures. *Induction*: the mean weight that a token of the second copy
of random tokens gives to the token after its first copy. *Previous*: the mean weight given to the
token before. (Elhage et al. 2021, Olsson et al. 2022.)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Int64

from attnviz.capture.generation.settings import Generation
from attnviz.capture.run import capture
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import HeadId, Tokens
from attnviz.worlds.cases import Choice

HeadScores = Float[np.ndarray, "layer head"]
Continuation = tuple[str, str]  # a prompt and the text that follows it
BATCH = 50  # prompts per forward pass


@dataclass(frozen=True, eq=False)
class CopyScores:
    """`accuracy`: the fraction of the second copy's tokens, without its first, predicted right."""

    accuracy: float
    induction: HeadScores
    previous: HeadScores


def repeated_tokens(
    rng: np.random.Generator, n_vocab: int, n_texts: int, length: int, bos: int = 0
) -> Int64[np.ndarray, "text token"]:
    """Texts of one `bos` and `length` random tokens twice over; no random token equals the bos."""
    once = rng.integers(0, n_vocab - 1, (n_texts, length))
    once += once >= bos
    starts = np.full((n_texts, 1), bos)
    return np.concatenate([starts, once, once], axis=1).astype(np.int64)


def copy_scores(lm: LoadedModel, ids: Int64[np.ndarray, "text token"]) -> CopyScores:
    """The model's accuracy in copying `repeated_tokens`, and the copying scores of its heads."""
    inputs = torch.from_numpy(ids)
    captured = capture(lm, inputs={"input_ids": inputs, "attention_mask": torch.ones_like(inputs)})
    assert captured.logits is not None
    length = (ids.shape[1] - 1) // 2
    second_copy = np.arange(length + 1, 2 * length)
    predicted = captured.logits[:, second_copy].argmax(-1).numpy()
    later = np.arange(2, ids.shape[1])
    induction, previous = [], []
    for batch in range(len(ids)):
        weights = captured.all_weights(batch)
        induction.append(weights[:, :, second_copy, second_copy - length + 1].mean(-1))
        previous.append(weights[:, :, later, later - 1].mean(-1))
    return CopyScores(
        accuracy=float((predicted == ids[:, second_copy + 1]).mean()),
        induction=np.mean(induction, axis=0),
        previous=np.mean(previous, axis=0),
    )


def best_head(scores: HeadScores) -> tuple[HeadId, float]:
    """The head with the largest score, and the score."""
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return HeadId(int(layer), int(head)), float(scores[layer, head])


def choice_accuracy(lm: LoadedModel, choices: Sequence[Choice]) -> float:
    """The fraction of choices whose right continuation is more likely than the wrong one."""
    right = log_likelihoods(lm, [(choice.prompt, choice.right) for choice in choices])
    wrong = log_likelihoods(lm, [(choice.prompt, choice.wrong) for choice in choices])
    return float((right > wrong).mean())


def log_likelihoods(lm: LoadedModel, pairs: Sequence[Continuation]) -> Float32[np.ndarray, "pair"]:
    """log p(continuation | prompt) of each pair, summed over the continuation's tokens."""
    scored = [
        _score_continuations(lm, pairs[start : start + BATCH])
        for start in range(0, len(pairs), BATCH)
    ]
    return np.concatenate([log_p.sum(-1) for log_p, _ in scored])


def greedy_accuracy(lm: LoadedModel, pairs: Sequence[Continuation]) -> float:
    """The fraction of pairs whose continuation is the most likely one, token by token."""
    scored = [
        _score_continuations(lm, pairs[start : start + BATCH])
        for start in range(0, len(pairs), BATCH)
    ]
    return float(np.concatenate([is_top.all(-1) for _, is_top in scored]).mean())


def mean_loss(lm: LoadedModel, texts: Sequence[str]) -> float:
    """The mean of −log p over the tokens of the texts, in nats."""
    total, n_tokens = 0.0, 0
    for start in range(0, len(texts), BATCH):
        rows = [_token_ids(lm, text) for text in texts[start : start + BATCH]]
        log_p, _ = _score_rows(lm, rows, [1] * len(rows))
        total -= float(log_p.sum())
        n_tokens += sum(len(row) - 1 for row in rows)
    return total / n_tokens


def _score_continuations(
    lm: LoadedModel, pairs: Sequence[Continuation]
) -> tuple[Float32[np.ndarray, "pair token"], Bool[np.ndarray, "row token"]]:
    prompts = [_token_ids(lm, prompt) for prompt, _ in pairs]
    rows = [_token_ids(lm, prompt + continuation) for prompt, continuation in pairs]
    return _score_rows(lm, rows, [len(prompt) for prompt in prompts])


def _token_ids(lm: LoadedModel, text: str) -> list[int]:
    ids: list[int] = lm.text_tokenizer()(text)["input_ids"][: lm.max_tokens]
    return ids


@torch.no_grad()
def _score_rows(
    lm: LoadedModel, rows: Sequence[list[int]], starts: Sequence[int]
) -> tuple[Float32[np.ndarray, "row token"], Bool[np.ndarray, "row token"]]:
    """For each token from its row's start on: log p, and True if no other is likelier.

    Tokens before the start and padding get 0 and True. Rows are padded on the right: a causal
    model's earlier tokens do not see what follows.
    """
    longest = max(map(len, rows))
    ids = torch.tensor([row + [row[0]] * (longest - len(row)) for row in rows])
    lengths = torch.tensor([len(row) for row in rows])
    is_text = torch.arange(longest) < lengths[:, None]
    with lm.lock:
        logits = lm.model(input_ids=ids, attention_mask=is_text.long()).logits[:, :-1].float()
    next_ids = ids[:, 1:]
    log_p = logits.log_softmax(-1).gather(-1, next_ids[..., None])[..., 0]
    position = torch.arange(1, longest)
    counts = (position >= torch.tensor(starts)[:, None]) & is_text[:, 1:]
    is_top = (logits.argmax(-1) == next_ids) | ~counts
    return (log_p * counts).numpy(), is_top.numpy()


@dataclass(frozen=True, eq=False)
class CandidateWeights:
    """The weight from the last token of each prompt to its two candidates."""

    right: Float[np.ndarray, "prompt layer head"]
    wrong: Float[np.ndarray, "prompt layer head"]

    @property
    def preference(self) -> HeadScores:
        """The mean weight on the right candidate minus that on the wrong one."""
        return np.asarray((self.right - self.wrong).mean(axis=0))

    def accuracy(self, head: HeadId) -> float:
        """The fraction of prompts where the head prefers the right candidate; 0.5 by chance."""
        right, wrong = (weight[:, head.layer, head.head] for weight in (self.right, self.wrong))
        return float((right > wrong).mean())


def candidate_weights(lm: LoadedModel, choices: Sequence[Choice]) -> CandidateWeights:
    """The weight from each prompt's last token to its two candidates, wherever they are named."""
    right, wrong = [], []
    for start in range(0, len(choices), BATCH):
        batch = choices[start : start + BATCH]
        captured = capture(lm, [choice.prompt for choice in batch])
        for row, choice in enumerate(batch):
            tokens = captured.tokens_of(row)
            last = int(np.flatnonzero(~tokens.padding)[-1])
            weights = captured.all_weights(row)[:, :, last]
            right.append(weights[:, :, _mentions(tokens, choice.right)].sum(-1))
            wrong.append(weights[:, :, _mentions(tokens, choice.wrong)].sum(-1))
    return CandidateWeights(np.stack(right), np.stack(wrong))


def _mentions(tokens: Tokens, word: str) -> list[int]:
    """The numbers of the tokens that spell the word, wherever it stands in the text."""
    numbers, start = [], tokens.text.find(word)
    while start >= 0:
        end = start + len(word)
        numbers += [n for n, (a, b) in enumerate(tokens.offsets) if a < end and b > start + 1]
        start = tokens.text.find(word, end)
    return numbers


def continue_prompt(lm: LoadedModel, prompt: str, generation: Generation) -> str:
    """The prompt and the text that the model generates after it."""
    captured = capture(lm, prompt, generate=generation)
    text = lm.text_tokenizer().decode(captured.tokens.ids.tolist(), skip_special_tokens=True)
    assert isinstance(text, str)
    return text
