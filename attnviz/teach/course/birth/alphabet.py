"""The tokens of the tiny transformer: random letters that repeat.

In: a generator, or typed letters. Out: token ids. A sequence for training is one random block of
letters, repeated until the sequence is full; blocks differ in length from batch to batch, so that
only the search for the same letter helps, not a fixed distance. Sequences to measure on come from
another seed: `repeated` are two copies of twelve different letters, `fresh` twenty-four different
letters, where there is nothing to copy.
"""

import torch
from jaxtyping import Int64
from torch import Generator, Tensor

from attnviz.errors import BadInput

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_LETTERS = 24
BLOCK = MAX_LETTERS // 2
SHORTEST_BLOCK = 4
BATCH = 48
N_MEASURED = 64
MEASURED_SEED = 2022  # seeds of trainings are below it


def batch(draw: Generator) -> Int64[Tensor, "batch token"]:
    """Sequences to learn from: repeated blocks of one random length, cut anywhere."""
    period = _whole(SHORTEST_BLOCK, BLOCK + 1, draw)
    start = _whole(0, period, draw)
    blocks = torch.randint(len(LETTERS), (BATCH, period), generator=draw)
    positions = (start + torch.arange(MAX_LETTERS)) % period
    return blocks[:, positions]


def repeated() -> Int64[Tensor, "batch token"]:
    """Sequences to measure on: twelve different letters, and the same twelve again."""
    return _different(BLOCK).repeat(1, 2)


def fresh() -> Int64[Tensor, "batch token"]:
    """The control: sequences of the same length in which no letter occurs twice."""
    return _different(MAX_LETTERS)


def example() -> str:
    """The letters of the first sequence to measure on."""
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
