"""`from_attentions` of what transformers itself returns: its weights are those that we record."""

from typing import Any

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import attnviz
from attnviz.errors import BadInput
from tests.support.tiny.models import set_seed

N_NEW, IDS = 4, [5, 7, 11, 13, 17, 2]


@pytest.fixture(scope="module", params=["eager", "sdpa"])
def model(request: pytest.FixtureRequest) -> GPT2LMHeadModel:
    set_seed()
    ends = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
    config = GPT2Config(n_layer=3, n_head=5, n_embd=35, vocab_size=41, **ends)
    return GPT2LMHeadModel._from_config(config, attn_implementation=request.param).eval()


def run(model: GPT2LMHeadModel, **options: Any) -> Any:
    ids = torch.tensor([IDS])
    with torch.no_grad():
        if "max_new_tokens" not in options:
            return model(ids, output_attentions=True)
        return model.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=False, output_attentions=True,
            return_dict_in_generate=True, **options,
        )  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # transformers' own, about SDPA
@pytest.mark.parametrize("n_new", [0, 1, N_NEW])
@pytest.mark.parametrize("use_cache", [True, False])
def test_the_attentions_of_transformers_are_those_we_record(
    model: GPT2LMHeadModel, n_new: int, use_cache: bool
) -> None:
    options = {"max_new_tokens": n_new, "use_cache": use_cache} if n_new else {}
    output = run(model, **options)
    n_token = len(IDS) + max(0, n_new - 1)  # the token that is written last is never read
    labels = [f"t{number}" for number in range(n_token)]
    if model.config._attn_implementation == "sdpa":
        with pytest.raises(BadInput, match=r"attnviz\.capture\(model, text\)"):
            attnviz.from_attentions(output.attentions, labels)
        return
    cap = attnviz.from_attentions(output.attentions, labels)
    ids = output.sequences[:, :n_token] if n_new else torch.tensor([IDS])
    recorded = attnviz.capture(attnviz.load(model), inputs={"input_ids": ids})
    np.testing.assert_allclose(cap.all_weights(), recorded.all_weights(), atol=2e-6)


@pytest.mark.filterwarnings("ignore")
def test_a_whole_output_says_which_part_of_it_is_needed(model: GPT2LMHeadModel) -> None:
    eager = model.config._attn_implementation == "eager"
    advice = r"give outputs\.attentions$" if eager else r"under SDPA .* attnviz\.capture\("
    with pytest.raises(BadInput, match=advice):
        attnviz.from_attentions(run(model), ["a"] * len(IDS))
