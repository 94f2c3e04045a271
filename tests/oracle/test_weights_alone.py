"""`attnviz.circuits`: weights alone beside whole matrices by name, real attention, and refusals."""

import json
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import (
    BertConfig,
    BertForMaskedLM,
    Gemma2Config,
    Gemma2ForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    MixtralConfig,
    MixtralForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

import attnviz
from attnviz.errors import BadInput, TooLarge, UnsupportedAttention
from attnviz.experiment.weights_alone import circuits as circuits_module
from attnviz.experiment.weights_alone.circuits import Circuits
from attnviz.experiment.weights_alone.scores import Side
from attnviz.models.loaded_model import LoadedModel
from attnviz.teach.course import toy_model
from tests.support.shapes import unchecked
from tests.support.tiny.models import make_peaky

SIZES: dict[str, Any] = {
    "vocab_size": 53,
    "hidden_size": 48,
    "intermediate_size": 37,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "max_position_embeddings": 64,
}
IDS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
SHARED: dict[str, Any] = {"num_key_value_heads": 2, **IDS}


@pytest.fixture(scope="module")
def stories() -> Circuits:
    return attnviz.circuits("stories")


@pytest.fixture(scope="module")
def llama() -> Circuits:
    return attnviz.circuits("stories-llama")


def random_model(model: Any) -> LoadedModel:
    make_peaky(model)
    return attnviz.load(model.eval())


def centered(weight: Tensor) -> Tensor:
    return weight - weight.mean(0)


def gpt2_by_name(model: Any, layer: int, head: int, width: int) -> dict[str, Tensor]:
    """The folded weights of one head of a GPT-2, in float64."""
    block = model.transformer.h[layer]
    d, cut = block.ln_1.weight.shape[0], slice(head * width, (head + 1) * width)
    folded = centered(block.ln_1.weight.double()[:, None] * block.attn.c_attn.weight.double())
    q, k, v = (folded[:, start : start + d][:, cut] for start in (0, d, 2 * d))
    return {"q": q, "k": k, "v": v, "o": block.attn.c_proj.weight.double()[cut]}


def share(matrix: Tensor) -> float:
    values = torch.linalg.eigvals(matrix)
    return float(values.real.sum() / values.abs().sum())


# --- beside whole matrices, built by name -------------------------------------------------------


@torch.no_grad()
def test_ov_and_qk_are_the_eigenvalues_of_the_whole_circuit_of_gpt2() -> None:
    """V × V matrices of GPT-2's weights by name, in float64."""
    config = GPT2Config(vocab_size=61, n_positions=40, n_embd=48, n_layer=3, n_head=6, **IDS)
    circuits = attnviz.circuits(random_model(GPT2LMHeadModel(config)))
    model: Any = circuits.lm.model
    embedding = centered(model.transformer.wte.weight.double())
    head = gpt2_by_name(model, 2, 1, 8)
    final = model.transformer.ln_f.weight.double()[:, None] * model.lm_head.weight.double().T
    logits = embedding @ head["v"] @ head["o"] @ centered(final)
    logits = logits - logits.mean(1, keepdim=True)
    ov = circuits.ov("L2.H1")
    assert ov.share == pytest.approx(share(logits), abs=2e-5)
    own = (logits.argmax(1) == torch.arange(len(logits))).double().mean()
    assert ov.own_first == pytest.approx(float(own))
    rises = (logits.diagonal() > 0).double().mean()
    assert ov.own_positive == pytest.approx(float(rises)) and 0.1 < rises < 0.9
    assert ov.n_vocab == ov.n_tokens == len(logits)
    matches = embedding @ head["q"] @ head["k"].T @ embedding.T
    qk = circuits.qk("L2.H1")
    assert qk.share == pytest.approx(share(matches), abs=2e-5)
    assert qk.own_positive == pytest.approx(float((matches.diagonal() > 0).double().mean()))


def test_ov_of_stories_is_that_of_its_whole_circuit(stories: Circuits) -> None:
    """−0.59057 is Σλ/Σ|λ| of the 1,280 × 1,280 circuit, built by name in float64."""
    assert stories.ov("L2.H1").share == pytest.approx(-0.59057, abs=2e-5)


@torch.no_grad()
def test_the_table_of_all_heads_has_the_shares_of_each(stories: Circuits) -> None:
    table: dict[str, Any] = dict(stories.to_dict())
    at = table["head"].index("L2.H1")
    for name, alone in {
        "ov": stories.ov("L2.H1"),
        "ov_mlp0": stories.ov("L2.H1", through="mlp0"),
        "qk": stories.qk("L2.H1"),
        "qk_mlp0": stories.qk("L2.H1", through="mlp0"),
    }.items():
        assert table[name][at] == pytest.approx(alone.share, abs=1e-4)
    assert np.isnan(table["ov_mlp0"][0])  # layer 0 reads a token before MLP 0 does
    assert json.loads(json.dumps(table))["head"][0] == "L0.H0"


@torch.no_grad()
def test_through_mlp0_is_the_embedding_with_what_mlp_0_writes(stories: Circuits) -> None:
    model: Any = stories.lm.model
    block, table = model.transformer.h[0], model.transformer.wte.weight
    places = model.transformer.wpe.weight[:33].mean(0)
    whole = table + block.mlp(block.ln_2(table + places))
    assert stories.vocabulary is not None
    ours = stories.vocabulary.words("mlp0").rows(slice(0, 40))
    assert ours.numpy() == pytest.approx((whole - whole.mean(0))[:40].numpy(), abs=2e-5)


@torch.no_grad()
@pytest.mark.parametrize("side", ["q", "k", "v"])
def test_composition_is_the_norm_of_whole_matrices(stories: Circuits, side: Side) -> None:
    model: Any = stories.lm.model
    early, late = gpt2_by_name(model, 0, 1, 36), gpt2_by_name(model, 2, 1, 36)
    writes = early["v"] @ early["o"]
    reads = {
        "q": late["q"] @ late["k"].T,
        "k": late["k"] @ late["q"].T,
        "v": late["v"] @ late["o"],
    }[side]
    wanted = (writes @ reads).norm() / (writes.norm() * reads.norm())
    found = stories.composition(side)
    assert found.of("L0.H1", "L2.H1") == pytest.approx(float(wanted), rel=1e-5)
    assert found.baseline == pytest.approx(144**-0.5)
    assert np.isnan(found.of("L2.H1", "L0.H1")) and np.isnan(found.of("L2.H0", "L2.H1"))


@torch.no_grad()
def test_shared_keys_and_rms_norms_are_read_by_name() -> None:
    """Llama with 6 heads on 2 key heads: no mean is taken off, heads of a group share W_K, W_V."""
    lm = random_model(LlamaForCausalLM(LlamaConfig(**SIZES, **SHARED)))
    circuits = attnviz.circuits(lm)
    model: Any = lm.model
    block = model.model.layers[2]
    scale = block.input_layernorm.weight.double()[:, None]
    head, group, width = 4, 1, 8
    attention = block.self_attn
    v = (scale * attention.v_proj.weight.double().T)[:, group * width : (group + 1) * width]
    o = attention.o_proj.weight.double().T[head * width : (head + 1) * width]
    final = model.model.norm.weight.double()[:, None] * model.lm_head.weight.double().T
    embedding = centered(model.model.embed_tokens.weight.double())
    logits = embedding @ v @ o @ (final - final.mean(1, keepdim=True))
    assert circuits.ov("L2.H4").share == pytest.approx(share(logits), abs=1e-4)
    assert any("share one W_K" in text for text in circuits.folded.left_out)


@torch.no_grad()
def test_the_norm_behind_w_o_is_folded_too() -> None:
    """Gemma 2 norms what attention wrote: γ = 1 + weight of both norms."""
    lm = random_model(Gemma2ForCausalLM(Gemma2Config(**SIZES, **SHARED, head_dim=8)))
    circuits = attnviz.circuits(lm)
    layer = circuits.layers.layers[1]
    model: Any = lm.model
    block = model.model.layers[1]
    behind = 1 + block.post_attention_layernorm.weight
    o = block.self_attn.o_proj.weight.T[8:16] * behind
    assert layer.part("out", 1).numpy() == pytest.approx(o.detach().numpy(), rel=1e-3, abs=1e-5)
    assert "γ of the norms behind W_O" in circuits.folded.exact


# --- beside real attention ----------------------------------------------------------------------


def mean_weights(lm: LoadedModel, head: str, distance: int) -> float:
    """The weight at a distance over random tokens, by a real capture."""
    draws = torch.Generator().manual_seed(5)
    ids = torch.randint(3, 1200, (8, 33), generator=draws)
    capture = attnviz.capture(lm, inputs={"input_ids": ids})
    rows = [np.diagonal(capture.weights(head, batch=row), -distance).mean() for row in range(8)]
    return float(np.mean(rows))


@pytest.mark.parametrize("head", ["L0.H0", "L0.H1", "L0.H2", "L0.H3"])
def test_previous_is_near_the_real_weight_on_random_tokens(stories: Circuits, head: str) -> None:
    from attnviz.changes.site import site

    assert stories.previous()[site(head)] == pytest.approx(
        mean_weights(stories.lm, head, 1), abs=0.06
    )


@pytest.mark.some(1)
@pytest.mark.parametrize(("head", "distance"), [("L0.H4", 1), ("L0.H3", 2), ("L0.H2", 0)])
def test_by_distance_of_rotary_heads_says_where_they_look(
    llama: Circuits, head: str, distance: int
) -> None:
    found = llama.by_distance(head)
    assert found.peak == distance
    assert found.weight(distance) == pytest.approx(mean_weights(llama.lm, head, distance), abs=0.06)
    assert found.weight(99) != found.weight(99)  # NaN: no such distance


# --- what is found, and what is not -------------------------------------------------------------


def test_copying_of_stories_has_the_wrong_sign_without_mlp_0(stories: Circuits) -> None:
    for head in ("L2.H1", "L2.H2"):
        bare, through = stories.ov(head), stories.ov(head, through="mlp0")
        assert bare.share < -0.5 and bare.own_first == 0
        assert through.share > 0.95 and through.own_first > 0.8
        assert abs(through.shuffled).max() < 0.5


@pytest.mark.slow
def test_candidates_are_found_where_the_circuit_runs_over_the_stream(
    stories: Circuits, llama: Circuits
) -> None:
    found = llama.candidates()
    assert {str(one.sender) for one in found} == {"L0.H4"}
    assert {"L1.H5"} <= {str(one.receiver) for one in found}
    assert stories.candidates() == ()  # its path runs through MLP 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_trained_induction_circuit_is_found_from_its_weights(seed: int) -> None:
    *_, trained = toy_model.train(seed, steps=400, every=200)
    lm = attnviz.load(toy_model.restore(trained))
    circuits = attnviz.circuits(lm, inputs={"tokens": toy_model.repeated_letters()[:1]})
    first = circuits.candidates()[0]
    previous = int(np.argmax(trained.repeated.previous[0]))
    induction = int(np.argmax(trained.repeated.induction[1]))
    assert (str(first.sender), str(first.receiver)) == (f"L0.H{previous}", f"L1.H{induction}")
    assert first.looks_back == pytest.approx(float(trained.repeated.previous[0].max()), abs=0.1)
    assert circuits.ov(first.receiver).share > 0.9


@pytest.mark.slow
def test_random_weights_are_no_candidates_and_near_the_baseline() -> None:
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=61, n_positions=40, n_embd=48, n_layer=3, n_head=6, **IDS)
    circuits = attnviz.circuits(GPT2LMHeadModel(config).eval())
    values = circuits.composition("k").values
    assert np.sqrt(np.nanmean(values**2)) == pytest.approx(48**-0.5, rel=0.1)
    assert circuits.candidates() == ()


def test_top_tokens_of_a_copying_head_begin_with_the_token_itself(stories: Circuits) -> None:
    found = stories.top_tokens("L2.H1", " red", n=3, through="mlp0")
    assert found.raised[0][0] == "red" and len(found.lowered) == 3
    assert found.raised[0][1] > found.raised[1][1] > 0 > found.lowered[0][1]
    with pytest.raises(BadInput, match="is not one token"):
        stories.top_tokens("L2.H1", " hippopotamus")


# --- what has no meaning is refused by name -----------------------------------------------------


def test_an_encoder_with_norms_between_has_compositions_alone() -> None:
    lm = random_model(BertForMaskedLM(BertConfig(**SIZES)))
    circuits = attnviz.circuits(lm)
    assert "norms between the layers: composition is approximate" in circuits.folded.left_out
    assert np.isfinite(circuits.composition("v").of("L0.H1", "L2.H3"))
    with pytest.raises(UnsupportedAttention, match="norms stand between"):
        circuits.ov("L1.H0")
    with pytest.raises(UnsupportedAttention, match="norms stand between"):
        circuits.qk("L1.H0")
    assert abs(circuits.qk("L0.H0").share) <= 1  # the first layer reads the tokens themselves


def test_a_mixture_of_experts_has_no_mlp_0_of_a_token_alone() -> None:
    sizes = SIZES | {"intermediate_size": 32}  # a kernel of experts wants 16 bytes
    model = MixtralForCausalLM(MixtralConfig(**sizes, **SHARED, num_local_experts=3))
    circuits = attnviz.circuits(random_model(model))
    with pytest.raises(UnsupportedAttention, match="no MLP that every token goes through"):
        circuits.ov("L1.H0", through="mlp0")
    assert abs(circuits.ov("L1.H0").share) <= 1


def test_normed_queries_and_keys_have_no_qk() -> None:
    model = Qwen3ForCausalLM(Qwen3Config(**SIZES, **SHARED, head_dim=8))
    circuits = attnviz.circuits(random_model(model))
    with pytest.raises(UnsupportedAttention, match="W_Q is not known"):
        circuits.qk("L0.H0")
    assert circuits.previous() == {}
    assert np.isnan(circuits.composition("k").values).all()
    assert np.isfinite(circuits.composition("v").of("L0.H0", "L1.H0"))


def test_parallel_blocks_send_tokens_through_mlp_0() -> None:
    lm = random_model(GPTNeoXForCausalLM(GPTNeoXConfig(**SIZES, **IDS)))
    circuits = attnviz.circuits(lm)
    model: Any = lm.model
    block, table = model.gpt_neox.layers[0], model.gpt_neox.embed_in.weight
    with torch.no_grad():
        whole = table + block.mlp(block.post_attention_layernorm(table))
    assert circuits.vocabulary is not None
    ours = circuits.vocabulary.words("mlp0").rows(slice(0, 9))
    assert ours.numpy() == pytest.approx((whole - whole.mean(0))[:9].numpy(), abs=1e-4)


def test_a_composition_is_ranked_among_the_heads_of_its_layers(stories: Circuits) -> None:
    found = stories.composition("k")
    heads = [str(head) for head in found.heads]
    table = found.values[
        np.ix_(
            [heads.index(f"L0.H{i}") for i in range(4)], [heads.index(f"L2.H{j}") for j in range(4)]
        )
    ]
    order = np.sort(table.ravel())[::-1]
    ranks = set()
    for sender, receiver in (("L0.H1", "L2.H1"), ("L0.H0", "L2.H3"), ("L0.H2", "L2.H0")):
        at = found.beside(sender, receiver)
        assert (at.n, at.median) == (16, pytest.approx(np.median(table)))
        assert order[at.rank - 1] == found.of(sender, receiver)
        ranks.add(at.rank)
    assert len(ranks) == 3
    assert found.beside("L2.H1", "L0.H1").n == 0  # the receiver runs before
    rows = found.to_dict()
    assert rows["rank"][0] == 1 or rows["of"][0] == 16
    assert "rank 1 of 16" in repr(found)


def test_a_model_of_pictures_has_compositions_alone() -> None:
    circuits = attnviz.circuits("shapes")
    assert np.isfinite(circuits.composition("q").of("L0.H0", "L3.H1"))
    with pytest.raises(UnsupportedAttention, match="no table of tokens"):
        circuits.ov("L1.H0")


def test_arguments_are_refused_by_name(stories: Circuits, monkeypatch: pytest.MonkeyPatch) -> None:
    with unchecked():
        with pytest.raises(BadInput, match="give q, k or v"):
            stories.composition("x")  # type: ignore[arg-type]
        with pytest.raises(BadInput, match="give embedding or mlp0"):
            stories.ov("L2.H1", through="mlp7")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="is not a head of this model"):
        stories.ov("L9.H1")
    with pytest.raises(UnsupportedAttention, match="before MLP 0"):
        stories.ov("L0.H1", through="mlp0")
    monkeypatch.setattr(circuits_module, "MOST_MIB", 0)
    fresh = Circuits(stories.lm, stories.layers, stories.vocabulary, stories.unembedding)
    with pytest.raises(TooLarge, match="one head at a time"):
        fresh.composition("k")


def test_results_print_themselves_and_become_dictionaries(stories: Circuits) -> None:
    composition = stories.composition("k")
    for result, said in (
        (stories, "print() lists them"),
        (stories.ov("L2.H1"), "shuffled words"),
        (composition, "random rotations give 0.083"),
        (stories.by_distance("L0.H1"), "most weight 1 token back"),
        (stories.top_tokens("L2.H1", " red"), "raises"),
    ):
        assert said in repr(result) and "\n" not in repr(result)
        assert json.loads(json.dumps(result.to_dict()))
    assert "left out" in str(stories) and "L0.H0" in str(stories)
    rows = composition.to_dict()
    assert rows["composition"] == sorted(rows["composition"], reverse=True)
