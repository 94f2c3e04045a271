"""One head of a long text: `python -m benchmarks.tiles [--lengths 4096,8192,16384] [--browser]`.

A GPT-2 of 2 layers × 4 heads (d_head 64) with positions for 16,384 tokens and random weights, one
thread. Times are CPU time of that thread, so that other work on the machine counts little. Rows for
each length, the shortest first (peak memory can only be read as it grows):

    capture     attnviz.capture on ready-made inputs, and by how much the process grew at its peak
    pyramid     one head's pyramid: normalisers and all levels from 3 up; budget 5 s at 16,384
    tile        one tile of levels 0, 1, 2; 16 of them are a cold jump, whose budget is 400 ms
    strongest   the 100 strongest cells away from the diagonal and the first column

Each is checked while it is timed: against softmax(q·kᵀ·scaling) of sampled rows, written out here.
Ends with code 1 when a result is wrong.
"""

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import attnviz
from attnviz import Capture, LoadedModel, tiles
from attnviz.attention.call import AttentionCall
from attnviz.tiles.pyramid import TILE, Pyramid
from benchmarks.measure import Result, peak_mib, report, timed

LENGTHS = (4096, 8192, 16_384)
VOCABULARY, LAYERS, HEADS, D_MODEL = 512, 2, 4, 256
LAYER, HEAD = 1, 2
BUILD_S, JUMP_MS, JUMP_TILES = 5.0, 400.0, 16
CELLS = 100
ROUNDS = 8
EXACT = 1e-6


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.tiles", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--lengths", default=",".join(map(str, LENGTHS)), help="numbers of tokens")
    parser.add_argument("--browser", action="store_true", help="also in Chromium, the longest text")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    lengths = sorted(map(int, options.lengths.split(",")))
    lm = attnviz.load(small_model(lengths[-1]))
    results = [result for length in lengths for result in measure(lm, length)]
    if options.browser:
        from benchmarks import tiles_browser

        results += tiles_browser.measure(lm.model, lengths[-1], ROUNDS)
    return report(results, in_json=options.json)


def small_model(positions: int) -> GPT2LMHeadModel:
    """A GPT-2 with random weights whose heads are peaky enough to have something to find."""
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=positions,
        n_embd=D_MODEL,
        n_layer=LAYERS,
        n_head=HEADS,
        bos_token_id=0,
        eos_token_id=0,
    )
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=1.3 / parameter.shape[0] ** 0.5)
    return model


def measure(lm: LoadedModel, length: int) -> list[Result]:
    """All rows of one length."""
    ids = torch.randint(0, VOCABULARY, (1, length), generator=torch.Generator().manual_seed(1))
    before = peak_mib()
    captured: list[Capture] = []
    spent = timed(
        lambda: captured.append(attnviz.capture(lm, inputs={"input_ids": ids})), time.thread_time
    )
    capture, grown = captured[0], peak_mib() - before
    call = capture.call(LAYER)
    kept = capture.nbytes / 2**20
    wrong = None if call.verify().ok else "the capture is not the model's own"
    name = f"n={length}: "
    return [
        Result(f"{name}capture", (spent / 1000,), "s", wrong=wrong),
        Result(f"{name}capture, growth of the process at its peak", (grown,), "MiB"),
        Result(f"{name}capture keeps", (kept,), "MiB"),
        *of_head(name, call),
    ]


def of_head(name: str, call: AttentionCall) -> list[Result]:
    """Pyramid, tiles and strongest cells of one head."""
    built: list[Pyramid] = []
    spent = timed(lambda: built.append(tiles.build(call, HEAD)), time.thread_time)
    pyramid = built[0]
    truth = Truth(call)
    longest = call.n_query == LENGTHS[-1]
    return [
        Result(
            f"{name}pyramid of one head",
            (spent / 1000,),
            "s",
            BUILD_S if longest else None,
            truth.wrong_pyramid(pyramid),
        ),
        Result(f"{name}pyramid keeps", (pyramid.nbytes / 2**20,), "MiB"),
        *(of_level(name, pyramid, level, truth) for level in range(min(3, pyramid.top))),
        of_search(name, pyramid, truth),
    ]


def of_level(name: str, pyramid: Pyramid, level: int, truth: "Truth") -> Result:
    """Tiles down the diagonal, where a causal head has most to compute."""
    down, _ = pyramid.tiles(level)
    places = [place * (down - 1) // ROUNDS for place in range(ROUNDS)]
    samples = [
        timed(lambda at=at: pyramid.tile(level, at, at // 2), time.thread_time) for at in places
    ]
    return Result(
        f"{name}one tile of level {level}",
        tuple(samples),
        "ms",
        JUMP_MS / JUMP_TILES,
        truth.wrong_tile(pyramid, level, places[-1], places[-1] // 2),
    )


def of_search(name: str, pyramid: Pyramid, truth: "Truth") -> Result:
    found: list[tuple[tiles.StrongCell, ...]] = []
    spent = timed(lambda: found.append(tiles.strongest(pyramid, CELLS)), time.thread_time)
    return Result(
        f"{name}{CELLS} strongest cells", (spent,), "ms", wrong=truth.wrong_cells(found[0])
    )


class Truth:
    """Rows of the softmax, written out once more from q and k."""

    def __init__(self, call: AttentionCall) -> None:
        self.q, self.k, _ = call.inputs.qkv(HEAD)
        self.scaling = call.inputs.scaling
        self.n = call.n_query

    def rows(self, first: int, count: int) -> np.ndarray:
        scores = (self.q[first : first + count] @ self.k.T) * self.scaling
        future = torch.arange(self.n)[None, :] > torch.arange(first, first + len(scores))[:, None]
        return scores.masked_fill(future, -torch.inf).softmax(dim=-1).numpy()

    def wrong_pyramid(self, pyramid: Pyramid) -> str | None:
        """Exact rows here and there, and the top level's cells above them."""
        for first in range(0, self.n, self.n // 7):
            rows = self.rows(first, 8)
            off = np.abs(pyramid.weights(slice(first, first + len(rows)), slice(None)) - rows).max()
            if not off <= EXACT:
                return f"weights are off by {off:.1e}"
        factor = 1 << pyramid.top
        first = self.n // factor // 2 * factor
        return self._wrong_codes(
            pyramid.tile(pyramid.top, 0, 0)[first // factor], self.rows(first, factor), factor
        )

    def wrong_tile(self, pyramid: Pyramid, level: int, row: int, column: int) -> str | None:
        """The last line of a tile."""
        factor = 1 << level
        first = min(self.n, (row + 1) * TILE * factor) - factor
        keys = slice(column * TILE * factor, (column + 1) * TILE * factor)
        codes = pyramid.tile(level, row, column)[(first // factor) % TILE]
        return self._wrong_codes(codes, self.rows(first, factor)[:, keys], factor)

    def _wrong_codes(self, codes: np.ndarray, rows: np.ndarray, factor: int) -> str | None:
        across = rows.shape[1] // factor
        most = rows[:, : across * factor].reshape(factor, across, factor).max(axis=(0, 2))
        seen = most > 2.0**-23
        found = tiles.decoded(codes)[:across]
        with np.errstate(divide="ignore"):
            off = np.abs(np.log2(found[seen]) - np.log2(most[seen])).max(initial=0.0)
        steps = off / (tiles.OCTAVES / 255)
        return None if steps <= 0.51 else f"codes are off by {steps:.2f} steps"

    def wrong_cells(self, found: Sequence[tiles.StrongCell]) -> str | None:
        """No row sampled here may hold a stronger cell that is not in the list."""
        least, listed = found[-1].weight, {(cell.query, cell.key) for cell in found}
        for cell in found[:: CELLS // 5]:
            if abs(self.rows(cell.query, 1)[0, cell.key] - cell.weight) > EXACT:
                return f"cell {cell} has another weight"
        for first in range(0, self.n, 512):
            rows = self.rows(first, 64)
            for row, key in np.argwhere(rows > least + EXACT):
                query = first + int(row)
                away = abs(query - key) > tiles.DIAGONAL and key > 0
                if away and (query, int(key)) not in listed:
                    return f"cell {query}, {key} is stronger than the last one of the list"
        return None


if __name__ == "__main__":
    sys.exit(main())
