"""Train `shapes`: which form is the largest, and in which colour? A small vision transformer.

    make train NAME=shapes

Its world is `worlds.shapes`. Pictures are painted once into a pool (kept under build/), then
shifted, mirrored and lit anew in each batch. What made it learn on one core, in this order: a part
of the pictures with one large thing, Muon for the matrices, patches that start out whitened (edges
as loud as colours), and a second question while it trains: of which form is the thing that each
patch belongs to? The weights of that question are not stored.
"""

from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, unfold
from transformers import (
    PreTrainedModel,
    ViTConfig,
    ViTForImageClassification,
    ViTImageProcessor,
)

from attnviz.worlds import forms, shapes
from attnviz.worlds.forms import COLOURS, FORMS
from attnviz.worlds.shapes import LABELS, PATCH_PX, SIDE_PX, Scene
from scripts.train import trainer

NAME, SEED, STEPS = "shapes", 21, 7000
BATCH, POOL, LARGE_POOL = 32, 40_000, 10_000
LARGE_SHARE, LONE_SHARE = 0.3, 0.15
SHIFT_PX, NOISE, LIGHT = 4, 0.04, 0.1
WIDTH, LAYERS, HEADS, INNER = 128, 4, 4, 256
MEASURED = range(7_000_000, 7_000_300)
GRID = SIDE_PX // PATCH_PX


def make_model() -> ViTForImageClassification:
    torch.manual_seed(SEED)
    config = ViTConfig(
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=INNER,
        image_size=SIDE_PX,
        patch_size=PATCH_PX,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.07,
        hidden_act="gelu_pytorch_tanh",
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )
    model = ViTForImageClassification(config)
    with torch.no_grad():
        model.vit.embeddings.position_embeddings[0, 1:] = 0.3 * _places()
    model.patch_forms = nn.Linear(WIDTH, 1 + len(FORMS))
    return model


def _places() -> Tensor:
    """Row and column of each patch as waves, so that nearness is known from the start."""
    pace = 30.0 ** (-torch.arange(WIDTH // 4) / (WIDTH // 4))
    row, column = torch.meshgrid(torch.arange(GRID), torch.arange(GRID), indexing="ij")
    angles = [place.reshape(-1, 1) * pace for place in (column, row)]
    return torch.cat([wave(angle) for angle in angles for wave in (torch.sin, torch.cos)], dim=1)


@torch.no_grad()
def whiten(model: ViTForImageClassification, pixels: Tensor) -> None:
    """Let the patch embedding begin as the patches' principal directions, all equally loud."""
    patches = unfold(pixels, PATCH_PX, stride=PATCH_PX).transpose(1, 2).reshape(-1, 3 * PATCH_PX**2)
    mean = patches.mean(0)
    spread, directions = torch.linalg.eigh((patches - mean).T @ (patches - mean) / len(patches))
    spread, directions = spread.flip(0)[:WIDTH], directions.flip(1)[:, :WIDTH]
    weight = 0.5 * (directions / (spread + 3e-4 * spread[0]).sqrt()).T
    embedding = model.vit.embeddings.patch_embeddings.projection
    embedding.weight.copy_(weight.reshape(embedding.weight.shape))
    embedding.bias.copy_(-(weight @ mean))


def painted(scene: Scene) -> np.ndarray:
    """[row, column, 4]: the picture, and 1 + the number of the form that lies on each pixel."""
    image = Image.new("L", (SIDE_PX, SIDE_PX))
    draw = ImageDraw.Draw(image)
    for thing in scene.things:
        draw.polygon(
            [(x * SIDE_PX, y * SIDE_PX) for x, y in thing.points], fill=1 + FORMS.index(thing.form)
        )
    return np.dstack([scene.picture(), np.asarray(image)])


def pool() -> tuple[np.ndarray, np.ndarray]:
    """Painted scenes and their label numbers, those with one large thing first; made once."""
    text = "".join(Path(module.__file__ or "").read_text("utf-8") for module in (forms, shapes))
    recipe = f"{text}{SEED}{POOL}{LARGE_POOL}{LONE_SHARE}"
    file = (
        trainer.ROOT / "build" / "pools" / f"shapes-{sha256(recipe.encode()).hexdigest()[:12]}.npz"
    )
    if not file.is_file():
        rng = np.random.default_rng(SEED)
        scenes = [shapes.large(rng) for _ in range(LARGE_POOL)]
        while len(scenes) < LARGE_POOL + POOL:
            scenes.append(shapes.scene(rng, 0 if rng.random() < LONE_SHARE else 1))
        pictures = np.stack([painted(scene) for scene in scenes])
        labels = np.array([scene.label_id for scene in scenes])
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(file, pictures=pictures, labels=labels)
    with np.load(file) as stored:
        return stored["pictures"], stored["labels"]


def drawn(rng: np.random.Generator, pictures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A batch of the pool, shifted and mirrored: [picture, row, column, 4] and their numbers."""
    large = rng.random(BATCH) < LARGE_SHARE
    low, high = np.where(large, 0, LARGE_POOL), np.where(large, LARGE_POOL, len(pictures))
    chosen = rng.integers(low, high)
    along = np.arange(SIDE_PX)
    shift = rng.integers(-SHIFT_PX, SHIFT_PX + 1, size=(2, BATCH, 1))
    rows, columns = np.clip(along + shift, 0, SIDE_PX - 1)
    mirrored = rng.random(BATCH) < 0.5
    columns[mirrored] = columns[mirrored, ::-1]
    each = np.arange(BATCH)[:, None, None]
    return pictures[chosen][each, rows[:, :, None], columns[:, None, :]], chosen


def to_pixels(pictures: np.ndarray) -> Tensor:
    """What the image processor makes of pictures, [picture, 3, row, column] from −1 to 1."""
    return torch.from_numpy(np.moveaxis(pictures[..., :3], -1, 1) / np.float32(127.5) - 1)


def lit(pixels: Tensor) -> Tensor:
    """The same pictures in another light, and a little noise."""
    gain = 1 + LIGHT * (torch.rand(len(pixels), 1, 1, 1) * 2 - 1)
    noise = torch.rand(len(pixels), 1, 1, 1) * NOISE * torch.randn_like(pixels)
    return ((pixels + 1) * gain - 1 + noise).clamp(-1, 1)


def main() -> None:
    options = trainer.arguments(NAME, STEPS)
    pictures, labels = pool()
    model = make_model()
    whiten(model, to_pixels(pictures[-2000:]))
    held_out = [shapes.sample(seed) for seed in MEASURED]
    measured = to_pixels(np.stack([scene.picture() for scene in held_out]))
    truth = torch.tensor([scene.label_id for scene in held_out])

    def loss(model: nn.Module, rng: np.random.Generator) -> Tensor:
        batch, chosen = drawn(rng, pictures)
        states = model.vit(lit(to_pixels(batch))).last_hidden_state
        answer = cross_entropy(model.classifier(states[:, 0]), torch.from_numpy(labels[chosen]))
        middle = batch[:, PATCH_PX // 2 :: PATCH_PX, PATCH_PX // 2 :: PATCH_PX, 3].astype(np.int64)
        of_patches = model.patch_forms(states[:, 1:]).flatten(0, 1)
        return answer + cross_entropy(of_patches, torch.from_numpy(middle.ravel()))

    def measure(model: nn.Module) -> dict[str, float]:
        named = model(measured).logits.argmax(1)
        n = len(COLOURS)
        right = {"forms": named // n == truth // n, "colours": named % n == truth % n}
        return {name: round(each.float().mean().item(), 4) for name, each in right.items()}

    def save(model: PreTrainedModel, folder: Path) -> None:
        kept = {k: v for k, v in model.state_dict().items() if not k.startswith("patch_forms")}
        model.save_pretrained(folder, state_dict=kept)
        side = {"height": SIDE_PX, "width": SIDE_PX}
        ViTImageProcessor(size=side, image_mean=[0.5] * 3, image_std=[0.5] * 3).save_pretrained(
            folder
        )

    schedule = trainer.Schedule(
        options.steps,
        lr=1e-3,
        muon_lr=3e-3,
        warmup=150,
        floor=0.02,
        weight_decay=0.03,
        bfloat16=False,
    )
    recipe = trainer.Recipe(NAME, SEED, schedule, loss, measure, measure_every=200)
    trainer.train(recipe, model, save, options)


if __name__ == "__main__":
    main()
