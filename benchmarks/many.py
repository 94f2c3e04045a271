"""Many texts: `python -m benchmarks.many [--texts 512] [--rounds 3]`.

The map and the survey of MiniLM on sentences of tales, in CPU time of one thread, so that other
work on the machine counts little:

    planes      moments, planes and places of 72 heads × 1,000 tokens (2,000 points); budget 0.3 s
    payload     the places of these points as they travel; budget 0.6 MB
    t-SNE       the same points of one head by t-SNE, with what it keeps; budget 6 s
    survey      the whole count ÷ the plain forward passes of the same texts, 32 at once in their
                order; budget 1.25: 80 % of the forward's tokens per second. Beside it, without
                a budget, ÷ the forward passes of the survey's own batches, sorted by length
    10,000      what 10,000 sentences of simple English take at that rate, 15 tokens each for
                MiniLM and 20 for stories; budgets 70 s and 30 s
    atlas       the survey that comes with MiniLM: its size, and opening it; budgets 0.4 MB, 1 s
    frame       one head with 50,000 points as pixels of 620 × 620, hover over them, and the small
                maps of 72 heads × 2,000 points, in Node; budgets 16, 16 and 50 ms

Each is checked while it is timed: planes against numpy's singular values of the whole score matrix,
the survey against the tokens that went in. Memory and processes are in `benchmarks.survey_jobs`.
Ends with code 1 when a result is wrong.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

import attnviz
from attnviz import Capture, LoadedModel
from attnviz.attention.inputs import AttentionInputs
from attnviz.corpus.embed import Embedding, embed_captures
from attnviz.corpus.embedded import path_of
from attnviz.corpus.neighbours import Neighbours, neighbours
from attnviz.corpus.result import Survey
from attnviz.corpus.samples import map_texts, sample_texts
from attnviz.corpus.shards import BATCH, SHARD, batches
from attnviz.corpus.survey import survey_at_once
from attnviz.metrics.patterns import counted_queries
from attnviz.pictures.map import coded, scales
from attnviz.types import HeadId
from benchmarks.measure import Result, report, timed

MODEL = "minilm"
PLANES_MS, PAYLOAD_MB, SURVEY_RATIO, TSNE_MS = 300.0, 0.6, 1.25, 6000.0
SENTENCES_S = {"minilm": 70.0, "stories": 30.0}
ATLAS_MB, ATLAS_MS = 0.4, 1000.0
FRAME_MS, MATRIX_MS = 16.0, 50.0
SENTENCES = 10_000
SENTENCE = {"minilm": 15, "stories": 20}  # tokens of a sentence of simple English
CHECKED = ("L0.H2", "L3.H1", "L5.H11")
EXACT = 1e-6
SCRIPT = Path(__file__).with_name("many_pixels.mjs")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say by the exit code whether all results were right."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.many", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--texts", type=int, default=SHARD, help="texts of the survey")
    parser.add_argument("--rounds", type=int, default=3, help="samples of each figure")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    lm = attnviz.load(MODEL)
    results = [*of_map(lm, options.rounds), of_tsne(lm), *of_atlas(options.rounds)]
    for name in SENTENCES_S:
        results += of_survey(attnviz.load(name), options.texts, options.rounds)
    results += of_pixels()
    return report(results, in_json=options.json)


def of_map(lm: LoadedModel, rounds: int) -> list[Result]:
    """The planes of all heads, and the places that travel."""
    texts = map_texts(lm)
    cap = attnviz.capture(lm, list(texts))
    made: list[Embedding] = []

    def draw() -> None:
        made.append(embed_captures([cap]))
        for row in range(cap.n_batch):
            made[-1].place(cap, row)

    spent = tuple(timed(draw, time.thread_time) for _ in range(rounds))
    maps = made[-1]
    placed = [maps.place(cap, row) for row in range(cap.n_batch)]
    real = [~cap.tokens_of(row).padding for row in range(cap.n_batch)]
    places = np.concatenate(
        [
            np.stack([place.queries[:, keep], place.keys[:, keep]], axis=1)
            for place, keep in zip(placed, real, strict=True)
        ],
        axis=2,
    )
    payload = coded(places, scales(places)).nbytes / 1e6
    n_point = 2 * places.shape[2]
    return [
        Result(
            f"planes of {len(maps.heads)} heads × {n_point} points",
            spent,
            "ms",
            PLANES_MS,
            wrong_planes(maps, cap),
        ),
        Result("places of these points", (payload,), "MB", PAYLOAD_MB),
    ]


def wrong_planes(maps: Embedding, cap: Capture) -> str | None:
    """Says which head keeps another share than numpy's singular values say, if one does."""
    for head in CHECKED:
        place = HeadId.parse(head)
        inputs = cap.call(place.layer).inputs
        assert isinstance(inputs, AttentionInputs)
        words = [counted_queries(cap.tokens_of(row)) for row in range(cap.n_batch)]
        query, key = (
            np.concatenate(
                [inputs.qkv(place.head, row)[side].numpy()[keep] for row, keep in enumerate(words)]
            ).astype(np.float64)
            for side in (0, 1)
        )
        scores = query @ (key - key.mean(0)).T
        singular = np.linalg.svd(scores, compute_uv=False)
        kept = float((singular[:2] ** 2).sum() / (singular**2).sum())
        if abs(kept - maps.kept(head)) > EXACT:
            return f"{head} keeps {kept:.6f}, not {maps.kept(head):.6f}"
    return None


def of_tsne(lm: LoadedModel) -> Result:
    """One head by t-SNE."""
    cap = attnviz.capture(lm, list(map_texts(lm)))
    drawn: list[Neighbours] = []
    head = HeadId.parse(CHECKED[-1])
    spent = timed(lambda: drawn.append(neighbours([cap], head)), time.thread_time)
    n_token = sum(int((~cap.tokens_of(row).padding).sum()) for row in range(cap.n_batch))
    places = drawn[0].queries
    fits = places.shape == (n_token, 2) and bool(np.isfinite(places).all())
    wrong = None if fits and drawn[0].kept == drawn[0].kept else f"places {places.shape}"
    return Result(f"t-SNE of {head}, {2 * n_token} points", (spent,), "ms", TSNE_MS, wrong)


def of_atlas(rounds: int) -> list[Result]:
    """The survey that comes with MiniLM."""
    path = path_of(MODEL)
    read: list[Survey] = []
    spent = tuple(
        timed(lambda: read.append(attnviz.read(path)), time.thread_time) for _ in range(rounds)
    )
    wrong = None if read[-1].n_text >= 2000 else f"{read[-1].n_text} texts"
    return [
        Result(f"the survey of {MODEL}", (path.stat().st_size / 1e6,), "MB", ATLAS_MB, wrong),
        Result("opening it", spent, "ms", ATLAS_MS, wrong),
    ]


def of_survey(lm: LoadedModel, n_text: int, rounds: int) -> list[Result]:
    """The count of many texts beside the plain forward passes of the same batches."""
    texts = sample_texts(lm)[: min(n_text, SHARD)]
    ids = lm.tokenize(list(texts), truncation=True)["input_ids"]
    every = range(len(texts))
    in_order = tokenized(lm, texts, [every[at : at + BATCH] for at in every[::BATCH]])
    by_length = tokenized(lm, texts, batches([len(row) for row in ids]))
    n_token = sum(map(len, ids))
    forward(lm, by_length)  # the first pass of a model is no measure of the next
    counted = []
    ratios, by_length_ratios, seconds = [], [], []
    for _ in range(rounds):
        spent = timed(lambda: counted.append(survey_at_once(lm, texts)), time.thread_time)
        ratios.append(spent / timed(lambda: forward(lm, in_order), time.thread_time))
        by_length_ratios.append(spent / timed(lambda: forward(lm, by_length), time.thread_time))
        seconds.append(spent / 1000 * SENTENCES * SENTENCE[lm.name] / n_token)
    survey = counted[-1]
    found = (survey.n_text, survey.n_token)
    wrong = None if found == (len(texts), n_token) else f"{found}, not {(len(texts), n_token)}"
    return [
        Result(f"{lm.name}: survey ÷ plain forward", tuple(ratios), "×", SURVEY_RATIO, wrong),
        Result(f"{lm.name}: survey ÷ forward sorted by length", tuple(by_length_ratios), "×"),
        Result(
            f"{lm.name}: {SENTENCES:,} sentences at that rate",
            tuple(seconds),
            "s",
            SENTENCES_S[lm.name],
        ),
    ]


def tokenized(
    lm: LoadedModel, texts: Sequence[str], groups: Iterable[Sequence[int]]
) -> list[Mapping[str, torch.Tensor]]:
    """The inputs of each group of texts, padded."""
    return [
        lm.tokenize([texts[place] for place in group], padding=True, return_tensors="pt")
        for group in groups
    ]


def forward(lm: LoadedModel, groups: Sequence[Mapping[str, torch.Tensor]]) -> None:
    """The plain forward passes of some inputs."""
    with torch.no_grad():
        for group in groups:
            lm.model(**group)


def of_pixels() -> list[Result]:
    """Points as pixels, in Node: what the browser does in a frame, without its canvas."""
    names = {
        "frame": ("one head × 50,000 points, a frame", FRAME_MS),
        "hover": ("one head × 50,000 points, hover", FRAME_MS),
        "matrix": ("72 heads × 2,000 points, small maps", MATRIX_MS),
    }
    node = shutil.which("node")
    if node is None:
        return [
            Result(title, (), "ms", budget, skipped="there is no Node")
            for title, budget in names.values()
        ]
    answer = subprocess.run([node, str(SCRIPT)], capture_output=True, text=True, check=True)
    spent = json.loads(answer.stdout)
    return [
        Result(title, tuple(spent[name]), "ms", budget, None if spent["right"] else "no pixels")
        for name, (title, budget) in names.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
