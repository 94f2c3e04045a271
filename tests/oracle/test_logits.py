"""The scores of a generated capture: those of one run over the whole text, row by row."""

import numpy as np
import pytest
import torch

from attnviz.capture.generation import logits as scores
from attnviz.capture.generation.settings import Generation
from attnviz.capture.run import capture
from attnviz.errors import BadInput
from attnviz.experiment.outputs.next_token import NONE, distribution, ranked
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from tests.oracle.test_kinds import WAYS
from tests.support import folders

TOLERANCE = 1e-4
END = 5  # the token that ends a text at once is never read, so that it is not in the capture
TEXTS = ["the cat sat on", "a dog"]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    names = ("gpt2", "llama", "marian", "t5")
    return {
        name: load(folders.save(tmp_path_factory.mktemp(name) / "model", name)) for name in names
    }


@pytest.mark.some(2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_decoders_rows_equal_one_run_over_the_whole(
    models: dict[str, LoadedModel], name: str, way: str
) -> None:
    lm = models[name]
    cap = capture(lm, TEXTS, generate=WAYS[way])
    assert cap.logits is not None
    ids = torch.tensor(np.stack([cap.tokens_of(batch).ids for batch in (0, 1)]))
    keep = torch.tensor(np.stack([~cap.tokens_of(batch).padding for batch in (0, 1)])).long()
    positions = (keep.cumsum(1) - 1).clamp(min=0)
    with torch.no_grad():
        own = lm.model(input_ids=ids, attention_mask=keep, position_ids=positions).logits
    assert cap.logits.shape == own.shape
    assert float((cap.logits - own)[keep.bool()].abs().max()) <= TOLERANCE


@pytest.mark.some(2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["marian", "t5"])
def test_an_encoder_decoders_rows_equal_one_run(
    models: dict[str, LoadedModel], name: str, way: str
) -> None:
    lm = models[name]
    cap = capture(lm, "the cat sat on a mat", generate=WAYS[way])
    assert cap.logits is not None
    source, target = (torch.tensor(cap.tokens_of(0, of).ids)[None] for of in ("encoder", "decoder"))  # type: ignore[arg-type]
    with torch.no_grad():
        own = lm.model(input_ids=source, decoder_input_ids=target).logits
    assert cap.logits.shape == own.shape
    assert float((cap.logits - own).abs().max()) <= TOLERANCE
    assert ranked(cap, 3).first == 0


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_a_written_token_was_drawn_from_its_row(models: dict[str, LoadedModel], name: str) -> None:
    cap = capture(models[name], "the cat", generate=9)
    assert cap.logits is not None
    likeliest, n = cap.logits[0].argmax(-1).tolist(), cap.n_generated
    assert n > 0
    assert likeliest[1:-1] == cap.tokens.ids[2:].tolist()
    assert ranked(cap, 3).drawn[1:].tolist() == [0] * n + [NONE]


@pytest.mark.slow
def test_sampling_draws_what_the_filters_leave(models: dict[str, LoadedModel]) -> None:
    """Each drawn token is left, and each that is left is drawn by some seed."""
    asked = {"temperature": 1.7, "top_k": 6, "top_p": 0.8}
    first: set[int] = set()
    for seed in range(60):
        cap = capture(models["gpt2"], "the cat", generate=Generation(3, seed=seed, **asked))  # type: ignore[arg-type]
        assert cap.logits is not None
        after = distribution(cap.logits[0], **asked).after  # type: ignore[arg-type]
        drawn = cap.tokens.ids[2:]
        assert (after[np.arange(1, 1 + len(drawn)), drawn] > 0).all()
        first.add(int(drawn[0]) if len(drawn) else END)
    likely = {int(token) for token in np.flatnonzero(after[1] > 0.1)}
    assert likely <= first <= {int(token) for token in np.flatnonzero(after[1])}


def test_a_models_own_settings_do_not_change_what_is_drawn(
    models: dict[str, LoadedModel],
) -> None:
    config = models["gpt2"].model.generation_config
    plain = capture(models["gpt2"], "the cat", generate=12).tokens.ids.tolist()
    config.repetition_penalty, config.min_p, config.no_repeat_ngram_size = 9.0, 0.9, 1
    try:
        again = capture(models["gpt2"], "the cat", generate=12).tokens.ids.tolist()
    finally:
        config.repetition_penalty = config.min_p = config.no_repeat_ngram_size = None
    assert again == plain


def test_memory_for_scores_is_bounded(
    models: dict[str, LoadedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "the cat sat on a mat and the dog ran"
    whole, written = capture(models["gpt2"], text), capture(models["gpt2"], text, generate=5)
    assert whole.logits is not None and written.logits is not None
    monkeypatch.setattr(scores, "MAX_BYTES", 7 * folders.VOCAB * 4)
    scored: list[int] = []
    head = models["gpt2"].model.get_output_embeddings()
    hook = head.register_forward_hook(lambda _module, _args, out: scored.append(out.shape[1]))
    few, few_written = capture(models["gpt2"], text), capture(models["gpt2"], text, generate=5)
    hook.remove()
    assert scored == [7, 1, 1, 1, 1, 1], "what would be dropped is not computed"
    assert few.logits is not None and few_written.logits is not None
    torch.testing.assert_close(few.logits, whole.logits[:, -7:], atol=1e-6, rtol=0)
    assert few.logits.untyped_storage().nbytes() == scores.MAX_BYTES
    # only the last row of the prompt was asked for: that and one for each token that was read
    torch.testing.assert_close(few_written.logits, written.logits[:, -5:], atol=1e-5, rtol=0)
    assert ranked(few_written, 3).first == len(few_written.tokens) - 5


@pytest.mark.parametrize(
    "wrong", [{"temperature": 0.0}, {"top_k": -1}, {"top_p": 0.0}, {"beams": 2}]
)
def test_sampling_that_makes_no_sense_is_refused(
    models: dict[str, LoadedModel], wrong: dict[str, float]
) -> None:
    with pytest.raises(BadInput, match="cannot generate"):
        capture(models["gpt2"], "the cat", generate=Generation(3, **{"temperature": 1.0, **wrong}))  # type: ignore[arg-type]
