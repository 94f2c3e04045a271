"""Runs of a text with random tokens where it differs from another: the control of a patch.

In: two inputs whose tokens stand at the same places. Out: the recorded calls of one pass with a row
for each draw. The tokens are drawn from the model's reference texts.
"""

import random

import torch

from attnviz.attention.call import AttentionCall
from attnviz.capture.changed.references import reference_of
from attnviz.capture.record.recorder import record
from attnviz.errors import BadInput
from attnviz.experiment.alignment import differing_places
from attnviz.experiment.clean_run import CleanRun

SEED = 0


def random_runs(prepared: CleanRun, source: CleanRun, draws: int) -> tuple[AttentionCall, ...]:
    """The calls of the source with random tokens where it differs, a row for each draw.

    A token that stands at several of these places becomes the same random token at each.
    """
    inputs = source.repeated(draws)
    pool, draw_from = _pool(source), random.Random(SEED)
    for name, places in differing_places(prepared, source).items():
        ids = inputs[name].clone()
        used = {*ids[0].tolist(), *prepared.inputs[name][0].tolist()}
        free = [token for token in pool if token not in used]
        for row in ids:
            tokens = dict.fromkeys(row[list(places)].tolist())
            chosen = dict(zip(tokens, draw_from.sample(free, len(tokens)), strict=True))
            for place in places:
                row[place] = chosen[int(row[place])]
        inputs[name] = ids
    lm = source.lm
    with lm.lock, torch.no_grad(), record(lm.model) as calls:
        lm.model(**inputs, **source.options)
    return tuple(calls)


def _pool(source: CleanRun) -> list[int]:
    """The tokens of the model's reference texts; of its vocabulary where it has none."""
    lm = source.lm
    tokenizer = lm.text_tokenizer()
    special = set(tokenizer.all_special_ids)
    try:
        texts = reference_of(lm).texts
    except BadInput:
        texts = ()
    ids = {token for text in texts for token in lm.tokenize(text)["input_ids"]}
    return sorted((ids or set(range(len(tokenizer)))) - special)
