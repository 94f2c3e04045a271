"""`run.direct(by="token")`: hand-worked cells, sums, formulas by name, and edges really cut."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz.capture.request import Request
from attnviz.errors import BadInput
from attnviz.experiment import DirectByToken, Experiment, by_token
from attnviz.experiment.answer_measures import AnswerMeasure, Class, Cosine, Divergence, NextToken
from attnviz.experiment.changed_run import read_sets
from attnviz.experiment.clean_run import prepare_request
from attnviz.experiment.readouts import readout
from attnviz.experiment.traced_run import prepare_traced, traced_run
from tests.support.adapted_layers import LoRA
from tests.support.cases import mostly_slow
from tests.support.questions import CASES, MARY, STORE
from tests.support.shapes import unchecked
from tests.support.tiny.models import make_peaky

QUICK = [case for n, case in enumerate(CASES) if n < 1 or case[0] != CASES[n - 1][0]]
SHARE = 1e-5  # sums are held to this share of the size of their parts


class OneHead(nn.Module):
    """One head of width 2, without norms: α = (¼, ¾), v = (1, 0) and (0, 1), W_O = 1."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(2, 2)
        self.q, self.k, self.v, self.o, self.unembed = (
            nn.Linear(2, 2, bias=False) for _ in range(5)
        )
        with torch.no_grad():
            for layer in (self.embed, self.k, self.v, self.o):
                layer.weight.copy_(torch.eye(2))
            self.q.weight.copy_(math.sqrt(2) * math.log(3) * torch.eye(2))
            self.unembed.weight.copy_(torch.tensor([[2.0, -1.0], [0.0, 0.0]]))

    def forward(self, input_ids: Tensor) -> dict[str, Tensor]:
        x = self.embed(input_ids)
        scores = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(2)
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
        return {"logits": self.unembed(x + self.o(weights @ self.v(x)))}


def test_by_token_of_one_head_is_what_a_pencil_gives() -> None:
    run = attnviz.experiment(
        attnviz.load(OneHead()),
        on=NextToken(0, against=1),
        inputs={"input_ids": Tensor([[0, 1]]).long()},
    )
    found = run.direct(by="token")
    # ¼ · (1, 0) · (2, −1) and ¾ · (0, 1) · (2, −1); the embedding (0, 1) adds −1
    np.testing.assert_allclose(found.values, [[0.5, -0.75]], atol=1e-6)
    assert found.own == pytest.approx(-1.25, abs=1e-6)
    assert sum(found.rest.values()) == pytest.approx(-1.0, abs=1e-6)
    # the mean value (½, ½) · (2, −1) = ½ in place of each
    np.testing.assert_allclose(found.mean_value, [[0.125, 0.375]], atol=1e-6)
    # nothing comes behind the head: without an edge the number lacks what it added
    np.testing.assert_allclose(found.exact, [[-0.5, 0.75]], atol=1e-6)
    assert found.agreement == 1.0
    np.testing.assert_allclose(found.of("L0.H0"), [[0, 0], [0.5, -0.75]], atol=1e-6)


@pytest.mark.parametrize(("name", "text"), [("stories", STORE), ("minilm", "A river bank.")])
def test_an_answer_that_will_be_split_takes_one_pass_and_has_the_same_numbers(
    name: str, text: str
) -> None:
    lm, request = attnviz.load(name), Request.of((text,))
    passes: list[object] = []
    last = lm.kind == "decoder"
    plain = prepare_request(lm, request, last_row=last)
    handle = lm.model.register_forward_hook(lambda *_: passes.append(1))
    try:
        traced = prepare_traced(lm, request, last_row=last)
        run = traced_run(traced)
    finally:
        handle.remove()
    assert len(passes) == 1
    assert run.calls == traced.calls and run.output is traced.clean
    assert traced_run(traced.with_measure(Divergence() if last else Cosine("Hi."))) is run
    for key, value in plain.clean.items():
        if isinstance(value, Tensor):
            torch.testing.assert_close(traced.clean[key], value)
    for ours, theirs in zip(traced.calls, plain.calls, strict=True):
        torch.testing.assert_close(ours.output, theirs.output)


@pytest.mark.some(2)
@pytest.mark.parametrize(("name", "text", "on"), mostly_slow(CASES, QUICK))
def test_by_token_sums_to_the_heads_and_to_the_models_own_number(
    name: str, text: str, on: AnswerMeasure
) -> None:
    run = attnviz.experiment(attnviz.load(name), text, on=on)
    found, whole = run.direct(by="token"), run.direct()
    assert found.error <= SHARE * (np.abs(found.values).sum() + np.abs(whole.values).sum())
    assert found.ok
    heads = [component.site for component in whole.components if component.site is not None]
    assert set(found.heads) == set(heads)
    for head, by_key in zip(found.heads, found.values, strict=True):
        assert by_key.sum() == pytest.approx(whole.of(head), abs=5e-6)
        cells = found.of(head)
        np.testing.assert_allclose(cells.sum(0), by_key[: cells.shape[1]], atol=5e-6)
    heads_and_rest = found.by_token().sum() + sum(found.rest.values())
    assert heads_and_rest == pytest.approx(found.own, abs=1e-5 * max(1.0, abs(found.own)) + 1e-5)


def test_by_token_of_a_picture_names_its_patches() -> None:
    from attnviz.worlds import shapes

    picture = shapes.sample(12).picture()
    run = attnviz.experiment(attnviz.load("shapes"), on=Class(0, against=7), image=picture)
    found = run.direct(by="token")
    assert found.ok and found.values.shape == (16, 37)
    assert len(found.tokens[0]) == 37 and len(set(found.tokens[0])) == 37


def test_by_token_is_the_textbook_formula_where_heads_share_keys() -> None:
    """Six heads on two key heads, by name and in float64: α · (v · W_O) · slope of the logits."""
    config = LlamaConfig(
        vocab_size=37,
        hidden_size=24,
        intermediate_size=20,
        num_hidden_layers=2,
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
    ).direct(by="token")
    config._attn_implementation = "eager"
    exact = LlamaForCausalLM(config).double().eval()
    exact.load_state_dict(model.state_dict())
    values: dict[int, Tensor] = {}
    stream: list[Tensor] = []
    for number, layer in enumerate(exact.model.layers):
        layer.self_attn.v_proj.register_forward_hook(
            lambda _m, _a, out, number=number: values.update({number: out[0].reshape(5, 2, 4)})
        )
    exact.model.norm.register_forward_pre_hook(lambda _m, args: stream.append(args[0][0, -1]))
    with torch.no_grad():
        weights = exact(ids, output_attentions=True).attentions
    scale = (stream[0].pow(2).mean() + 1e-6).rsqrt() * exact.model.norm.weight
    slope = scale * (exact.lm_head.weight[7] - exact.lm_head.weight[4])
    for at, head in enumerate(found.heads):
        assert head.head is not None
        w_o = exact.model.layers[head.layer].self_attn.o_proj.weight.T[
            4 * head.head : 4 * head.head + 4
        ]
        wrote = values[head.layer][:, head.head // 3] @ w_o
        expected = weights[head.layer][0, head.head, -1] * (wrote @ slope)
        np.testing.assert_allclose(found.values[at], expected.detach().numpy(), atol=2e-6)


def stories_run() -> tuple[Experiment, DirectByToken]:
    run = attnviz.experiment(attnviz.load("stories"), STORE, on=MARY)
    return run, run.direct(by="token")


def test_exact_by_token_is_the_cut_edge() -> None:
    run, found = stories_run()
    for head in ("L2.H1", "L0.H0"):
        place = [str(known) for known in found.heads].index(head)
        keys = np.flatnonzero(~np.isnan(found.exact[place]))
        edges = run.edges(head, cells=[(14, int(key)) for key in keys])
        assert len(keys)
        np.testing.assert_allclose(found.exact[place, keys], edges.exact[14, keys], atol=2e-5)
    assert (~np.isnan(found.exact)).sum() == 50
    largest = np.abs(found.values) >= np.sort(np.abs(found.values), axis=None)[-50]
    assert np.array_equal(largest, ~np.isnan(found.exact))
    # L0.H0 acts through what comes later: it adds next to nothing and its cut is large
    place = [str(known) for known in found.heads].index("L0.H0")
    assert np.nanmax(np.abs(found.exact[place])) > 20 * np.abs(found.values[place]).max()


def test_the_number_of_a_cut_is_the_number_that_is_split() -> None:
    """A log-probability is not linear: its linear companion is split, and read after a cut."""
    lm = attnviz.load("stories")
    on = NextToken(" Mary", log_probability=True)
    found = attnviz.experiment(lm, STORE, on=on).direct(by="token")
    plain = attnviz.experiment(lm, STORE, on=NextToken(" Mary")).direct(by="token")
    np.testing.assert_allclose(found.values, plain.values, atol=1e-6)
    np.testing.assert_allclose(found.exact, plain.exact, atol=1e-5)


@pytest.mark.slow
def test_a_token_cut_in_every_head_is_a_capture_with_all_these_edges_cut() -> None:
    _, found = stories_run()
    lm, last = attnviz.load("stories"), found.shares[0].call.n_query - 1
    by_key = found.cut_tokens()
    with pytest.MonkeyPatch.context() as patch:  # the control of each word is that of all
        patch.setattr(by_token, "read_sets", None)
        np.testing.assert_array_equal(found.cut_tokens(), by_key)
        by_own = found.cut_tokens()
        by_own[:] = 0
        np.testing.assert_array_equal(found.cut_tokens(), by_key)
    mary, john = (lm.text_tokenizer().encode(word)[-1] for word in (" Mary", " John"))
    for key in (2, 7):
        cut = [attnviz.cut(head, last, key, renormalise=False) for head in found.heads]
        assert found.cuts_of([(at, key) for at in range(len(cut))]) == tuple(cut)
        logits = attnviz.capture(lm, STORE, changes=cut).logits
        assert logits is not None
        after = float(logits[0, -1, mary] - logits[0, -1, john])
        assert by_key[key] == pytest.approx(after - found.own, abs=2e-5)
    assert len(by_key) == found.values.shape[1]


@pytest.mark.slow
def test_a_renormalised_cut_is_a_capture_with_the_key_hidden() -> None:
    _, found = stories_run()
    lm, key = attnviz.load("stories"), 2
    last = found.shares[0].call.n_query - 1
    mary, john = (lm.text_tokenizer().encode(word)[-1] for word in (" Mary", " John"))
    place = [str(head) for head in found.heads].index("L2.H1")
    changes = {
        found.cut([(place, key)], renormalise=True)[place, key]: [found.heads[place]],
        found.cut_tokens(renormalise=True)[key]: found.heads,
    }
    assert len(changes) == 2
    for change, heads in changes.items():
        hidden = [attnviz.cut(head, last, key) for head in heads]
        logits = attnviz.capture(lm, STORE, changes=hidden).logits
        assert logits is not None
        after = float(logits[0, -1, mary] - logits[0, -1, john])
        assert change == pytest.approx(after - found.own, abs=2e-5)


@pytest.mark.slow
def test_a_cut_of_several_queries_is_the_same_as_changes() -> None:
    """A model that pools all positions: every query's edge to a token is cut."""
    lm = attnviz.load("minilm")
    run = attnviz.experiment(lm, "The cat sat.", on=attnviz.Cosine(to="A dog ran."))
    found = run.direct(by="token")
    (cut,) = found.cuts_of([(7, 2)])
    assert cut == attnviz.cut("L0.H7", None, 2, renormalise=False)
    change = found.cut([(7, 2)])[7, 2]
    rows = read_sets(found.prepared, readout(found.prepared).read, [[cut]])[:, 0]
    assert change == pytest.approx(rows[0] - rows[1], abs=2e-6)


def test_a_split_score_has_no_cut_of_whole_tokens() -> None:
    run = attnviz.experiment(attnviz.load("stories"), STORE)
    found = run.direct(by="token", of="L2.H1", query=14, key=2)
    with pytest.raises(BadInput, match="split an answer"):
        found.cut_tokens()
    with pytest.raises(BadInput, match="split an answer"):
        found.cut([(0, 2)], renormalise=True)


@pytest.mark.some(2)
@pytest.mark.parametrize("side", ["k", "q"])
@pytest.mark.parametrize(
    ("name", "head"), [("stories", "L2.H1"), ("stories-llama", "L1.H5"), ("minilm", "L3.H2")]
)
def test_a_score_by_token_sums_to_what_why_says_of_each_head(
    name: str, head: str, side: str
) -> None:
    text = "Lily gave the red ball to Tom. Tom gave the red"
    run = attnviz.experiment(attnviz.load(name), text)
    found = run.direct(by="token", of=head, query=10, key=4, side=side)  # type: ignore[arg-type]
    why = run.why(head, 10, 4, through_mlps=False)
    assert found.ok and found.error <= 1e-5
    assert found.own == pytest.approx(why.centred, abs=1e-5)
    by_source = why.by_source(side)  # type: ignore[arg-type]
    for earlier, by_key in zip(found.heads, found.values, strict=True):
        assert by_key.sum() == pytest.approx(by_source[str(earlier)], abs=5e-6)
    assert str(found.number) == f"score of {head} at 10→4, by {side}"


def test_a_cut_of_a_score_is_a_capture_with_the_edges_cut() -> None:
    lm = attnviz.load("stories-llama")
    text = "Lily gave the red ball to Tom. Tom gave the red"
    run = attnviz.experiment(lm, text)
    found = run.direct(by="token", of="L1.H5", query=10, key=4)
    place = [str(head) for head in found.heads].index("L0.H4")
    exact = found.cut([(place, 3)])[place, 3]
    assert found.exact[place, 3] == pytest.approx(exact, abs=1e-6)
    cut = [attnviz.cut("L0.H4", None, 3, renormalise=False)]
    own, other = attnviz.capture(lm, text), attnviz.capture(lm, text, changes=cut)
    q = own.call(1).inputs.qkv(5)[0][10]  # type: ignore[union-attr]
    scaling = own.call(1).inputs.scaling
    assert scaling is not None
    scores = [scaling * capture.call(1).inputs.qkv(5)[1][:11] @ q for capture in (own, other)]  # type: ignore[union-attr]
    before, after = (float(row[4] - row.mean()) for row in scores)
    assert exact == pytest.approx(after - before, abs=2e-5)


def test_by_token_prints_each_share_beside_its_cut_and_is_lists_too() -> None:
    _, found = stories_run()
    first, header, row = str(found).splitlines()[:3]
    assert "heads" in first and "rest" in first and "NOT ok" not in first
    assert header.split() == ["head", "token", "adds", "cut"]
    lists = found.to_dict()
    assert row.split() == [
        lists["head"][0],
        *f"{lists['token'][0]} {lists['key'][0]}".split(),
        f"{lists['share'][0]:+.3f}",
        f"{lists['exact'][0]:+.3f}",
    ]
    assert len(lists["share"]) == 16 * 15 and len(repr(found)) < 200
    assert sum(lists["share"]) + sum(found.rest.values()) == pytest.approx(found.own, abs=1e-4)  # type: ignore[arg-type]


def test_a_split_by_token_that_cannot_be_made_is_refused_by_name() -> None:
    lm = attnviz.load("stories")
    run = attnviz.experiment(lm, STORE, on=MARY)
    with pytest.raises(BadInput, match="needs of=, query= and key="):
        run.direct(by="token", of="L2.H1")
    with unchecked(), pytest.raises(BadInput, match="give one of component, token"):
        run.direct(by="word")  # type: ignore[call-overload]
    with unchecked(), pytest.raises(BadInput, match="goes with by='token'"):
        run.direct(of="L2.H1")  # type: ignore[call-overload]
    with pytest.raises(BadInput, match="the mask hides that key"):
        run.direct(by="token", of="L2.H1", query=2, key=3)
    with pytest.raises(BadInput, match="cannot be split"):
        run.with_measure(attnviz.Divergence()).direct(by="token")
    with pytest.raises(BadInput, match="adds nothing to this number directly"):
        run.direct(by="token").of("L9.H9")


@pytest.mark.slow
def test_heads_and_tokens_of_a_lora_model_are_those_of_its_merged_weights() -> None:
    """W_O and W_V in peft's shape against the same model with W + ΔW written into one layer."""
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=37,
        hidden_size=24,
        intermediate_size=20,
        num_hidden_layers=2,
        num_attention_heads=3,
        num_key_value_heads=3,
        max_position_embeddings=32,
    )
    adapted, merged = LlamaForCausalLM(config), LlamaForCausalLM(config)
    make_peaky(adapted)
    merged.load_state_dict(adapted.state_dict())
    for own, other in zip(adapted.model.layers, merged.model.layers, strict=True):
        for name in ("v_proj", "o_proj"):
            layer = LoRA(getattr(own.self_attn, name))
            eye = torch.eye(24)
            with torch.no_grad():
                getattr(other.self_attn, name).weight.copy_(layer(eye).T)
            setattr(own.self_attn, name, layer)
    ids, on = torch.tensor([[5, 17, 2, 30, 11]]), NextToken(7, against=4)
    runs = [
        attnviz.experiment(attnviz.load(model.eval()), on=on, inputs={"input_ids": ids})
        for model in (adapted, merged)
    ]
    found, wanted = (run.direct(by="token") for run in runs)
    assert found.heads == wanted.heads and found.ok
    assert found.values == pytest.approx(wanted.values, abs=1e-5)
    heads = [[run.direct().of(head) for head in found.heads] for run in runs]
    assert heads[0] == pytest.approx(heads[1], abs=1e-5)
    assert found.values.sum(1) == pytest.approx(heads[0], abs=1e-5)
