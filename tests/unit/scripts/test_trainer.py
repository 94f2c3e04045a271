"""The trainer of the embedded models: a run that was interrupted ends as if it had not been."""

import argparse
import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel, PreTrainedModel

from attnviz.checks.cards import Description, Figure, HeadNote, TrainingCard, TrainingRecord, read
from scripts.train import trainer

STEPS = 23
STOPPED_AT = 11


def tiny() -> BertModel:
    torch.manual_seed(3)
    return BertModel(
        BertConfig(
            vocab_size=31,
            hidden_size=14,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=17,
            hidden_dropout_prob=0.1,
        )
    )


def loss(model: nn.Module, draw: np.random.Generator) -> Tensor:
    ids = torch.from_numpy(draw.integers(0, 31, (5, 7)))
    return model(input_ids=ids).last_hidden_state.float().pow(2).mean()


RECIPE = trainer.Recipe(
    name="tiny",
    seed=5,
    schedule=trainer.Schedule(STEPS, 1e-3, warmup=3),
    loss=loss,
    measure=lambda model: {"norm": float(next(model.parameters()).norm())},
    measure_every=7,
)


def described(name: str, _folder: Path, trained: TrainingRecord) -> TrainingCard:
    head = HeadNote("L0.H1", "looks back", 0.75, chance=0.25)
    description = Description("a test", "none", ("en",), (head,), "all")
    return TrainingCard(name, "Apache-2.0", description, trained, (Figure("copying", 0.5, 0.9),))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(trainer, "ROOT", tmp_path)
    monkeypatch.setattr(trainer, "measure_card", described)
    return tmp_path


def trained(out: Path, recipe: trainer.Recipe, *, fresh: bool) -> PreTrainedModel:
    model = tiny()
    options = argparse.Namespace(fresh=fresh, threads=1, out=out)
    trainer.train(recipe, model, lambda _model, folder: folder.mkdir(exist_ok=True), options)
    return model


class Interrupted(Exception):
    """Stands for a machine that is turned off."""


@pytest.mark.some(1)
@pytest.mark.parametrize("muon_lr", [None, 2e-3])
def test_a_resumed_run_ends_in_the_same_weights(
    home: Path, monkeypatch: pytest.MonkeyPatch, muon_lr: float | None
) -> None:
    schedule = dataclasses.replace(RECIPE.schedule, muon_lr=muon_lr)
    recipe = dataclasses.replace(RECIPE, schedule=schedule)
    whole = trained(home / "whole", recipe, fresh=True)
    monkeypatch.setattr(trainer, "CHECKPOINT_SECONDS", 0)

    def failing(model: nn.Module, draw: np.random.Generator) -> Tensor:
        if draw.bit_generator.state == stop:
            raise Interrupted
        return loss(model, draw)

    stop = np.random.default_rng((RECIPE.seed, STOPPED_AT)).bit_generator.state
    with pytest.raises(Interrupted):
        trained(home / "unused", dataclasses.replace(recipe, loss=failing), fresh=True)
    resumed = trained(home / "resumed", recipe, fresh=False)
    for ours, theirs in zip(resumed.parameters(), whole.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert (home / "resumed" / "curve.json").read_bytes() == (
        home / "whole" / "curve.json"
    ).read_bytes()


def test_what_is_stored_is_half_precision_with_its_card(home: Path) -> None:
    trained(home / "out", RECIPE, fresh=True)
    stored = BertModel.from_pretrained(home / "out", dtype="auto")
    assert {parameter.dtype for parameter in stored.parameters()} == {torch.float16}
    card = read(home / "out")
    assert card == described("tiny", home, card.training)
    assert (card.training.steps, card.training.seed) == (STEPS, 5)


def test_the_learning_rate_rises_then_falls_to_its_floor() -> None:
    schedule = trainer.Schedule(1000, 2.0, warmup=100, floor=0.1)
    assert schedule.lr_at(0) == pytest.approx(2.0 / 100)
    assert schedule.lr_at(99) == pytest.approx(2.0 * (0.1 + 0.9 * 0.9758), rel=1e-3)
    assert schedule.lr_at(1000) == pytest.approx(0.2)


def test_muon_trains_the_matrices_of_layers_and_nothing_else() -> None:
    model = tiny()
    adamw, muon = trainer._optimizers(model, trainer.Schedule(9, 1e-3, muon_lr=2e-3))
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    [group] = muon.param_groups
    by_muon = {names[id(parameter)] for parameter in group["params"]}
    assert by_muon and all(".layer.0." in name for name in by_muon)
    others = {id(p) for group in adamw.param_groups for p in group["params"]}
    assert len(others) + len(by_muon) == len(names)
    assert not others & {id(parameter) for parameter in group["params"]}


def test_a_second_cosine_begins_where_it_is_told() -> None:
    once = trainer.Schedule(100, 2e-3, warmup=10)
    twice = trainer.Schedule(160, 2e-3, warmup=10, again=((100, 0.5),))
    assert [twice.lr_at(step) for step in range(100)] == [once.lr_at(step) for step in range(100)]
    assert twice.lr_at(99) < 0.1 * 2e-3 and twice.lr_at(100) == 0.5 * 2e-3 / 10  # warms up again
    assert 0.9e-3 < max(twice.lr_at(step) for step in range(100, 160)) <= 1e-3
    assert twice.lr_at(159) < 0.1e-3


def test_the_ends_of_the_last_cosines_are_averaged(tmp_path: Path) -> None:
    schedule = trainer.Schedule(30, 1e-3, again=((10, 0.5), (20, 0.5)), averaged=2)
    assert schedule.ends == (10, 20, 30)
    model = nn.Linear(2, 3)
    for step, value in zip(schedule.ends, (100.0, 1.0, 4.0), strict=True):
        nn.init.constant_(model.weight, value)
        nn.init.constant_(model.bias, -value)
        trainer._keep_end(tmp_path, model, step)
    trainer.average(model, schedule, tmp_path)
    assert model.weight.eq(2.5).all() and model.bias.eq(-2.5).all()
    trainer.average(model, trainer.Schedule(30, 1e-3), tmp_path)  # without being asked: as it was
    assert model.weight.eq(2.5).all()
