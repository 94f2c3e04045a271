"""Attribution by data flow: sums that are compared, textbook formulas by name, interventions."""

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz.changes import Site
from attnviz.errors import BadInput, UnsupportedAttention
from attnviz.experiment.answer_measures import AnswerMeasure, Class, Cosine, Divergence, NextToken
from attnviz.experiment.paths import weights_without
from attnviz.experiment.traced_run import traced_run
from attnviz.models.loaded_model import LoadedModel
from tests.support.cases import mostly_slow
from tests.support.changed_by_hand import output_layer_reads
from tests.support.questions import CASES, CAT, MARY, REVIEW, STORE
from tests.support.tiny.models import make_peaky

# the first question to each model, and the other measures of one of them
QUICK = [case for n, case in enumerate(CASES) if n < 2 or case[0] != CASES[n - 1][0]]
SHARE = 1e-5  # Σ of parts is held to this share of their size


# --- direct -------------------------------------------------------------------------------------


@pytest.mark.some(1)
@pytest.mark.parametrize(("name", "text", "on"), mostly_slow(CASES, QUICK))
def test_direct_parts_sum_to_the_models_own_number(name: str, text: str, on: AnswerMeasure) -> None:
    lm = attnviz.load(name)
    found = attnviz.experiment(lm, text, on=on).direct()
    assert found.error <= SHARE * np.abs(found.values).sum()
    assert found.ok
    kinds = {component.kind for component in found.components}
    assert {"embedding", "head", "mlp"} <= kinds and "other" not in kinds
    n_head = sum(
        call.n_heads for call in traced_run(attnviz.experiment(lm, text, on=on).prepared).calls
    )
    heads = [of.site for of in found.components if of.site is not None]
    expected = n_head if lm.kind != "encoder-decoder" else 2 * n_head // 3  # decoder's, both kinds
    assert len(set(heads)) == len(heads) == expected


def test_direct_splits_a_picture_by_heads_and_patches() -> None:
    lm = attnviz.load("shapes")
    from attnviz.worlds import shapes

    picture = shapes.sample(12).picture()
    found = attnviz.experiment(lm, on=Class(0, against=7), image=picture).direct()
    assert found.error <= SHARE * max(1.0, np.abs(found.values).sum())
    assert sum(of.kind == "head" for of in found.components) == 16


def test_direct_is_the_textbook_formula_of_gpt2_by_name_in_float64() -> None:
    config = GPT2Config(vocab_size=37, n_positions=13, n_embd=24, n_layer=3, n_head=2)
    model = GPT2LMHeadModel(config)
    make_peaky(model)
    model.eval()
    ids = torch.tensor([[5, 17, 2, 30, 11]])
    found = attnviz.experiment(
        attnviz.load(model), on=NextToken(7, against=4), inputs={"input_ids": ids}
    ).direct()
    exact = GPT2LMHeadModel(config).double().eval()
    exact.load_state_dict(model.state_dict())
    parts = by_name(exact, ids, "gpt2")
    final, head = exact.transformer.ln_f, exact.lm_head.weight
    compare(found, parts, final.weight, head[7] - head[4], centred=True)


def test_direct_is_the_textbook_formula_of_llama_by_name_in_float64() -> None:
    config = LlamaConfig(
        vocab_size=37,
        hidden_size=24,
        intermediate_size=20,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=32,
    )
    model = LlamaForCausalLM(config)
    make_peaky(model)
    model.eval()
    ids = torch.tensor([[5, 17, 2, 30, 11]])
    found = attnviz.experiment(
        attnviz.load(model), on=NextToken(7, against=4), inputs={"input_ids": ids}
    ).direct()
    exact = LlamaForCausalLM(config).double().eval()
    exact.load_state_dict(model.state_dict())
    parts = by_name(exact, ids, "llama")
    head = exact.lm_head.weight
    compare(found, parts, exact.model.norm.weight, head[7] - head[4], centred=False)


def by_name(model: torch.nn.Module, ids: Tensor, kind: str) -> dict[str, Tensor]:
    """What each head and MLP of a model writes at the last position, by hooks on named layers."""
    parts: dict[str, Tensor] = {}
    layers = model.transformer.h if kind == "gpt2" else model.model.layers
    handles = []

    def writes(name: str, weight: Tensor, n_head: int):  # type: ignore[no-untyped-def]
        def keep(_module: object, args: tuple[Tensor, ...], _output: Tensor) -> None:
            heads = args[0][0, -1].reshape(n_head, -1)
            rows = weight.reshape(n_head, heads.shape[1], -1)
            for head in range(n_head):
                parts[f"{name}.H{head}"] = heads[head] @ rows[head]

        return keep

    def mlp(name: str, bias: Tensor | None):  # type: ignore[no-untyped-def]
        def keep(_module: object, _args: object, output: Tensor) -> None:
            parts[name] = output[0, -1] - (0 if bias is None else bias)

        return keep

    for number, layer in enumerate(layers):
        if kind == "gpt2":
            out, down = layer.attn.c_proj, layer.mlp.c_proj
            handles.append(out.register_forward_hook(writes(f"L{number}", out.weight, 2)))
            handles.append(down.register_forward_hook(mlp(f"MLP {number}", down.bias)))
        else:
            out, down = layer.self_attn.o_proj, layer.mlp.down_proj
            handles.append(out.register_forward_hook(writes(f"L{number}", out.weight.T, 6)))
            handles.append(down.register_forward_hook(mlp(f"MLP {number}", None)))
    final = model.transformer.ln_f if kind == "gpt2" else model.model.norm

    def stream(_module: object, args: tuple[Tensor, ...]) -> None:
        parts["stream"] = args[0][0, -1]

    handles.append(final.register_forward_pre_hook(stream))
    with torch.no_grad():
        model(ids)
    for handle in handles:
        handle.remove()
    return parts


def compare(
    found: object, parts: dict[str, Tensor], weight: Tensor, direction: Tensor, *, centred: bool
) -> None:
    stream = parts.pop("stream")
    if centred:
        scale = (stream.var(unbiased=False) + 1e-5).rsqrt()
    else:
        scale = (stream.pow(2).mean() + 1e-6).rsqrt()
    ours = dict(zip(map(str, found.components), found.values, strict=True))  # type: ignore[attr-defined]
    assert len(parts) >= 9
    for name, wrote in parts.items():
        moved = wrote - wrote.mean() if centred else wrote
        expected = float((moved * scale * weight * direction).sum().detach())
        assert ours[name] == pytest.approx(expected, abs=2e-6), name


def test_what_is_not_linear_cannot_be_split(minilm: LoadedModel) -> None:
    stories = attnviz.load("stories")
    for lm, text, on in ((stories, STORE, Divergence()), (minilm, CAT, Cosine())):
        with pytest.raises(BadInput, match="cannot be split"):
            attnviz.experiment(lm, text, on=on).direct()
    with pytest.raises(BadInput, match="not a component"):
        attnviz.experiment(stories, STORE, on=MARY).direct().of(Site(9, 9))


def test_direct_is_not_the_effect() -> None:
    """L0.H0 carries the answer through later layers: its direct part is next to nothing."""
    lm = attnviz.load("stories")
    run = attnviz.experiment(lm, STORE, on=MARY)
    parts, whole = run.direct(), run.effects(to="zero")
    assert abs(parts.of(Site(0, 0))) < 0.1 * abs(whole.of("L0.H0"))
    assert whole.order[0] == Site(0, 0)


# --- lens ---------------------------------------------------------------------------------------


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("name", "text", "given"),
    [
        ("stories", STORE, {}),
        ("stories-llama", STORE, {}),
        ("translator", "the cat sleeps .", {"target": "le chat dort ."}),
        ("sentiment", REVIEW, {}),
    ],
)
def test_the_last_state_of_the_lens_is_the_models_own_answer(
    name: str, text: str, given: dict[str, str]
) -> None:
    lm = attnviz.load(name)
    found = attnviz.experiment(lm, text, **given).lens()
    assert found.error == 0.0
    assert found.states[0] == "embeddings" and found.states[-1].startswith(("MLP", "decoder MLP"))
    capture = attnviz.capture(lm, text, **given)
    assert capture.logits is not None
    logits = capture.logits[0] if capture.logits.dim() == 3 else capture.logits
    assert np.array_equal(found.ids[-1, :, 0], logits.argmax(-1).numpy())
    best = logits.softmax(-1).max(-1).values.numpy()
    assert np.allclose(found.probabilities[-1, :, 0], best, atol=1e-6)


def test_an_earlier_state_is_read_through_the_models_own_norm_and_head() -> None:
    lm = attnviz.load("stories")
    run = traced_run(attnviz.experiment(lm, STORE).prepared)
    stream = run.trace.inputs_of["transformer.h.2.ln_1"][0]
    assert stream is not None
    with torch.no_grad():
        logits = lm.model.lm_head(lm.model.transformer.ln_f(stream.tensor))[0]
    found = attnviz.experiment(lm, STORE).lens(count=3)
    at = found.states.index("MLP 1")
    assert np.array_equal(found.ids[at, :, 0], logits.argmax(-1).numpy())
    # the control of a guess: the same choice at each other position, one by one
    shares = logits.double().softmax(-1).numpy()
    assert found.elsewhere is not None
    for place, guesses in enumerate(found.ids[at]):
        others = np.delete(shares, place, axis=0)[:, guesses].mean(0)
        np.testing.assert_allclose(found.elsewhere[at, place], others, atol=1e-6)


@pytest.mark.slow
def test_the_lens_reads_a_measure_at_each_state() -> None:
    lm = attnviz.load("stories")
    found = attnviz.experiment(lm, STORE, on=MARY).lens()
    assert found.values is not None
    assert found.values[-1] == pytest.approx(
        attnviz.experiment(lm, STORE, on=MARY).effects(heads=["L0.H0"]).before, abs=1e-4
    )
    assert found.ids.shape[1] == 1  # the model computes the last position only
    assert found.elsewhere is None
    assert len(found.values) == len(found.states)


def test_a_model_without_a_head_has_no_lens(minilm: LoadedModel) -> None:
    with pytest.raises(BadInput, match="no head that turns hidden states into scores"):
        attnviz.experiment(minilm, CAT).lens()


# --- why ----------------------------------------------------------------------------------------


@pytest.mark.some(2)
@pytest.mark.parametrize("through_mlps", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "text", "head", "given"),
    [
        ("stories", STORE, "L2.H1", {}),
        ("stories-llama", STORE, "L1.H5", {}),
        ("sentiment", REVIEW, "L1.H0", {}),
        ("minilm", CAT, "L3.H2", {}),
        ("translator", "the little cat sleeps .", "encoder.L1.H2", {"target": "le chat ."}),
        ("translator", "the little cat sleeps .", "decoder.cross.L1.H2", {"target": "le chat ."}),
    ],
)
def test_the_pairs_of_writers_sum_to_the_score(
    name: str, text: str, head: str, given: dict[str, str], through_mlps: bool
) -> None:
    lm = attnviz.load(name)
    found = attnviz.experiment(lm, text, **given).why(head, 3, 2, through_mlps=through_mlps)
    assert found.error <= SHARE * max(1.0, np.abs(found.shares).sum())
    assert found.ok
    capture = attnviz.capture(lm, text, **given)
    site = found.head
    assert site.head is not None
    call = capture.call(site.layer, site.kind, site.stack)
    stages = call.stages(site.head)
    assert found.score == pytest.approx(float(stages["scaled"][3, 2]), abs=1e-4)
    seen = stages["masked"][3] > -torch.inf
    mean = float(stages["scaled"][3][seen].double().mean())
    assert found.centred == pytest.approx(found.score - mean, abs=1e-4)
    assert found.weight == pytest.approx(float(stages["weights"][3, 2]), abs=1e-6)


def repeated(lm: LoadedModel, seed: int, n: int = 20) -> Tensor:
    """Random tokens that come twice, behind a first one."""
    draws = np.random.default_rng(seed)
    ids = draws.integers(300, len(lm.text_tokenizer()) - 10, n)
    return torch.tensor(np.concatenate([[0], ids, ids]))[None]


@pytest.mark.slow
@pytest.mark.parametrize(
    "queries", [(31,), pytest.param((25, 31, 37), marks=pytest.mark.slow)], ids=len
)
@pytest.mark.parametrize(
    ("name", "looks", "writer"),
    [("stories", "L2.H1", "L0.H1"), ("stories-llama", "L1.H5", "L0.H4")],
)
def test_the_previous_token_head_writes_the_key_side_of_induction(
    name: str, looks: str, writer: str, queries: tuple[int, ...]
) -> None:
    """Elhage et al. 2021: in `stories` only once the MLP is opened, and an intervention agrees."""
    lm = attnviz.load(name)
    lost: dict[str, list[float]] = {f"L0.H{head}": [] for head in range(lm.n_heads)}
    for seed in range(2):
        inputs = {"input_ids": repeated(lm, seed)}
        run = attnviz.experiment(lm, inputs=inputs)
        for query in queries:
            found = run.why(looks, query, query - 19)
            by_source = found.by_source("k")
            assert next(iter(by_source)) == writer
            assert by_source[writer] > 0.4 * found.centred
            for sender, falls in lost.items():
                before, after = weights_without(
                    run.prepared, [sender], looks, query, query - 19, to="zero"
                )
                falls.append(before - sum(after.values()))
    means = {sender: float(np.mean(falls)) for sender, falls in lost.items()}
    assert max(means, key=lambda sender: means[sender]) == writer
    assert means[writer] > 0.2 > max(fall for of, fall in means.items() if of != writer)
    if name == "stories":
        alone = run.why(looks, 31, 12, through_mlps=False).by_source("k")
        assert next(iter(alone)) == "MLP 0"


def test_a_cell_that_the_mask_hides_or_does_not_exist_is_refused() -> None:
    lm = attnviz.load("stories")
    with pytest.raises(BadInput, match="the mask hides that key"):
        attnviz.experiment(lm, STORE).why("L2.H1", 2, 3)
    with pytest.raises(BadInput, match="query 99"):
        attnviz.experiment(lm, STORE).why("L2.H1", 99, 3)
    with pytest.raises(BadInput, match="L2 is 4 heads; give one"):
        attnviz.experiment(lm, STORE).why("L2", 3, 2)
    with pytest.raises(BadInput, match="does not exist"):
        attnviz.experiment(lm, STORE).why("L2.H9", 3, 2)
    with pytest.raises(UnsupportedAttention, match="which layer writes q"):
        attnviz.experiment(attnviz.load("mha-55")).why("L0.H0", 3, 2)


# --- feeds --------------------------------------------------------------------------------------


def test_feeds_are_patterns_with_q_or_k_of_a_run_without_the_sender() -> None:
    lm = attnviz.load("stories")
    found = attnviz.experiment(lm, STORE).paths(to="zero")
    clean = attnviz.capture(lm, STORE)
    width = clean.calls[0].output.shape[3]
    columns = slice(width, 2 * width)
    w_o = "transformer.h.0.attn.c_proj"
    with output_layer_reads(lm.model, w_o, columns, torch.zeros_like):
        without = attnviz.capture(lm, STORE)
    own, other = clean.call(2).inputs, without.call(2).inputs
    for head in range(4):
        weights = clean.weights(2, head)
        for side in ("q", "k"):
            q = (other if side == "q" else own).query[0, head]  # type: ignore[union-attr,index]
            k = (other if side == "k" else own).key[0, head]  # type: ignore[union-attr,index]
            scores = (q @ k.T) * own.scaling  # type: ignore[operator]
            mask = torch.ones_like(scores, dtype=torch.bool).tril()
            moved = scores.masked_fill(~mask, -torch.inf).softmax(-1).numpy()
            expected = 0.5 * np.abs(moved - weights).sum(-1).mean()
            assert found.of("L0.H1", f"L2.H{head}", side) == pytest.approx(expected, abs=1e-5)  # type: ignore[arg-type]
    assert np.isnan(found.of("L2.H1", "L0.H1", "k"))


@pytest.mark.parametrize(
    ("name", "sender", "receiver"),
    [
        ("stories", "L0.H1", ("L2.H0", "L2.H1", "L2.H2")),
        pytest.param("stories-llama", "L0.H4", ("L1.H5",), marks=pytest.mark.slow),
    ],
)
def test_the_strongest_feeds_are_the_induction_circuits(
    name: str, sender: str, receiver: tuple[str, ...]
) -> None:
    lm = attnviz.load(name)
    found = attnviz.experiment(lm, inputs={"input_ids": repeated(lm, 0)}).paths()
    for head in receiver:
        assert found.of(sender, head, "k") > 0.3
    strongest = found.strongest(8)
    assert str(strongest[0].sender) == sender and strongest[0].side == "k"
    assert {str(path.receiver) for path in strongest} & set(receiver)
