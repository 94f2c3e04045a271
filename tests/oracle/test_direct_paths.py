"""`run.paths(between=…)`: keys of own hooks that freeze what lies between, and the answer."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

import attnviz
from attnviz.errors import BadInput, UnsupportedAttention
from attnviz.experiment import Experiment
from attnviz.experiment.effects import replacement_of
from attnviz.experiment.paths import by_head, held_between, patterns, recorded_without
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import Site
from tests.support.questions import MARY, STORE
from tests.support.shapes import unchecked

WIDTH = 36  # of a head


@pytest.fixture(scope="module")
def run() -> Experiment:
    return attnviz.experiment(attnviz.load("stories"), STORE, on=MARY)


def keys_by_hooks(lm: LoadedModel, inputs: dict[str, Tensor], mlps: bool) -> Tensor:
    """The keys of L2 where L0.H1 says nothing, and W_O of all others (and MLPs) repeat themselves.

    Every layer's W_O reads its clean input, layer 0's with the columns of head 1 at 0.
    """
    model, clean, mlp, got = lm.model, {}, {}, {}  # type: ignore[var-annotated]

    def kept(store: dict[int, Tensor], layer: int) -> Callable[..., None]:
        return lambda _module, args: store.update({layer: args[0].clone()})

    def frozen(store: dict[int, Tensor], layer: int, away: bool) -> Callable[..., object]:
        def read(_module: object, _args: object) -> tuple[Tensor]:
            x = store[layer].clone()
            if away:
                x[..., WIDTH : 2 * WIDTH] = 0
            return (x,)

        return read

    with torch.no_grad():
        blocks = list(enumerate(model.transformer.h))
        handles = [b.attn.c_proj.register_forward_pre_hook(kept(clean, n)) for n, b in blocks]
        handles += [b.mlp.c_proj.register_forward_pre_hook(kept(mlp, n)) for n, b in blocks]
        model(**inputs)
        for handle in handles:
            handle.remove()
        handles = [
            b.attn.c_proj.register_forward_pre_hook(frozen(clean, n, n == 0)) for n, b in blocks
        ]
        if mlps:
            handles += [
                b.mlp.c_proj.register_forward_pre_hook(frozen(mlp, n, False)) for n, b in blocks
            ]
        handles.append(
            model.transformer.h[2].attn.c_attn.register_forward_hook(
                lambda _m, _a, out: got.update({"k": out[0, :, 144:288]})
            )
        )
        model(**inputs)
        for handle in handles:
            handle.remove()
    return got["k"].reshape(-1, 4, WIDTH).transpose(0, 1)


@pytest.mark.parametrize("between", ["heads", "all"])
def test_paths_hold_what_own_hooks_hold(run: Experiment, between: str) -> None:
    prepared = run.prepared
    expected = keys_by_hooks(prepared.lm, dict(prepared.inputs), between == "all")
    held = held_between(prepared, between)
    sender = Site(0, 1)
    replacement = replacement_of(prepared.lm, "zero", None)
    call = recorded_without(prepared, replacement, [sender], held)[2]
    assert float((call.inputs.key[0] - expected).abs().max()) <= 1e-6  # type: ignore[index]
    found = run.paths(between=between, to="zero", senders=["L0.H1"])  # type: ignore[arg-type]
    own = prepared.calls[2].inputs
    assert found.between == between and f"{between} between held" in repr(found)
    before = patterns(own, own.query, own.key)  # type: ignore[union-attr,arg-type]
    after = patterns(own, own.query, by_head(own, expected[None]))  # type: ignore[union-attr,arg-type]
    for head in range(4):
        moved = float((0.5 * (after - before)[0, head].abs().sum(-1)).mean())
        assert found.of("L0.H1", f"L2.H{head}", "k") == pytest.approx(moved, abs=1e-6)


def test_paths_with_nothing_held_are_those_without_the_choice(run: Experiment) -> None:
    plain, named = run.paths(to="zero"), run.paths(to="zero", between="nothing")
    assert np.array_equal(plain.moved, named.moved, equal_nan=True)
    held = run.paths(to="zero", between="heads").moved
    first = [head.layer for head in plain.receivers].index(1)
    assert np.nanmax(np.abs(plain.moved - held)) > 0.02
    # from layer 0 to layer 1 no head lies between
    neighbours = (slice(0, first), slice(first, 2 * first))
    np.testing.assert_allclose(plain.moved[neighbours], held[neighbours], atol=2e-5)


def test_the_answer_of_a_path_is_that_of_its_cut(run: Experiment) -> None:
    for between in ("nothing", "heads"):
        found = run.paths(to="zero", between=between, answer=True, senders=["L0.H1"])  # type: ignore[arg-type]
        assert found.answer is not None
        assert np.array_equal(np.isnan(found.answer), np.isnan(found.moved))
        for path in found.strongest(3):
            cut = run.cut(path.sender, path.receiver, path.side, to="zero", between=between)  # type: ignore[arg-type]
            change = float(cut.answer.after[0] - cut.answer.before[0])
            assert path.answer == pytest.approx(change, abs=2e-5)
            assert path.moved == pytest.approx(cut.moved, abs=1e-6)
            assert f"answer {path.answer:+.2f}" in str(path)
        sizes = [abs(path.answer or 0.0) for path in found.strongest(5)]
        assert sizes == sorted(sizes, reverse=True) and sizes[0] == np.nanmax(np.abs(found.answer))
        assert found.to_dict()["answer"]


@pytest.mark.slow
def test_the_answer_of_a_path_of_shared_keys_is_that_of_its_cut() -> None:
    """In `stories-llama` heads share keys and queries are turned."""
    run = attnviz.experiment(attnviz.load("stories-llama"), STORE, on=MARY)
    found = run.paths(to="zero", between="all", answer=True, senders=["L0.H4"])
    assert found.answer is not None
    for side in ("q", "k", "v"):
        path = found.strongest(1, (side,))[0]  # type: ignore[arg-type]
        cut = run.cut(path.sender, path.receiver, path.side, to="zero", between="all")
        change = float(cut.answer.after[0] - cut.answer.before[0])
        assert path.answer == pytest.approx(change, abs=2e-5)


def test_paths_that_cannot_be_held_are_refused_by_name(run: Experiment) -> None:
    with unchecked(), pytest.raises(BadInput, match="give one of nothing, heads, all"):
        run.paths(between="everything")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="on= is missing"):
        attnviz.experiment(run.prepared.lm, STORE).paths(answer=True, senders=["L0.H0"])
    translator = attnviz.experiment(attnviz.load("translator"), "a cat .", target="un chat .")
    with pytest.raises(UnsupportedAttention, match="give between='heads'"):
        translator.paths(between="all")
