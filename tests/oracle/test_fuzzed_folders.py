"""`load` of mutated model folders: a model, or a sentence of ours; never anything else."""

import copy
import json
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from attnviz.capture.run import capture
from attnviz.errors import AttnVizError
from attnviz.models.loader import load
from tests.support import folders

SMALL = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 3, 10**5, 10**9, 10**40, 0.5, float("inf"), "", "x", "/etc/passwd"),
    *("../../x", [], [1, 2], [[]], {}, {"a": {}}, "a" * 5000, "\ud800", "{{ 7 * 7 }}", "\0"),
)
FIELDS = (
    *("vocab_file", "init_inputs", "vocab", "auto_map", "quantization_config", "backbone"),
    *("num_labels", "id2label", "_attn_implementation", "transformers_weights", "fusion_config"),
    *("tokenizer_class", "architectures", "model_type", "extra_special_tokens", "chat_template"),
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    here = [(value, key) for key in keys]
    inner = [value[key] for key in keys if isinstance(value[key], dict | list)]
    return here + [place for child in inner for place in places(child)]


def value_of(rng: random.Random) -> Any:
    """A value of its own: one that two folders share would hold what both put into it."""
    return copy.deepcopy(rng.choice(VALUES))


def mutated(rng: random.Random, raw: str) -> str:
    """A JSON text with one to three changes; once in ten times, cut or with a wrong byte."""
    if rng.random() < 0.1:
        cut = rng.randrange(len(raw))
        return raw[:cut] + rng.choice(("", "}", "\0", "[" * 2000))
    value = json.loads(raw)
    for _ in range(rng.randint(1, 3)):
        container, key = rng.choice(places(value) or [(value, "a")])
        change = rng.random()
        if change < 0.6:
            container[key] = value_of(rng)
        elif change < 0.8 and isinstance(container, dict):
            container[rng.choice(FIELDS)] = value_of(rng)
        elif isinstance(container, dict):
            container.pop(key, None)
    return json.dumps(value)


def attempt(rng: random.Random, honest: Path) -> str:
    """The outcome for one mutated folder: "opened", or the code of our error."""
    with tempfile.TemporaryDirectory() as place:
        folder = shutil.copytree(honest, Path(place) / "model")
        file = folder / rng.choice([name for name in SMALL if (folder / name).exists()])
        file.write_text(mutated(rng, file.read_text()), errors="surrogatepass")
        try:
            loaded = load(folder)
            if loaded.tokenizer is not None:
                capture(loaded, "the cat sat")
        except AttnVizError as error:
            return error.code
    return "opened"


def outcomes(tmp_path: Path, seed: int, count: int) -> set[str]:
    rng = random.Random(seed)
    honest = [folders.save(tmp_path / name, name) for name in ("bert", "gpt2", "vit")]
    return {attempt(rng, rng.choice(honest)) for _ in range(count)}


def test_fifteen_mutated_folders_end_in_a_model_or_a_sentence(tmp_path: Path) -> None:
    assert "opened" in outcomes(tmp_path, 17, 15)


@pytest.mark.slow
def test_thousands_of_mutated_folders_end_in_a_model_or_a_sentence(tmp_path: Path) -> None:
    assert {"opened", "field_out_of_range", "field_not_allowed"} <= outcomes(tmp_path, 18, 5000)
