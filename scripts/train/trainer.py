"""One training loop for all embedded models: seeded, resumable, saying how long it still takes.

In: a `Recipe` (batches and loss as one function, a cheap measure, a schedule) and a fresh model.
Out: a folder that transformers reads (float16 weights, whatever the recipe's `save` adds),
`curve.json` with every measurement on the way, and `card.json` with the figures that
`attnviz.checks` measures on the stored weights. Batch number n is drawn from the seed (seed, n), so
a resumed run goes on as if it had not stopped. What is not exact: sums in another order on another
machine or with another number of threads change the last digits, and so in time the weights.
"""

import argparse
import json
import math
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import PreTrainedModel

from attnviz.checks import cards, measure_card

ROOT = Path(__file__).resolve().parents[2]
EMBEDDED = ROOT / "attnviz" / "models" / "embedded"
CHECKPOINT_SECONDS = 120
# what each optimizer remembers of a parameter
MOMENTS: dict[type[torch.optim.Optimizer], tuple[str, ...]] = {
    torch.optim.AdamW: ("exp_avg", "exp_avg_sq"),
    torch.optim.Muon: ("momentum_buffer",),
}
Optimizers = tuple[torch.optim.Optimizer, ...]


@dataclass(frozen=True)
class Schedule:
    """AdamW with linear warmup, then a cosine down to `floor` × `lr`.

    With a `muon_lr` the matrices inside the layers are trained by Muon at that rate instead.
    `again` has (step, share): from each such step on another cosine, from that share of the rate;
    the weights at the ends of the last `averaged` cosines are averaged.
    """

    steps: int
    lr: float
    warmup: int = 200
    floor: float = 0.05
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.98)
    clip: float = 1.0
    bfloat16: bool = True
    muon_lr: float | None = None
    again: tuple[tuple[int, float], ...] = ()
    averaged: int = 1

    @property
    def ends(self) -> tuple[int, ...]:
        """The steps at which a cosine ends."""
        return (*(begins for begins, _ in self.again), self.steps)

    def lr_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        return self.lr * self.share_at(step)

    def share_at(self, step: int) -> float:
        """How much of its highest learning rate each optimizer uses at a step."""
        first, last, highest = 0, self.steps, 1.0
        for begins, share in self.again:
            if step >= begins:
                first, highest = begins, share
            else:
                last = min(last, begins)
        cosine = 0.5 * (1 + math.cos(math.pi * (step - first) / (last - first)))
        warm = min(1.0, (step - first + 1) / self.warmup)
        return highest * warm * (self.floor + (1 - self.floor) * cosine)


@dataclass(frozen=True)
class Recipe:
    """What is trained: `loss` draws a batch from the generator and gives the mean loss."""

    name: str
    seed: int
    schedule: Schedule
    loss: Callable[[nn.Module, np.random.Generator], Tensor]
    measure: Callable[[nn.Module], dict[str, float]]
    measure_every: int


@dataclass
class Progress:
    """How far a run is; what a checkpoint keeps beside the tensors.

    `seconds` are CPU time for each thread: what the steps take where nothing else runs.
    """

    step: int = 0
    seconds: float = 0.0
    curve: list[dict[str, float]] = field(default_factory=list)


def arguments(name: str, steps: int) -> argparse.Namespace:
    """The options that every training script takes."""
    parser = argparse.ArgumentParser(prog=f"make train NAME={name}")
    parser.add_argument("--threads", type=int, default=2, help="torch threads (2)")
    parser.add_argument("--fresh", action="store_true", help="forget an interrupted run")
    parser.add_argument("--steps", type=int, default=steps, help=f"steps of training ({steps})")
    parser.add_argument("--out", type=Path, default=EMBEDDED / name, help="where the model goes")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    return options


def train(
    recipe: Recipe,
    model: PreTrainedModel,
    save: Callable[[PreTrainedModel, Path], None],
    options: argparse.Namespace,
) -> None:
    """Train, store and measure; goes on from the last checkpoint unless asked to start afresh."""
    work = ROOT / "build" / "train" / recipe.name
    if options.fresh and work.exists():
        shutil.rmtree(work)
    work.mkdir(parents=True, exist_ok=True)
    optimizers = _optimizers(model, recipe.schedule)
    progress = _resumed(work, model, optimizers)
    save(model, work / "model")
    _run(recipe, model, optimizers, progress, work)
    average(model, recipe.schedule, work)
    _store(recipe, model, save, progress, options)


def _optimizers(model: nn.Module, schedule: Schedule) -> Optimizers:
    """Decay for matrices only, as usual for transformers."""
    hidden = [p for name, p in model.named_parameters() if p.dim() == 2 and _in_a_layer(name)]
    by_muon = {id(p) for p in hidden} if schedule.muon_lr else set()
    others = [p for p in model.parameters() if id(p) not in by_muon]
    groups = [
        {"params": [p for p in others if p.dim() >= 2], "weight_decay": schedule.weight_decay},
        {"params": [p for p in others if p.dim() < 2], "weight_decay": 0.0},
    ]
    adamw = torch.optim.AdamW(groups, lr=schedule.lr, betas=schedule.betas, fused=True)
    if not schedule.muon_lr:
        return (adamw,)
    muon = torch.optim.Muon(
        hidden,
        lr=schedule.muon_lr,
        weight_decay=schedule.weight_decay,
        adjust_lr_fn="match_rms_adamw",
    )
    return adamw, muon


def _in_a_layer(name: str) -> bool:
    """Whether a parameter is part of a numbered layer, unlike embeddings and the last head."""
    return any(part.isdigit() for part in name.split("."))


def _run(
    recipe: Recipe,
    model: PreTrainedModel,
    optimizers: Optimizers,
    progress: Progress,
    work: Path,
) -> None:
    schedule, saved_at = recipe.schedule, time.monotonic()
    model.train()
    while progress.step < schedule.steps:
        began = time.process_time()
        loss = _step(recipe, model, optimizers, progress.step)
        progress.step += 1
        progress.seconds += (time.process_time() - began) / torch.get_num_threads()
        if progress.step % recipe.measure_every == 0 or progress.step == schedule.steps:
            point = {"step": progress.step, "loss": round(loss, 4), **_measured(recipe, model)}
            progress.curve.append(point)
            print(_said(recipe, progress, point), flush=True)
        if schedule.averaged > 1 and progress.step in schedule.ends:
            _keep_end(work, model, progress.step)
        if time.monotonic() - saved_at > CHECKPOINT_SECONDS:
            _checkpoint(work, model, optimizers, progress)
            saved_at = time.monotonic()
    _checkpoint(work, model, optimizers, progress)


def _keep_end(work: Path, model: nn.Module, step: int) -> None:
    """The weights at the end of a cosine."""
    weights = {name: value.data.contiguous() for name, value in model.named_parameters()}
    save_file(weights, work / f"end-{step}.safetensors")


def average(model: nn.Module, schedule: Schedule, work: Path) -> None:
    """Give the model the mean of its weights at the ends of the last cosines."""
    if schedule.averaged < 2:
        return
    last = schedule.ends[-schedule.averaged :]
    ends = [load_file(work / f"end-{end}.safetensors") for end in last]
    for name, parameter in model.named_parameters():
        parameter.data.copy_(torch.stack([weights[name] for weights in ends]).mean(dim=0))


def _step(recipe: Recipe, model: PreTrainedModel, optimizers: Optimizers, step: int) -> float:
    schedule = recipe.schedule
    for optimizer in optimizers:
        highest = schedule.muon_lr if isinstance(optimizer, torch.optim.Muon) else schedule.lr
        for group in optimizer.param_groups:
            group["lr"] = (highest or 0.0) * schedule.share_at(step)
    torch.manual_seed((recipe.seed << 32) + step)  # for dropout, where a recipe has any
    with torch.autocast("cpu", torch.bfloat16, enabled=schedule.bfloat16):
        loss = recipe.loss(model, np.random.default_rng((recipe.seed, step)))
    model.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), schedule.clip)
    for optimizer in optimizers:
        optimizer.step()
    return loss.item()


@torch.no_grad()
def _measured(recipe: Recipe, model: PreTrainedModel) -> dict[str, float]:
    model.eval()
    found = recipe.measure(model)
    model.train()
    return found


def _said(recipe: Recipe, progress: Progress, point: dict[str, float]) -> str:
    left = (recipe.schedule.steps - progress.step) * progress.seconds / progress.step
    figures = "  ".join(f"{name} {value:.4g}" for name, value in point.items() if name != "step")
    done = progress.step / recipe.schedule.steps
    return (
        f"{recipe.name}  {done:4.0%}  step {progress.step}  {figures}"
        f"  {progress.seconds / 60:.1f} min, {left / 60:.1f} min left"
    )


def _named(model: nn.Module, optimizers: Optimizers) -> Iterator[tuple[str, Tensor]]:
    """Every tensor of a run under a name of its own; tied weights once."""
    owners = {
        parameter: optimizer
        for optimizer in optimizers
        for group in optimizer.param_groups
        for parameter in group["params"]
    }
    for name, parameter in model.named_parameters():
        yield f"model.{name}", parameter.data
        state = owners[parameter].state[parameter]
        for moment in MOMENTS[type(owners[parameter])]:
            if moment not in state:
                state[moment] = torch.zeros_like(parameter)
            yield f"{moment}.{name}", state[moment]
        state.setdefault("step", torch.tensor(0.0))


def _checkpoint(work: Path, model: nn.Module, optimizers: Optimizers, progress: Progress) -> None:
    tensors = {name: tensor.contiguous() for name, tensor in _named(model, optimizers)}
    text = {"progress": json.dumps(asdict(progress))}
    partial = work / "checkpoint.partial"
    save_file(tensors, partial, metadata=text)  # one file: tensors and progress cannot disagree
    partial.rename(work / "checkpoint.safetensors")


def _resumed(work: Path, model: nn.Module, optimizers: Optimizers) -> Progress:
    file = work / "checkpoint.safetensors"
    if not file.is_file():
        return Progress()
    with safe_open(file, framework="pt") as stored:
        progress = Progress(**json.loads(stored.metadata()["progress"]))
        for name, tensor in _named(model, optimizers):
            tensor.copy_(stored.get_tensor(name))
    for optimizer in optimizers:
        for state in optimizer.state.values():
            state["step"] = torch.tensor(float(progress.step))
    print(f"goes on from step {progress.step}", flush=True)
    return progress


def _store(
    recipe: Recipe,
    model: PreTrainedModel,
    save: Callable[[PreTrainedModel, Path], None],
    progress: Progress,
    options: argparse.Namespace,
) -> None:
    """Write the folder, measure what lies in it, and write what was measured on its card."""
    folder: Path = options.out
    folder.mkdir(parents=True, exist_ok=True)
    model.eval().half().save_pretrained(folder)
    save(model, folder)
    (folder / "curve.json").write_text(
        json.dumps(progress.curve, indent=0) + "\n", encoding="utf-8"
    )
    trained = cards.TrainingRecord(
        seed=recipe.seed,
        steps=progress.step,
        minutes=round(progress.seconds / 60, 1),
        threads=options.threads,
    )
    card = measure_card(recipe.name, folder, trained)
    cards.write(folder, card)
    for figure in card.figures:
        print(figure, flush=True)
    print(f"stored in {folder}", flush=True)
