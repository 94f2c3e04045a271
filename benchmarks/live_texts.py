"""The engine of the live pages beside the library, on many texts: weights, sentences, translations.

    python -m benchmarks.live_texts

In: nothing; texts of up to 24 words drawn from each model's own. Out: one table; a row is WRONG
where weights are further than 1e-5 from torch's, ids differ, or a translation does. A sentence may
differ by the last digit of a percentage that lies halfway, in at most one of a thousand.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attnviz
from attnviz.capture.arguments import as_pictures
from attnviz.capture.plan.images import pixel_inputs
from attnviz.experiment.outputs.answer import answer as translation
from attnviz.live import prepared
from attnviz.models.loaded_model import LoadedModel
from attnviz.pictures import grid
from attnviz.pictures.group import heads
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.measures import measure
from attnviz.pictures.shared.buffer import unpack
from attnviz.pictures.shared.canvas import packed
from attnviz.worlds import shapes
from benchmarks.measure import Result, report
from tests.support.live_worker import ROOM, model_files, texts

PROGRAM = Path(__file__).with_suffix(".mjs")
STORY = (
    "Anna has a red ball . Tom gives the blue hat to Lily and she is happy . they go park dog wants"
)
WORDS = {
    "stories": STORY,
    "stories-llama": STORY,
    "minilm": f"{STORY} keys cabinet river bank money because unhappiness 1948 Zürich 学校",
    "sentiment": "the film was not good at all , but music is bad great and boring .",
    "translator": "the big black dog sees a small red house my sister and brother eat an apple",
}
MONTHS = ("January", "May", "July", "December")
WEIGHTS, SENTENCES = 1e-5, 1e-3


def drawn_texts(name: str, count: int) -> list[str]:
    """Texts of a model, the same ones each time."""
    draw = random.Random(name)
    if name == "dates":
        days = ((draw.randint(1, 28), draw.choice(MONTHS)) for _ in range(count))
        return [f"{day} {month} {draw.randint(1900, 2030)}" for day, month in days]
    words = WORDS[name].split()
    return [" ".join(draw.choices(words, k=draw.randint(2, 24))) for _ in range(count)]


def measured(name: str, count: int) -> list[Result]:
    """The rows of a model."""
    lm = attnviz.load(name)
    with tempfile.TemporaryDirectory() as folder:
        info = model_files(lm, Path(folder))
        pairs = _pictures(lm, count, Path(folder)) if name == "shapes" else None
        pairs = pairs or _texts(lm, drawn_texts(name, count), Path(folder))
        cases, wanted = zip(*pairs, strict=True)
        asked = {"room": ROOM.as_uri(), "info": info, "texts": texts("en"), "cases": cases}
        run = ["node", str(PROGRAM)]
        result = subprocess.run(
            run, input=json.dumps(asked), capture_output=True, text=True, check=True
        )
    found = json.loads(result.stdout)
    furthest = max(answer["weights"] for answer in found)
    cells = sum(answer["compared"] for answer in found)
    wrong = None if furthest <= WEIGHTS else "weights are not torch's"
    ids = sum(not answer["ids"] for answer in found)
    wrong = wrong or (f"ids of {ids} texts differ" if ids else None)
    label = f"{name}: largest of {cells:,} differences"
    rows = [Result(label, (furthest,), "", WEIGHTS, wrong)]
    return rows if name == "shapes" else rows + _said(name, found, wanted)


def _said(name: str, found: list[Any], wanted: tuple[Any, ...]) -> list[Result]:
    """The rows on what is said in words."""
    both = [
        (ours, theirs)
        for own, other in zip(found, wanted, strict=True)
        for ours, theirs in zip(own["sentences"], other["sentences"], strict=True)
    ]
    apart = sum(ours != theirs for ours, theirs in both)
    wrong = None if apart <= SENTENCES * len(both) else f"{apart} sentences differ"
    label = f"{name}: sentences that differ, of {len(both):,}"
    rows = [Result(label, (apart,), "", None, wrong)]
    if not any(other["written"] for other in wanted):
        return rows
    written = sum(
        own["written"] != other["written"] for own, other in zip(found, wanted, strict=True)
    )
    wrong = f"{written} translations differ" if written else None
    label = f"{name}: translations that differ, of {len(wanted)}"
    return [*rows, Result(label, (written,), "", None, wrong)]


def _texts(lm: LoadedModel, given: list[str], folder: Path) -> Iterator[tuple[Any, Any]]:
    """Each text with its reference, and what the library says of it."""
    for number, text in enumerate(given):
        target = translation(lm, text) if lm.kind == "encoder-decoder" else None
        capture = attnviz.capture(lm, text, target=target)
        captured = AppCapture.alone(capture, lm)
        shown = PageContext("en", captured, captured.groups[0])
        view = packed(grid.CANVAS, heads.grid_view(shown, measure(shown.group)), "en")
        sentences = [sentence for layer in unpack(view)[0]["sentences"] for sentence in layer]
        file = folder / f"{number}.safetensors"
        file.write_bytes(prepared.reference(capture, text))
        said = {"sentences": sentences, "written": target or ""}
        yield {"reference": str(file), "text": text}, said


def _pictures(lm: LoadedModel, count: int, folder: Path) -> list[tuple[Any, Any]]:
    """Drawn pictures with their references."""
    found = []
    for number in range(count):
        picture = shapes.sample(number).picture()
        pixels = pixel_inputs(lm, as_pictures(picture))["pixel_values"][0].numpy()
        file = folder / f"{number}.safetensors"
        capture = attnviz.capture(lm, image=picture)
        file.write_bytes(prepared.reference(capture, "", pixels))
        found.append(({"reference": str(file), "text": None}, None))
    return found


def main() -> int:
    """Print the table; the exit code is 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--texts", type=int, default=200, metavar="N", help="of each model (200)")
    count = parser.parse_args().texts
    names = (*WORDS, "dates", "shapes")
    return report([row for name in names for row in measured(name, count)])


if __name__ == "__main__":
    sys.exit(main())
