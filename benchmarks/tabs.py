"""Memory while visitors open one large model after another: `python -m benchmarks.tabs`.

Starts the app with a directory of random models and opens each in a tab of its own, which stays
open. Prints one table: the memory of the server after each tab and after all are closed, and the
models that it holds then. The app keeps two models of visitors beside its own, whatever the number
of tabs. At the end the first tab, whose model was let go, must still answer a click with the next
head, whose weights come from a capture made anew. `--tabs` and `--layers` say how many tabs, and
how large a model: 28 MB a layer.
"""

import argparse
import os
import re
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import torch
from transformers import BertConfig, BertModel

from attnviz.app.server.edge.health import KEY_VARIABLE
from attnviz.app.server.loading import MAX_MODELS
from attnviz.app.server.sources import VARIABLE
from benchmarks.measure import Result, report
from tests.support.browser import chromium, settle
from tests.support.folders import VOCAB, tokenizer
from tests.support.server import serve
from tests.support.visit import expect_data, open_visit

TABS, LAYERS = 7, 16
KEY = "benchmark"
FREED_S = 60  # a closed tab gives its memory back within this
WIDTH, POSITIONS = 768, 64
MIB = 2**20


def main() -> int:
    """Run the measurement that the command line names; 1 if the server held too many models."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tabs", type=int, default=TABS)
    parser.add_argument("--layers", type=int, default=LAYERS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folders = save_models(Path(name), options.tabs, options.layers)
        with serve(env={VARIABLE: name, KEY_VARIABLE: KEY}) as url:
            results = measure(url, folders)
    return report(results)


def save_models(directory: Path, count: int, n_layers: int) -> list[Path]:
    """Folders of models with equal weights, which are different models to the app."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=VOCAB,
        max_position_embeddings=POSITIONS,
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        num_hidden_layers=n_layers,
        num_attention_heads=12,
    )
    first, *others = folders = [directory / f"model{number}" for number in range(count)]
    BertModel(config, add_pooling_layer=False).save_pretrained(first)
    tokenizer("encoder", POSITIONS).save_pretrained(first)
    for folder in others:
        folder.mkdir()
        for path in first.iterdir():
            os.link(path, folder / path.name)
    return folders


def measure(url: str, folders: list[Path]) -> list[Result]:
    """A row for each tab, one for the click in the first, and one after all are closed."""
    rows = [row("the app alone", gauges(url))]
    with chromium() as browser:
        visits = []
        for number, folder in enumerate(folders, start=1):
            visits.append(open_visit(browser, url, "steps", model=folder, text="the cat sat"))
            rows.append(row(f"{number} tabs", gauges(url)))
        page = visits[0].page
        page.locator("select[data-pick=head]").select_option("1")
        expect_data(page.locator(".av.steps"), head="1")
        settle(page)
        rows.append(row("a click in the first tab", gauges(url)))
        for visit in visits:
            visit.page.context.close()
    time.sleep(FREED_S)
    rows.append(row(f"{FREED_S} s after all are closed", gauges(url)))
    return rows


def gauges(url: str) -> dict[str, float]:
    """The numbers of `/metrics`."""
    request = urllib.request.Request(f"{url}/metrics", headers={"Authorization": f"Bearer {KEY}"})
    with urllib.request.urlopen(request) as response:
        lines = response.read().decode("utf-8")
    return {name: float(value) for name, value in re.findall(r"attnviz_(\w+) (\S+)", lines)}


def row(name: str, seen: dict[str, float]) -> Result:
    """A row in MiB; wrong where more models are held than the caches allow."""
    held, sessions = int(seen["models"]), int(seen["sessions"])
    wrong = f"{held} models are held" if held > MAX_MODELS + 1 else None  # minilm is the app's own
    title = f"{name}: {held} models, {sessions} sessions"
    return Result(title, (seen["memory_bytes"] / MIB,), "MiB", wrong=wrong)


if __name__ == "__main__":
    sys.exit(main())
