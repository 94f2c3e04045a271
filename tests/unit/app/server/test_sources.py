"""`sources.source` opens registered models, hub ids, and folders that the operator allows."""

import os
from pathlib import Path

import pytest

from attnviz.app.server.sources import VARIABLE, cleaned, source
from attnviz.errors import ModelNotFound


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    return folder


def code(name: str) -> str:
    with pytest.raises(ModelNotFound) as caught:
        source(name)
    return caught.value.code


@pytest.mark.parametrize("name", ["a/" + "b" * 300, "a" * 300 + "/b"])
def test_a_hub_id_of_any_length_is_answered(name: str) -> None:
    assert code(name) == "long_hub_id"


@pytest.mark.parametrize("name", ["minilm", "openai/gpt2", "a-b/c.d"])
def test_names_and_hub_ids_are_taken_as_they_are(name: str) -> None:
    assert source(name).name == name


def test_no_folder_is_open_unless_it_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "models" / "tiny")
    monkeypatch.delenv(VARIABLE, raising=False)
    assert code(str(folder)) == "folder_not_allowed"
    monkeypatch.setenv(VARIABLE, os.pathsep.join(["", str(tmp_path / "other")]))
    assert code(str(folder)) == "folder_not_allowed"
    monkeypatch.setenv(VARIABLE, os.pathsep.join([str(tmp_path / "other"), str(folder.parent)]))
    assert source(str(folder)).name == str(folder)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An allowed directory with a model `tiny`, beside one that is not allowed, with `secret`."""
    allowed = made(tmp_path / "allowed" / "tiny").parent
    made(tmp_path / "elsewhere" / "secret")
    monkeypatch.setenv(VARIABLE, str(allowed))
    return allowed


@pytest.mark.parametrize(
    "way", ["{root}/../elsewhere/secret", "{root}/tiny/../../elsewhere/secret", "/", "{root}x/y"]
)
def test_no_path_leads_out(root: Path, way: str) -> None:
    assert code(way.format(root=root)) == "folder_not_allowed"


def test_no_link_leads_out(root: Path) -> None:
    (root / "link").symlink_to(root.parent / "elsewhere" / "secret")
    assert code(str(root / "link")) == "folder_not_allowed"
    (root / "tiny" / "model.safetensors").symlink_to(root.parent / "elsewhere" / "weights")
    assert code(str(root / "tiny")) == "folder_not_allowed"


def test_a_link_that_stays_inside_is_followed(root: Path) -> None:
    (root / "same").symlink_to(root / "tiny")
    assert source(str(root / "same")).name == str(root / "tiny")


@pytest.mark.parametrize(
    "pasted", ['"/m/a b"', "'/m/a b'", "  /m/a b\t", ' " /m/a b " ', "“/m/a b”", "‘/m/a b’"]
)
def test_what_a_path_was_pasted_in_is_no_part_of_it(pasted: str) -> None:
    assert cleaned(pasted) == "/m/a b"


@pytest.mark.parametrize("name", ["", '"', "/m/the cats'", "'/m/a", "\"/m/a'", "/m/'a'"])
def test_quotes_that_enclose_nothing_stay(name: str) -> None:
    assert cleaned(name) == name


def test_a_tilde_is_the_home_and_opens_no_more_than_its_path(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(root))
    assert source("~/tiny") == source(str(root / "tiny"))
    with pytest.raises(ModelNotFound) as caught:
        source("~/../elsewhere/secret")
    assert caught.value.code == "folder_not_allowed"
    assert str(root) not in str(caught.value), "says where the server's home is"
    assert code("~nobody-of-this-name/tiny") == "folder_not_allowed"


@pytest.mark.parametrize("name", ["./x/y", "../x", "~/models/x", "a\\b", "/x\0y", ".."])
def test_what_is_written_as_a_path_is_no_hub_id(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(root.parent)
    assert code(name) in {"folder_not_allowed", "unknown_model"}


def test_a_folder_beside_the_app_is_no_hub_id(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root.parent)
    assert code("elsewhere/secret") == "folder_not_allowed"


def test_whether_a_closed_folder_exists_is_not_told(root: Path) -> None:
    there, gone = root.parent / "elsewhere" / "secret", root.parent / "elsewhere" / "gone"
    assert code(str(there)) == code(str(gone)) == "folder_not_allowed"
    assert code(str(root / "gone")) == "no_folder"


def test_changed_files_are_another_source(root: Path) -> None:
    before = source(str(root / "tiny"))
    assert source(str(root / "tiny")) == before
    (root / "tiny" / "config.json").write_text('{"a": 1}')
    assert source(str(root / "tiny")) != before
