"""Models of every kind on every page: attentions to choose from, and their own two axes."""

from collections.abc import Callable

import numpy as np
import pytest

import attnviz
from attnviz.ui import state
from tests.pages.conftest import Visit, sent

KEY = state.widget_key
PAGES = ("overview", "head", "steps", "masks")
TEXT, SECOND = "the cat sat on a mat", "the dog ran"
Tiny = Callable[[str], str]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("model", ["minilm", "gpt2", "llama"])
def test_one_attention_leaves_nothing_to_choose(
    visit: Visit, tiny: Tiny, page: str, model: str
) -> None:
    opened = model if model == "minilm" else tiny(model)
    app = visit(page, text=TEXT, text2="", model=opened)
    assert not app.error
    assert not app.get("button_group")
    header, _ = sent(app)
    assert header["tokens"] == header["key_tokens"]
    assert header["cross"] == 0


def test_a_decoders_chance_counts_only_what_it_can_see(visit: Visit, tiny: Tiny) -> None:
    header, _ = sent(visit("overview", text=TEXT, model=tiny("gpt2")))
    cap = attnviz.capture(attnviz.load(tiny("gpt2")), TEXT)
    visible = np.stack([np.tri(len(cap.tokens), dtype=bool)] * 2)
    roles = attnviz.metrics.describe(cap.all_weights(), cap.tokens, visible=visible)
    chance = f"{100 * roles[0][0].baseline:.0f} %"
    assert chance in header["sentences"][0][0]


def test_a_decoder_ran_a_causal_mask(visit: Visit, tiny: Tiny) -> None:
    header, arrays = sent(visit("masks", text=TEXT, text2=SECOND, model=tiny("gpt2")))
    assert header["mask_names"] == ["padding", "causal"]
    assert header["as_model"] == 3
    cap = attnviz.capture(attnviz.load(tiny("gpt2")), [TEXT, SECOND])
    for batch in (0, 1):
        real = ~cap.tokens_of(batch).padding
        own = cap.weights(0, 0, batch=batch)
        np.testing.assert_allclose(arrays["weights"][batch, 3][real], own[real], atol=1e-6)


def test_steps_of_a_decoder_name_the_future(visit: Visit, tiny: Tiny) -> None:
    _, arrays = sent(visit("steps", text=TEXT, model=tiny("gpt2")))
    n = len(arrays["blocked"])
    assert (arrays["blocked"] == np.triu(np.full((n, n), 2), 1)).all()
