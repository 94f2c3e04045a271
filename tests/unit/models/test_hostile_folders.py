"""`load` of folders that someone wrote to do harm: each is refused with a sentence of ours."""

import re
import shutil
import time
from pathlib import Path

import pytest

from attnviz.errors import AttnVizError
from attnviz.models.admission import config
from attnviz.models.loader import load
from tests.support import folders
from tests.support.hostile_models import KINDS, Kind, both, linked, set_json

SOON_S = 5.0
A_PATH = re.compile(r"(?<![\w./])/\w+/")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("honest")


def copied(honest: Path, place: Path, name: str) -> Path:
    return shutil.copytree(folders.saved(honest, name), place / name)


@pytest.mark.some(30)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_load_refuses_a_hostile_folder_with_a_sentence(
    honest: Path, tmp_path: Path, kind: Kind
) -> None:
    folder = copied(honest, tmp_path, kind.model)
    kind.change(folder)
    start = time.thread_time()
    with pytest.raises(AttnVizError) as caught:
        load(folder)
    assert caught.value.code == kind.code, str(caught.value)
    assert time.thread_time() - start < SOON_S
    shown = str(caught.value).replace(str(folder), "")
    assert not A_PATH.search(shown), shown


CHOSEN = {
    "_attn_implementation": "kernels-community/flash-attn3",
    "attn_implementation": "kernels-community/flash-attn3",
    "auto_map": {"AutoConfig": "evil.Config"},
    "transformers_weights": "/etc/passwd",
    "torch_dtype": "no_such_type",
    "_name_or_path": "/home/someone/model",
}


def test_load_chooses_the_attention_and_the_files_itself(honest: Path, tmp_path: Path) -> None:
    folder = copied(honest, tmp_path, "bert")
    both(
        set_json("config.json", **CHOSEN),
        set_json(
            "tokenizer_config.json",
            special_tokens_map_file="/root/special_tokens_map.json",
            tokenizer_file="/etc/passwd",
            auto_map={"AutoTokenizer": ["evil.Tokenizer", None]},
        ),
    )(folder)
    loaded = load(folder)
    assert loaded.model.config._attn_implementation in ("sdpa", "eager")
    assert loaded.tokenize("the cat")["input_ids"] == [2, 6, 7, 3]


def test_a_link_one_level_deeper_is_not_read(honest: Path, tmp_path: Path) -> None:
    folder = copied(honest, tmp_path, "gpt2")
    secret = tmp_path / "secret"
    secret.write_text("canary-17")
    (folder / "additional_chat_templates").mkdir()
    linked("additional_chat_templates/x.jinja", str(secret))(folder)
    loaded = load(folder)
    assert loaded.tokenizer is not None
    assert "canary" not in repr(loaded.tokenizer.chat_template)


@pytest.mark.parametrize(
    ("field", "number"),
    [
        ("num_hidden_layers", 126),  # Llama 3.1 405B
        ("num_attention_heads", 232),  # Falcon 180B
        ("head_dim", 512),
        ("head_hidden_size", 4096),
        ("intermediate_size", 106_496),
        ("vocab_size", 262_144),  # Gemma 3
        ("max_position_embeddings", 10_485_760),  # Llama 4 Scout
        ("num_labels", 21_843),
        ("vision_feature_layer", -2),
        ("pad_token_id", -1),
        ("rope_theta", 500_000_000),
    ],
)
def test_config_admits_the_numbers_of_large_published_models(field: str, number: int) -> None:
    assert config.admit("config.json", {field: number}) == {field: number}
