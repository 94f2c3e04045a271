"""`load`: names, paths, modules with their parts, and arguments that do not go with them."""

from pathlib import Path

import pytest
import torch
from PIL import Image
from torch import nn
from transformers import RobertaConfig, RobertaModel

from attnviz.capture.run import capture
from attnviz.errors import BadInput, ModelNotFound
from attnviz.models import files
from attnviz.models.loader import load
from tests.support import folders


@pytest.mark.parametrize("name", ["./nope", "~/nope", "/absolute/nope", "../nope", Path("nope")])
def test_load_says_that_a_folder_is_not_there(name: str | Path) -> None:
    with pytest.raises(ModelNotFound, match="there is no folder .* does not exist") as caught:
        load(name)
    assert caught.value.code == "no_folder"


@pytest.mark.parametrize("name", ["~nobody-of-that-name/model", "/a\0b"])
def test_load_refuses_a_path_that_cannot_be(name: str) -> None:
    with pytest.raises(ModelNotFound, match="there is no folder"):
        load(name)


def test_load_expands_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folders.save(tmp_path / "model", "bert")
    assert load("~/model").kind == "encoder"


def test_load_of_a_file_asks_for_its_folder(tmp_path: Path) -> None:
    weights = folders.save(tmp_path / "model", "bert") / files.WEIGHTS
    with pytest.raises(ModelNotFound, match="that is a file"):
        load(weights)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("gpt2", "on the hub it is openai-community/gpt2"),
        ("bert-base-uncased", "on the hub it is google-bert/bert-base-uncased"),
        ("minilmm", "did you mean 'minilm'?"),
        ("story", "did you mean 'stories'?"),
    ],
)
def test_load_hints_at_the_name_that_was_meant(name: str, hint: str) -> None:
    with pytest.raises(ModelNotFound) as caught:
        load(name)
    assert hint in str(caught.value)


@pytest.mark.parametrize("name", ["a--b/c", "owner/name.git", "owner/.."])
def test_load_refuses_an_id_that_no_hub_has(name: str) -> None:
    for local in (True, False):
        with pytest.raises(ModelNotFound):
            load(name, local_files_only=local)


@pytest.mark.parametrize("options", [{"device": "cpu"}, {"dtype": "float32"}, {"revision": "x"}])
def test_load_of_a_module_refuses_what_it_would_ignore(options: dict[str, str]) -> None:
    with pytest.raises(BadInput, match=f"{next(iter(options))}=.* a module in memory") as caught:
        load(folders.model("bert"), **options)
    assert caught.value.code == "unused_argument"


def test_load_of_a_registered_model_refuses_a_revision() -> None:
    with pytest.raises(BadInput, match="revision="):
        load("stories", revision="main")


@pytest.mark.parametrize(
    "options", [{"tokenizer": "bert-base-uncased"}, {"processor": 3}, {"tokenizer": object()}]
)
def test_load_refuses_a_part_that_is_none(options: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="as from_pretrained"):
        load(folders.model("bert"), **options)


def test_a_module_with_its_tokenizer_reads_text(tmp_path: Path) -> None:
    saved = load(folders.save(tmp_path, "gpt2"))
    own = load(saved.model, tokenizer=saved.tokenizer)
    assert own.key.revision == "live"
    ours, theirs = capture(own, "the cat sat"), capture(saved, "the cat sat")
    assert ours.tokens.labels == theirs.tokens.labels == ("the", "cat", "sat")
    assert torch.equal(ours.call(1).weights(), theirs.call(1).weights())
    with pytest.raises(BadInput, match="load it with tokenizer="):
        capture(saved.model, "the cat sat")


def test_a_module_with_its_processor_reads_pictures(tmp_path: Path) -> None:
    saved = load(folders.save(tmp_path, "vit"))
    own = load(saved.model, processor=saved.processor)
    assert capture(own, image=Image.new("RGB", (20, 20))).grid == (3, 3)


def test_a_module_of_its_own_reads_what_its_forward_takes(tmp_path: Path) -> None:
    tokenizer = load(folders.save(tmp_path, "bert")).tokenizer

    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(folders.VOCAB, 8)
            self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            x = self.embed(input_ids)
            mixed: torch.Tensor = self.attention(x, x, x)[0]
            return mixed

    cap = capture(load(Reader().eval(), tokenizer=tokenizer), "the cat")
    assert cap.tokens.labels[1:3] == ("the", "cat") and cap.calls[0].verify().ok

    class Deaf(Reader):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x)

    with pytest.raises(BadInput, match="no argument input_ids.* it has x"):
        capture(load(Deaf().eval(), tokenizer=tokenizer), "the cat")


def test_a_compiled_module_is_taken_out_of_its_wrapper() -> None:
    model = folders.model("bert")
    assert load(torch.compile(model, backend="eager")).model is model


@pytest.mark.parametrize("setting", ["8g", "lots", "1.5", "８"])
def test_a_size_limit_that_is_no_number_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv(files.LIMIT_VARIABLE, setting)
    with pytest.raises(BadInput, match="ATTNVIZ_MAX_MODEL_MIB is .* whole number of MiB") as caught:
        load(folders.save(tmp_path, "bert"))
    assert caught.value.code == "bad_setting"


def test_an_empty_size_limit_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(files.LIMIT_VARIABLE, "")
    files.check_size(files.DEFAULT_LIMIT_MIB, "a model")


def test_positions_behind_the_padding_token_are_all_there_are() -> None:
    """RoBERTa's table of 20 rows has 18 positions: they are counted from behind token 1."""
    config = RobertaConfig(
        vocab_size=31,
        hidden_size=12,
        num_attention_heads=3,
        num_hidden_layers=1,
        intermediate_size=5,
        max_position_embeddings=20,
    )
    lm = load(RobertaModel(config).eval())
    assert lm.max_tokens == 18
    for n_token in (17, 18):
        capture(lm, inputs={"input_ids": torch.full((1, n_token), 7)})
    with pytest.raises(BadInput, match="cannot run on the inputs"):
        capture(lm, inputs={"input_ids": torch.full((1, 19), 7)})


def test_the_repr_of_a_loaded_model_is_one_line() -> None:
    assert str(load("stories")).startswith("LoadedModel(stories@")
    assert len(repr(load(folders.model("bert")))) < 120
