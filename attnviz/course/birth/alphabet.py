"""The tokens that the tiny transformer learns from: letters that repeat, drawn at random.

In: a generator, or letters that somebody typed. Out: token ids. A sequence for training is one
random block of letters, repeated until the sequence is full; blocks differ in length from batch to
batch, so that no fixed distance helps and only looking for the same letter does. Sequences to
measure on are drawn from another seed: `repeated` are two copies of twelve different letters,
`fresh` twenty-four different letters, where there is nothing to copy.
"""

import torch
from jaxtyping import Int64
from torch import Generator, Tensor

from attnviz.errors import BadInput

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_LETTERS = 24
BLOCK = MOST_LETTERS // 2
SHORTEST_BLOCK = 4
BATCH = 48
MEASURED = 64
MEASURED_SEED = 2022  # no seed of a training: those are below it


def batch(draw: Generator) -> Int64[Tensor, "batch token"]:
    """Sequences to learn from: blocks of one random length, each repeated, cut anywhere."""
    period = _whole(SHORTEST_BLOCK, BLOCK + 1, draw)
    start = _whole(0, period, draw)
    blocks = torch.randint(len(LETTERS), (BATCH, period), generator=draw)
    places = (start + torch.arange(MOST_LETTERS)) % period
    return blocks[:, places]


def repeated() -> Int64[Tensor, "batch token"]:
    """Sequences to measure on: twelve different letters, and the same twelve again."""
    return _different(BLOCK).repeat(1, 2)


def fresh() -> Int64[Tensor, "batch token"]:
    """The control: as long, and no letter occurs twice."""
    return _different(MOST_LETTERS)


def example() -> str:
    """Letters to look at: the first of the sequences to measure on."""
    return "".join(labels(repeated()[0]))


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
    shown = typed.upper()
    if not 2 <= len(shown) <= MOST_LETTERS:
        raise BadInput(
            f"{len(shown)} letters: the model reads 2 to {MOST_LETTERS}",
            code="bad_letter_count",
            found=len(shown),
            most=MOST_LETTERS,
        )
    return torch.tensor([LETTERS.index(letter) for letter in shown])


def _different(count: int) -> Int64[Tensor, "batch token"]:
    draw = Generator().manual_seed(MEASURED_SEED)
    rows = [torch.randperm(len(LETTERS), generator=draw)[:count] for _ in range(MEASURED)]
    return torch.stack(rows)


def _whole(low: int, high: int, draw: Generator) -> int:
    return int(torch.randint(low, high, (1,), generator=draw))
