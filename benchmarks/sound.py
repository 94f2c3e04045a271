"""Half a minute as Whisper-tiny hears it: 1,500 frames, 4 layers of 6 heads in the encoder.

In: nothing; the model has that shape and random weights. Out: rows in CPU time of one thread: a
capture on a typed transcript, and all heads of the encoder from afar with their measures, as
Overview shows them. Derived numbers are held against the model's, maxima against torch's pooling.
"""

import tempfile
import time
from pathlib import Path

import torch
from torch.nn.functional import max_pool2d
from transformers import WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

import attnviz
from attnviz.attention.capture import Capture
from attnviz.audio import sound
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures import grid
from attnviz.pictures.group import groups, measures
from attnviz.pictures.group.groups import Group, size_of
from benchmarks.measure import Result, timed
from tests.support.folders import VOCAB, tokenizer

LAYERS, HEADS, WIDTH, LONGEST = 4, 6, 384, 448
CAPTURE_MS, AFAR_MS = 1500, 2000
SPOKEN = "the cat sat on a mat"


def measure(rounds: int) -> list[Result]:
    """Both rows; one thread, as the app computes."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            model = attnviz.load(str(_saved(Path(folder))))
        capture = attnviz.capture(model, sound=sound.sample(), target=SPOKEN)
        return [_capture(model, capture, rounds), _afar(groups.groups(capture)[0], rounds)]
    finally:
        torch.set_num_threads(threads)


def _capture(model: LoadedModel, capture: Capture, rounds: int) -> Result:
    def run() -> None:
        attnviz.capture(model, sound=sound.sample(), target=SPOKEN)

    verification = capture.verify()
    wrong = None if verification.ok else f"numbers are off: {verification}"
    samples = tuple(timed(run, time.process_time) for _ in range(rounds))
    return Result("capture of 30 s, CPU", samples, "ms", CAPTURE_MS, wrong)


def _afar(group: Group, rounds: int) -> Result:
    side = grid.square_side(size_of(group))

    def run() -> None:
        list(grid.pooled_layers(group, side))
        measures.measure(group)

    ours = next(iter(grid.pooled_layers(group, side)))
    theirs = max_pool2d(torch.from_numpy(next(groups.each_layer(group))), side, ceil_mode=True)
    wrong = None if (theirs.numpy() == ours).all() else "maxima are not those of torch"
    samples = tuple(timed(run, time.process_time) for _ in range(rounds))
    name = f"{LAYERS * HEADS} heads of {size_of(group).n_longest:,} frames from afar, CPU"
    return Result(name, samples, "ms", AFAR_MS, wrong)


def _saved(folder: Path) -> Path:
    torch.manual_seed(3)
    sides = {f"{of}_{part}": n for of in ("encoder", "decoder") for part, n in _SHAPE.items()}
    config = WhisperConfig(
        **sides,
        vocab_size=VOCAB,
        d_model=WIDTH,
        max_target_positions=LONGEST,
        decoder_start_token_id=4,
        pad_token_id=0,
        bos_token_id=4,
        eos_token_id=5,
    )
    WhisperForConditionalGeneration(config).save_pretrained(folder)
    WhisperFeatureExtractor(80).save_pretrained(folder)
    tokenizer("transcript", LONGEST).save_pretrained(folder)
    return folder


_SHAPE = {"layers": LAYERS, "attention_heads": HEADS, "ffn_dim": 4 * WIDTH}
