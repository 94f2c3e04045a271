"""Effects of heads beside nnsight, pyvene and TransformerLens, on a random GPT-2 and a Llama.

Each tool sets one head's slice of W_O's input to zero (TransformerLens its own `hook_z`) in a model
that both read, and the logits of the last token are compared. A tool that is not installed is
skipped: none of them is needed by attnviz.
"""

import contextlib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz import NextToken
from attnviz.models.loaded_model import LoadedModel
from tests.contracts import doc_rules

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the tools' own warnings

IDS = torch.tensor([[11, 7, 19, 7, 3, 23, 5, 61, 2, 43, 7]])
ON = NextToken(13, against=29)
WIDTH = 8  # of a head
# a row of a batch and one alone differ by rounding; TransformerLens computes attention its own way
TOLERANCE = 2e-5

W_O = {"gpt2": "transformer.h.{}.attn.c_proj", "llama": "model.layers.{}.self_attn.o_proj"}


def random_model(name: str) -> Any:
    torch.manual_seed(5)
    if name == "gpt2":
        model: Any = GPT2LMHeadModel(
            GPT2Config(vocab_size=97, n_positions=32, n_embd=32, n_layer=3, n_head=4)
        )
    else:
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=97,
                hidden_size=48,
                intermediate_size=96,
                num_hidden_layers=2,
                num_attention_heads=6,
                num_key_value_heads=2,
            )
        )
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    return model.eval()


@pytest.fixture(scope="module", params=W_O)
def named(request: pytest.FixtureRequest) -> tuple[str, LoadedModel]:
    return request.param, attnviz.load(random_model(request.param))


def gap(logits: Tensor) -> float:
    row = logits.reshape(-1, logits.shape[-1])[-1]
    return float(row[13] - row[29])


def agree(lm: LoadedModel, theirs: Callable[[int, int], float]) -> None:
    """Every head's effect is the tool's."""
    ours = attnviz.experiment(lm, on=ON, inputs={"input_ids": IDS}).effects(to="zero")
    numbers = [theirs(site.layer, site.head or 0) for site in ours.heads]
    assert np.abs(ours.after - numbers).max() <= TOLERANCE
    assert np.abs(ours.changes).max() > 1000 * TOLERANCE


def silenced(read: Tensor, head: int) -> Tensor:
    changed = read.clone()
    changed[..., head * WIDTH : (head + 1) * WIDTH] = 0
    return changed


@pytest.mark.skipif(find_spec("nnsight") is None, reason="needs nnsight")
def test_effects_are_nnsights(named: tuple[str, LoadedModel]) -> None:
    from nnsight import NNsight

    name, lm = named
    traced = NNsight(lm.model)

    def without(layer: int, head: int) -> float:
        w_o = traced.get(W_O[name].format(layer))
        with torch.no_grad(), traced.trace(IDS):
            w_o.input = silenced(w_o.input, head)
            logits = traced.lm_head.output.save()
        return gap(logits)

    agree(lm, without)


@pytest.mark.skipif(find_spec("pyvene") is None, reason="needs pyvene")
def test_effects_are_pyvenes(named: tuple[str, LoadedModel]) -> None:
    import pyvene

    name, lm = named

    def without(layer: int, head: int) -> float:
        before, _, after = W_O[name].partition(".{}.")
        model = pyvene.IntervenableModel(
            {
                "component": f"{before}[{layer}].{after}.input",
                "intervention": lambda read, _source=None: silenced(read, head),
            },
            model=lm.model,
        )
        with torch.no_grad():
            _, changed = model(base={"input_ids": IDS})
        return gap(changed.logits)

    agree(lm, without)


@pytest.mark.skipif(find_spec("transformer_lens") is None, reason="needs transformer_lens")
def test_effects_are_transformerlens(named: tuple[str, LoadedModel], tmp_path: Path) -> None:
    from transformer_lens.model_bridge import TransformerBridge

    _, lm = named
    lm.model.save_pretrained(tmp_path)
    attnviz.load("stories").text_tokenizer().save_pretrained(tmp_path)
    bridge = TransformerBridge.boot_transformers(str(tmp_path), device="cpu")

    def without(layer: int, head: int) -> float:
        def silence(z: Tensor, **_: object) -> Tensor:
            z[:, :, head] = 0
            return z

        with torch.no_grad():
            hooks = [(f"blocks.{layer}.attn.hook_z", silence)]
            return gap(bridge.run_with_hooks(IDS, fwd_hooks=hooks))

    agree(lm, without)


TOOLS = [
    pytest.param(
        "transformer_lens",
        marks=pytest.mark.skipif(
            find_spec("transformer_lens") is None, reason="needs transformer_lens"
        ),
    ),
    pytest.param(
        "nnsight", marks=pytest.mark.skipif(find_spec("nnsight") is None, reason="needs nnsight")
    ),
]


@pytest.mark.usefixtures("own_models")
@pytest.mark.parametrize("tool", TOOLS)
def test_the_code_of_the_guide_gives_their_numbers(tool: str, tmp_path: Path) -> None:
    """docs/guide/same-numbers.md: a block of ours, then one of each tool that compares with it."""
    page = (Path(__file__).parents[2] / "docs" / "guide" / "same-numbers.md").read_text("utf-8")
    names: dict[str, object] = {}
    theirs = [block for block in doc_rules.blocks(page, "py") if f"from {tool}" in block]
    assert len(theirs) == 1 and theirs[0].count("assert") >= 2
    file = tmp_path / "block.py"  # nnsight reads the source of its traces
    with contextlib.chdir(tmp_path):
        for block in (*doc_rules.blocks(page, "python"), *theirs):
            file.write_text(block, "utf-8")
            exec(compile(block, str(file), "exec"), names)
