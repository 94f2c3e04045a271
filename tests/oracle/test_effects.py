"""Effects of heads: against hooks by name, one by one; measures; arguments."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import attnviz
from attnviz.changes import Site, ablate, pattern
from attnviz.errors import BadInput, Cancelled
from attnviz.experiment import rows
from attnviz.experiment.answer_measures import (
    AnswerMeasure,
    Class,
    Cosine,
    Divergence,
    NextToken,
    Target,
)
from attnviz.experiment.readouts import readout
from attnviz.models.loaded_model import LoadedModel
from attnviz.teach.course.toy_model import untrained
from tests.support import shapes
from tests.support.changed_by_hand import output_layer_reads
from tests.support.questions import MARY, STORE
from tests.support.tiny.configs import tiny_config
from tests.support.tiny.inputs import first_fitting
from tests.support.tiny.models import build

# rows of a batch differ from one row alone by this much of a logit, measured at 7e-6
ROUNDING = 2e-5


@pytest.fixture(scope="module")
def stories() -> LoadedModel:
    return attnviz.load("stories")


@pytest.fixture(scope="module")
def llama() -> LoadedModel:
    return attnviz.load("stories-llama")


@pytest.fixture(scope="module")
def translator() -> LoadedModel:
    return attnviz.load("translator")


@pytest.fixture(scope="module")
def sentiment() -> LoadedModel:
    return attnviz.load("sentiment")


def gap(lm: LoadedModel, text: str) -> float:
    """logit(Mary) − logit(John), by the model's own forward."""
    tokenizer = lm.text_tokenizer()
    ids = tokenizer(text, return_tensors="pt")["input_ids"]
    mary, john = (
        tokenizer(name, add_special_tokens=False)["input_ids"][0] for name in (" Mary", " John")
    )
    with torch.no_grad():
        logits = lm.model(input_ids=ids, use_cache=False).logits[0, -1]
    return float(logits[mary] - logits[john])


@pytest.mark.parametrize(
    ("name", "w_o"),
    [
        ("stories", "transformer.h.{}.attn.c_proj"),
        ("stories-llama", "model.layers.{}.self_attn.o_proj"),
    ],
)
def test_effects_are_hooks_on_the_input_of_w_o_for_every_head(name: str, w_o: str) -> None:
    lm = attnviz.load(name)
    found = attnviz.experiment(lm, STORE, on=MARY).effects(to="zero")
    assert found.before == pytest.approx(gap(lm, STORE), abs=ROUNDING)
    width = attnviz.capture(lm, STORE).calls[0].output.shape[3]
    for site, after in zip(found.heads, found.after, strict=True):
        assert site.head is not None
        columns = slice(site.head * width, (site.head + 1) * width)
        with output_layer_reads(lm.model, w_o.format(site.layer), columns, torch.zeros_like):
            assert after == pytest.approx(gap(lm, STORE), abs=ROUNDING)
    assert found.spread <= ROUNDING
    assert found.exact and found.notes == ()


def test_one_head_turns_mary_into_john(stories: LoadedModel) -> None:
    """The stories example: 99.3 % for Mary, and 53 % for John without L0.H0."""
    ids = [
        stories.text_tokenizer()(name, add_special_tokens=False)["input_ids"][0]
        for name in (" Mary", " John")
    ]
    clean = attnviz.capture(stories, STORE)
    without = attnviz.capture(stories, STORE, changes=[ablate("L0.H0", "zero")])
    assert clean.logits is not None and without.logits is not None
    assert float(clean.logits[0, -1].softmax(-1)[ids[0]]) == pytest.approx(0.993, abs=1e-3)
    assert float(without.logits[0, -1].softmax(-1)[ids[1]]) == pytest.approx(0.53, abs=5e-3)
    found = attnviz.experiment(stories, STORE, on=MARY).effects(to="zero")
    assert found.order[0] == Site(0, 0)
    assert found.of("L0.H0") == pytest.approx(-9.67, abs=0.02)
    assert abs(found.of(found.control)) < 0.01 * abs(found.of("L0.H0"))


def test_effects_of_uniform_attention_are_those_of_the_pattern(stories: LoadedModel) -> None:
    found = attnviz.experiment(stories, STORE, on=MARY).effects(to="even")
    assert (found.to, found.corpus) == ("even", "")
    names = (" Mary", " John")
    mary, john = (stories.tokenize(name, add_special_tokens=False)["input_ids"] for name in names)
    inputs = stories.tokenize(STORE, return_tensors="pt")
    for head in ("L0.H0", "L2.H1", "L3.H3"):
        with attnviz.changed(stories, pattern(head, "even")), torch.no_grad():
            logits = stories.model(**inputs).logits[0, -1]
        alone = float(logits[mary[0]] - logits[john[0]])
        assert found.of(head) == pytest.approx(alone - found.before, abs=1e-4)
    assert np.abs(found.changes).max() > 1
    with pytest.raises(BadInput, match="uniform attention needs none"):
        attnviz.experiment(stories, STORE, on=MARY).effects(to="even", corpus=["A text."])


CASES: tuple[tuple[str, str, AnswerMeasure], ...] = (
    ("stories", STORE, MARY),
    ("stories", STORE, Divergence()),
    ("stories", STORE, NextToken(" Mary", log_probability=True)),
    ("stories-llama", STORE, Target()),
    ("translator", "the little cat sleeps .", Target("le petit chat dort .")),
    ("sentiment", "the hotel was not bad at all .", Class("negative", against="positive")),
    ("minilm", "The cat sat on the mat.", Cosine()),
)


@pytest.mark.some(3)
@pytest.mark.parametrize(("name", "text", "on"), CASES)
def test_rows_of_batches_resumed_or_not_are_each_head_run_alone(
    name: str, text: str, on: AnswerMeasure, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = attnviz.load(name)
    monkeypatch.setattr(rows, "LONG", np.inf)
    heads = ["L0.H0", "L0.H5", "L4.H2", "L4.H7"] if name == "minilm" else None
    whole = attnviz.experiment(lm, text, on=on).effects(to="zero", heads=heads)
    monkeypatch.setattr(rows, "LONG", 0.0)
    resumed = attnviz.experiment(lm, text, on=on).effects(to="zero", heads=heads, rows=7)
    assert np.allclose(whole.after, resumed.after, atol=ROUNDING)
    for site in (*whole.order[:2], whole.control):
        alone = attnviz.experiment(lm, text, on=on).effects(to="zero", heads=[site], rows=1)
        assert alone.of(site) == pytest.approx(whole.of(site), abs=ROUNDING)
    assert np.abs(whole.changes).max() > 100 * ROUNDING


@pytest.mark.some(1)
@pytest.mark.parametrize(
    "name",
    [
        "swin",  # attends inside windows; its tables have one row for all of them
        "falcon",  # writes into the outputs of its modules
        "albert",  # one module for all layers
        "t5",  # two stacks, three kinds of attention
        "canine",  # layers inside and outside of stacks
    ],
)
@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
def test_effects_of_resumed_passes_have_the_bits_of_whole_ones(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, _ = build(name, tiny_config(name, "tiny", None))
    inputs = first_fitting(name, model)
    lm = attnviz.load(model)

    def on(output: Any) -> Tensor:
        hidden = output["last_hidden_state"].float()
        return (hidden * torch.linspace(-1, 1, hidden[0].numel()).view_as(hidden[0])).sum((1, 2))

    monkeypatch.setattr(rows, "LONG", np.inf)
    whole = attnviz.experiment(lm, on=on, inputs=inputs).effects(to="zero")
    monkeypatch.setattr(rows, "LONG", 0.0)
    resumed = attnviz.experiment(lm, on=on, inputs=inputs).effects(to="zero")
    assert resumed.heads == whole.heads
    assert np.array_equal(resumed.after, whole.after)
    assert np.abs(whole.changes).max() > 0.1


@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
def test_effects_take_a_head_away_from_both_calls_of_a_layer() -> None:
    model, _ = build("diffllama", tiny_config("diffllama", "tiny", None))
    lm, inputs = attnviz.load(model), first_fitting("diffllama", model)

    def on(output: Any) -> Tensor:
        hidden = output["last_hidden_state"].float()
        return (hidden * torch.linspace(-1, 1, hidden[0].numel()).view_as(hidden[0])).sum((1, 2))

    effects = attnviz.experiment(lm, on=on, inputs=inputs).effects(to="zero")
    for head, after in zip(effects.heads, effects.after, strict=True):
        with torch.no_grad(), attnviz.changed(lm, ablate(head, "zero")):
            assert after == pytest.approx(float(on(lm.model(**inputs))[0]), rel=1e-5, abs=1e-4)
    assert np.abs(effects.changes).max() > 0.1


def test_a_resumed_pass_runs_again_what_holds_a_shared_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two layers with one attention: the first may not answer, for its run is counted."""
    model = untrained(torch.Generator().manual_seed(3))
    model.layers[1].attention = model.layers[0].attention
    lm, inputs = attnviz.load(model), {"tokens": torch.tensor([[1, 4, 2, 7, 1, 4]])}

    def on(output: Any) -> Tensor:
        logits: Tensor = output["output"]
        return logits[:, -1, 2]

    monkeypatch.setattr(rows, "LONG", np.inf)
    whole = attnviz.experiment(lm, on=on, inputs=inputs).effects(to="zero")
    monkeypatch.setattr(rows, "LONG", 0.0)
    resumed = attnviz.experiment(lm, on=on, inputs=inputs).effects(to="zero")
    assert len(whole.heads) == 4 and np.abs(whole.changes).min() > 1e-4
    assert np.array_equal(resumed.after, whole.after)


def test_the_mean_of_a_corpus_is_what_the_heads_say_over_it(stories: LoadedModel) -> None:
    texts = ["Once upon a time there was a cat.", "Mary gave a book to John, who was happy."]
    said = [attnviz.capture(stories, text).call(1).output[0].double() for text in texts]
    mean = torch.cat(said).mean(0)  # [head, d_value]
    capture = attnviz.capture(stories, STORE, changes=[ablate("L1.H2", corpus=texts)])
    ours = capture.call(1).output[0, :, 2].double()
    assert float((ours - mean[2]).abs().max()) <= 1e-6
    by_default = attnviz.experiment(stories, STORE, on=MARY).effects(heads=["L0"])
    assert by_default.to == "mean" and "generated stories" in by_default.corpus
    given = attnviz.experiment(stories, STORE, on=MARY).effects(heads=["L0"], corpus=texts)
    assert given.corpus == "2 texts"
    assert not np.allclose(given.after, by_default.after, atol=1e-3)


def test_resampling_draws_from_the_corpus_and_is_repeatable(stories: LoadedModel) -> None:
    one = attnviz.experiment(stories, STORE, on=MARY).effects(to="resample", heads=["L2"])
    same = attnviz.experiment(stories, STORE, on=MARY).effects(to="resample", heads=["L2"], rows=3)
    assert np.allclose(one.after, same.after, atol=ROUNDING)
    mean = attnviz.experiment(stories, STORE, on=MARY).effects(heads=["L2"])
    assert not np.allclose(one.after, mean.after, atol=1e-2)


def test_a_mean_over_positions_of_the_text_would_be_blind_and_ours_is_not() -> None:
    """minilm's answer is a mean over positions: the mean of the text itself leaves the mean of
    what a last-layer head adds; the corpus mean does not."""
    lm = attnviz.load("minilm")
    text = "The cat sat on the mat and looked at the dog."
    others = ["A dog lay on a rug.", "It rained on the town all night.", "She wrote a letter."]
    found = attnviz.experiment(lm, text, on=Cosine()).effects(
        heads=["L5.H3", "L5.H11"], corpus=others
    )
    assert np.abs(found.changes).min() > 1e-3


def test_grid_has_layers_and_heads_and_the_stack_that_is_asked_for(
    stories: LoadedModel, translator: LoadedModel
) -> None:
    found = attnviz.experiment(stories, STORE, on=MARY).effects(to="zero")
    table = found.grid()
    assert table.shape == (4, 4)
    assert table[2, 1] == found.of("L2.H1")
    both = attnviz.experiment(translator, "the cat sleeps .", on=Target("le chat dort .")).effects(
        to="zero"
    )
    assert both.grid("cross", "decoder").shape == (2, 4)
    with pytest.raises(BadInput, match="no 'cross' attention in stack 'encoder'"):
        both.grid("cross", "encoder")


# --- measures -----------------------------------------------------------------------------------


def clean_number(lm: LoadedModel, text: str, on: AnswerMeasure, **given: object) -> float:
    return (
        attnviz.experiment(lm, text, on=on, **given)
        .effects(to="zero", heads=[first_head(lm)])
        .before
    )


def first_head(lm: LoadedModel) -> str:
    return "encoder.L0.H0" if lm.kind == "encoder-decoder" else "L0.H0"


def test_next_token_is_a_logit_against_another_or_the_mean(stories: LoadedModel) -> None:
    capture = attnviz.capture(stories, STORE)
    assert capture.logits is not None
    row = capture.logits[0, -1].double()
    tokenizer = stories.text_tokenizer()
    mary = tokenizer(" Mary", add_special_tokens=False)["input_ids"][0]
    alone = clean_number(stories, STORE, NextToken(" Mary"))
    assert alone == pytest.approx(float(row[mary] - row.mean()), abs=ROUNDING)
    assert clean_number(stories, STORE, NextToken(mary)) == pytest.approx(alone)
    sure = clean_number(stories, STORE, NextToken(" Mary", log_probability=True))
    assert sure == pytest.approx(float(row.log_softmax(-1)[mary]), abs=1e-5)
    earlier = clean_number(stories, STORE, NextToken(" Mary", at=3))
    row = capture.logits[0, 3].double()
    assert earlier == pytest.approx(float(row[mary] - row.mean()), abs=ROUNDING)


def test_class_cosine_target_and_divergence_are_their_formulas(
    sentiment: LoadedModel, translator: LoadedModel, stories: LoadedModel, minilm: LoadedModel
) -> None:
    review = "the hotel was not bad at all ."
    capture = attnviz.capture(sentiment, review)
    assert capture.logits is not None
    said = clean_number(sentiment, review, Class("Positive", against="negative"))
    assert said == pytest.approx(float(capture.logits[0, 1] - capture.logits[0, 0]), abs=1e-5)

    from attnviz.experiment.outputs.similarity import similarity

    pair = ("The cat sat.", "A dog lay down.")
    near = similarity(minilm, pair).cosine[0, 1]
    assert clean_number(minilm, pair[0], Cosine(pair[1])) == pytest.approx(near, abs=1e-5)
    assert clean_number(minilm, pair[0], Cosine()) == pytest.approx(1.0, abs=1e-5)

    source, target = "the little cat sleeps .", "le petit chat dort ."
    capture = attnviz.capture(translator, source, target=target)
    assert capture.logits is not None
    ids = translator.text_tokenizer()(text_target=[target])["input_ids"][0]
    rows_ = capture.logits[0].double().log_softmax(-1)
    wanted = sum(float(rows_[at, token]) for at, token in enumerate(ids))
    assert clean_number(translator, source, Target(target)) == pytest.approx(wanted, abs=1e-4)

    assert clean_number(stories, STORE, Divergence()) == pytest.approx(0.0, abs=1e-6)


def test_an_own_measure_is_a_function_of_the_output(stories: LoadedModel) -> None:
    def largest(output: dict[str, Tensor]) -> Tensor:
        return output["logits"][:, -1].max(-1).values

    found = attnviz.experiment(stories, STORE, on=largest).effects(to="zero")
    capture = attnviz.capture(stories, STORE)
    assert capture.logits is not None
    assert found.before == pytest.approx(float(capture.logits[0, -1].max()), abs=1e-5)


REFUSED: tuple[tuple[str, str, object, str], ...] = (
    ("stories", STORE, "Mary", "on= is str"),
    ("stories", STORE, NextToken(" Mary and John"), "not one token"),
    ("stories", STORE, NextToken(10**6), "not one token"),
    ("stories", STORE, NextToken(" Mary", at=99), "position 99 does not exist"),
    ("stories", STORE, Class("negative"), "which this measure cannot read"),
    ("stories", STORE, Cosine("a text"), "answers with logits"),
    ("sentiment", STORE, NextToken(0), "answers with logits"),
    ("sentiment", STORE, Class("sad"), "its classes are: negative, positive"),
    ("minilm", STORE, NextToken("cat"), "answers with last hidden states"),
    ("translator", "the cat .", Target(), "encoder-decoder"),
)


@pytest.mark.parametrize(("name", "text", "on", "says"), REFUSED)
def test_a_measure_that_a_model_cannot_answer_is_refused_by_name(
    name: str, text: str, on: object, says: str
) -> None:
    with shapes.unchecked(), pytest.raises(BadInput, match=says):
        attnviz.experiment(attnviz.load(name), text, on=on).effects()  # type: ignore[arg-type]


def test_arguments_are_used_or_refused(stories: LoadedModel) -> None:
    with pytest.raises(BadInput, match="to is 'median'"):
        attnviz.experiment(stories, STORE, on=MARY).effects(to="median")
    with pytest.raises(BadInput, match="corpus"):
        attnviz.experiment(stories, STORE, on=MARY).effects(to="zero", corpus=["a text"])
    with pytest.raises(BadInput, match="does not exist"):
        attnviz.experiment(stories, STORE, on=MARY).effects(heads=["L9.H0"])
    with pytest.raises(BadInput, match="2 texts were given"):
        rows = {"input_ids": torch.tensor([[5, 6, 7], [5, 6, 8]])}
        attnviz.experiment(stories, on=MARY, inputs=rows).effects()
    with pytest.raises(BadInput, match="give one of both"):
        attnviz.experiment(attnviz.load("translator"), "a", on=Target("b"), target="c").effects()
    with pytest.raises(BadInput, match="nothing to stand against"):
        NextToken("a", against="b", log_probability=True)


def test_progress_that_is_no_function_is_refused(stories: LoadedModel) -> None:
    run = attnviz.experiment(stories, STORE, on=MARY)
    texts = attnviz.experiment(stories, [STORE] * 2, MARY)
    asked: list[Callable[..., object]] = [
        run.effects,
        run.paths,
        texts.effects,
        partial(run.patched_from, run),
        partial(run.circuit, run),
        partial(texts.patching, slots={"last": -1}),
        partial(attnviz.survey, stories, [STORE]),
        partial(attnviz.embed, stories, [STORE]),
    ]
    for question in asked:
        with shapes.unchecked(), pytest.raises(BadInput, match="progress is True; give a function"):
            question(progress=True)


def test_effects_report_progress_and_can_be_stopped(stories: LoadedModel) -> None:
    seen: list[float] = []
    attnviz.experiment(stories, STORE, on=MARY).effects(to="zero", rows=5, progress=seen.append)
    assert seen == sorted(seen) and len(seen) == 4 and seen[-1] == 1.0
    stop = threading.Event()

    def stop_soon(fraction: float) -> None:
        if fraction > 0.2:
            stop.set()

    with pytest.raises(Cancelled):
        attnviz.experiment(stories, STORE, on=MARY).effects(
            to="zero", rows=5, progress=stop_soon, cancel=stop
        )


def test_the_recording_of_a_corpus_is_progress_too_and_can_be_stopped(stories: LoadedModel) -> None:
    texts, stop, seen = [f"The cat saw {n} dogs." for n in range(20)], threading.Event(), []

    def stop_at_once(fraction: float) -> None:
        seen.append(fraction)
        stop.set()

    with pytest.raises(Cancelled):
        attnviz.experiment(stories, STORE, on=MARY).effects(
            corpus=texts, progress=stop_at_once, cancel=stop
        )
    assert len(seen) == 1 and seen[0] < 0.3  # it ended after the first texts
    seen.clear()
    attnviz.experiment(stories, STORE, on=MARY).effects(corpus=texts, progress=seen.append)
    assert len(seen) == 4 and seen == sorted(seen) and seen[-1] == 1.0


def test_changed_rows_waits_for_the_model_before_blocks_answer(
    stories: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that measures heads leaves the model alone while another one runs it."""
    monkeypatch.setattr(rows, "LONG", 0.0)  # modules answer however short the text is
    on = attnviz.NextToken(" Mary", against=" John")
    run = attnviz.experiment(stories, STORE, on=on)
    worker = threading.Thread(target=run.effects, kwargs={"to": "zero"})

    def is_touched() -> bool:
        return any("forward" in vars(module) for module in stories.model.modules())

    with stories.lock:
        worker.start()
        worker.join(0.2)  # the lock is ours: the other thread must wait
        seen = [is_touched()]
    while worker.is_alive():
        if stories.lock.acquire(timeout=0.05):
            worker.join(0.02)
            seen.append(is_touched())
            stories.lock.release()
    assert not any(seen)


@pytest.mark.parametrize("name", ["stories", "translator", "sentiment"])
def test_an_estimate_is_gradient_times_input_of_own_hooks(name: str) -> None:
    """Of zero: −Σ z·∂m/∂z, z what W_O reads, by module hooks and autograd."""
    lm = attnviz.load(name)
    text, on, modules = {
        "stories": (STORE, MARY, "transformer.h.{}.attn.c_proj"),
        "translator": (
            "the little cat sleeps .",
            Target("le petit chat dort ."),
            "model.encoder.layers.{}.self_attn.out_proj",
        ),
        "sentiment": (
            "the hotel was not bad at all .",
            Class("negative", against="positive"),
            "bert.encoder.layer.{}.attention.output.dense",
        ),
    }[name]
    run = attnviz.experiment(lm, text, on=on)
    heads = [head for head in run.effects(to="zero").heads if head.stack in (None, "encoder")]
    found = run.effects(to="zero", exact=False, heads=heads)
    kept: dict[int, Tensor] = {}
    n_layer = 1 + max(head.layer for head in heads)

    def keeping(layer: int) -> Any:
        def keep(_module: object, args: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            kept[layer] = args[0].detach().requires_grad_() if layer == 0 else args[0]
            return (kept[layer], *args[1:])

        return keep

    handles = [
        lm.model.get_submodule(modules.format(layer)).register_forward_pre_hook(keeping(layer))
        for layer in range(n_layer)
    ]
    prepared = run.prepared
    with torch.enable_grad():
        resolved = readout(prepared)
        assert resolved.linear is not None
        output = lm.model(**prepared.inputs, **prepared.options)
        number = resolved.linear(output[resolved.output]).sum()
        slopes = torch.autograd.grad(number, [kept[layer] for layer in range(n_layer)])
    for handle in handles:
        handle.remove()
    width = prepared.calls[0].output.shape[3]
    for head, change in zip(heads, found.changes, strict=True):
        assert head.head is not None
        columns = slice(head.head * width, (head.head + 1) * width)
        wanted = -(kept[head.layer] * slopes[head.layer])[..., columns].sum()
        assert change == pytest.approx(float(wanted.detach()), abs=2e-4)
    assert not found.exact and "first-order estimate" in repr(found)


def test_agreement_is_pearsons_and_spearmans(stories: LoadedModel) -> None:
    """On the Mary sentence the estimate ranks L2.H2 first, which exactly is the third."""
    run = attnviz.experiment(stories, STORE, on=MARY)
    exact, guess = run.effects(to="mean"), run.effects(to="mean", exact=False)
    assert exact.agreement(exact) == pytest.approx((1.0, 1.0))
    pearson, spearman = guess.agreement(exact)
    assert pearson == pytest.approx(float(np.corrcoef(guess.changes, exact.changes)[0, 1]))
    assert 0.5 < spearman < 1.0
    assert str(guess.order[0]) == "L2.H2" != str(exact.order[0])
    with pytest.raises(BadInput, match="effects of 16 heads and of 1; take the same heads away"):
        exact.agreement(run.effects(to="zero", heads=["L0.H0"]))
    with pytest.raises(BadInput, match="give to='zero', 'mean' or 'resample'"):
        run.effects(to="even", exact=False)
