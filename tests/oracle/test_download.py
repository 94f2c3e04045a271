"""Files from a stand-in hub on this machine: what is fetched, and what is said on the way."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import close_session, constants, hf_hub_download

import attnviz
from attnviz.errors import AttnVizError, ModelNotFound, TooLarge
from attnviz.models import download
from attnviz.models.download import fetch, here
from tests.support import folders
from tests.support.hub import COMMIT, Hub, stand_in

NAME = "nobody/tiny"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's folder, with a pickle that nobody asked for."""
    found = folders.save(tmp_path_factory.mktemp("hub") / "bert", "bert")
    (found / "pytorch_model.bin").write_bytes(b"no one reads this")
    return found


@pytest.fixture
def hub(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The stand-in as the only hub there is, and an empty cache."""
    with stand_in(folder, NAME) as running:
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", running.url)
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.partition("{")[2]
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{running.url}/{{{template}")
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 4096)
        yield running
        close_session()  # what the client still holds of this hub would outlive it


def test_every_byte_is_counted(hub: Hub, folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    fetch(NAME, None, lambda done, total: seen.append((done, total)))
    wanted = [file for file in folder.iterdir() if file.name != "pytorch_model.bin"]
    total = sum(file.stat().st_size for file in wanted)
    assert {of for _, of in seen} == {total}
    counts = [done for done, _ in seen]
    assert counts == sorted(counts) and counts[-1] == total
    weights = (folder / "model.safetensors").stat().st_size
    assert len(set(counts)) > weights // 4096  # told of while the weights came, not once a file
    got = Path(hf_hub_download(NAME, "model.safetensors", local_files_only=True))
    assert got.read_bytes() == (folder / "model.safetensors").read_bytes()
    assert not (got.parent / "pytorch_model.bin").exists()


def test_what_is_here_is_not_fetched_again(hub: Hub) -> None:
    fetch(NAME, None, lambda done, total: None)
    seen: list[int] = []
    hub.asked.clear()
    fetch(NAME, None, lambda done, total: seen.append(done))
    assert len(seen) == len(set(seen)) <= 8  # once for each file
    assert hub.asked == [f"GET /api/models/{NAME}"]


def test_the_hub_is_asked_once_about_the_model_and_once_about_each_file(
    hub: Hub, folder: Path
) -> None:
    lm = attnviz.load(NAME)
    wanted = [file.name for file in folder.iterdir() if file.name != "pytorch_model.bin"]
    files = [f"{how} /{NAME}/resolve/{COMMIT}/{of}" for how in ("HEAD", "GET") for of in wanted]
    assert sorted(hub.asked) == sorted([f"GET /api/models/{NAME}", *files])
    assert (lm.key.id, lm.key.revision, lm.card.revision) == (NAME, COMMIT, COMMIT)


def test_what_was_measured_is_what_is_loaded(hub: Hub) -> None:
    """Once fetched, a commit is read from its folder: nothing is asked of the hub."""
    found = fetch(NAME)
    hub.asked.clear()
    lm = attnviz.load(NAME, revision=found.commit, local_files_only=True)
    assert attnviz.load(NAME, local_files_only=True).key == lm.key
    assert not hub.asked
    assert found.folder.name == found.commit == COMMIT
    assert str(lm.model.name_or_path) == str(found.folder)


def test_a_model_that_is_not_whole_here_is_not_taken(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fetch(NAME).folder / "model.safetensors").unlink()
    assert here(NAME) is None
    with pytest.raises(ModelNotFound, match="is not complete on this machine"):
        attnviz.load(NAME, local_files_only=True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelNotFound) as raised:
        attnviz.load(NAME)
    assert raised.value.code == "hub_unreachable"


def test_a_model_of_pickles_is_refused_before_anything_is_fetched(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pickled = tmp_path / "pickled"
    shutil.copytree(folder, pickled, ignore=shutil.ignore_patterns("*.safetensors"))
    with stand_in(pickled, NAME) as running:
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", running.url)
        with pytest.raises(ModelNotFound) as raised:
            fetch(NAME)
        assert raised.value.code == "pickle_only" and len(running.asked) == 1


def test_a_hub_that_names_no_commit_is_not_believed(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.hub.COMMIT", "../../elsewhere")
    with pytest.raises(ModelNotFound, match="in place of a commit"):
        fetch(NAME)


@pytest.mark.some(1)
@pytest.mark.parametrize("tag", ["../../../../ESC4", "/tmp/ESC4", "..", "a/../../b", "a\\\\b"])
def test_a_tag_that_leads_out_of_the_cache_is_not_believed(
    hub: Hub, tag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client names its file after the ETag, and asks for it by itself."""
    monkeypatch.setattr("tests.support.hub._tag", lambda _data: tag)
    with pytest.raises(ModelNotFound, match="its answer has the ETag"):
        fetch(NAME)
    assert not [path for path in tmp_path.rglob("*ESC4*")] and here(NAME) is None
    monkeypatch.setattr("tests.support.hub._tag", lambda data: f"{len(data)}-1")
    assert fetch(NAME).folder.is_dir(), "other forms are harmless, and the next answer counts"


def test_an_error_of_a_hub_model_names_its_id_and_no_place_of_this_machine(hub: Hub) -> None:
    weights = fetch(NAME).folder / "model.safetensors"
    weights.resolve().write_bytes(b"\0" * 100)
    with pytest.raises(ModelNotFound, match="damaged") as raised:
        attnviz.load(NAME)
    assert NAME in str(raised.value)
    for text in (str(raised.value), *map(str, raised.value.details.values())):
        assert constants.HF_HUB_CACHE not in text


def test_a_file_longer_than_the_hub_said_is_not_fetched_to_its_end(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [{"rfilename": file.name, "size": 10} for file in folder.iterdir()]
    info = {"id": NAME, "modelId": NAME, "sha": COMMIT, "tags": [], "siblings": sizes}
    monkeypatch.setattr("tests.support.hub._info", lambda _folder, _name: info)
    monkeypatch.setattr(download, "MAX_SURPLUS_BYTES", 4096)
    with pytest.raises(ModelNotFound, match="did not end after"):
        fetch(NAME)
    assert here(NAME) is None
    kept = [file.stat().st_size for file in Path(constants.HF_HUB_CACHE).rglob("*.incomplete")]
    assert sum(kept) < (folder / "model.safetensors").stat().st_size / 2


def test_an_id_that_the_hub_lacks_is_said(hub: Hub) -> None:
    with pytest.raises(ModelNotFound) as raised:
        fetch("nobody/else", None, lambda done, total: None)
    assert raised.value.code == "hub_unreachable"


def test_a_model_that_is_here_needs_no_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch(NAME, None, lambda done, total: None)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    fetch(NAME, None, lambda done, total: pytest.fail("nothing is to be fetched"))
    found = attnviz.capture(attnviz.load(NAME), "the cat")
    assert found.verify().ok
    with pytest.raises(ModelNotFound) as raised:
        attnviz.load(NAME, revision="another")
    assert raised.value.code == "hub_unreachable"


def test_the_size_is_checked_before_the_first_byte(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTNVIZ_MAX_MODEL_MIB", "-1")
    seen: list[int] = []
    with pytest.raises(TooLarge):
        fetch(NAME, None, lambda done, total: seen.append(done))
    assert not seen
    assert hub.asked == [f"GET /api/models/{NAME}"]


@pytest.mark.some(1)
@pytest.mark.parametrize("n_files", [256, 257])
def test_the_number_of_files_is_checked_before_the_first_byte(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, n_files: int
) -> None:
    """Each file costs two requests, however few bytes it has."""
    shards = [
        {"rfilename": f"model-{at:05}-of-{n_files:05}.safetensors", "size": 8}
        for at in range(1, n_files + 1)
    ]
    info = {"id": NAME, "modelId": NAME, "sha": COMMIT, "tags": [], "siblings": shards}
    monkeypatch.setattr("tests.support.hub._info", lambda _folder, _name: info)
    with pytest.raises(TooLarge if n_files > 256 else ModelNotFound) as raised:
        fetch(NAME)
    if n_files > 256:
        assert (raised.value.code, raised.value.details["found"]) == ("too_many_files", n_files)
        assert hub.asked == [f"GET /api/models/{NAME}"]
    else:  # it is asked for, and this hub has no such file
        assert raised.value.code == "hub_unreachable" and len(hub.asked) > 1


@pytest.mark.parametrize(
    "index",
    [
        "{",
        '{"weight_map": []}',
        '{"weight_map": {"w": "../away.safetensors"}}',
        json.dumps({"weight_map": {f"{at}": f"m-{at}.safetensors" for at in range(1000)}}),
    ],
)
def test_a_damaged_index_is_told_of_by_the_id_that_was_asked_for(
    index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "cache" / f"models--{NAME.replace('/', '--')}"
    snapshot = place / "snapshots" / COMMIT
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(COMMIT)
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (snapshot / "model.safetensors.index.json").write_text(index)
    with pytest.raises(AttnVizError) as refused:
        attnviz.load(NAME, local_files_only=True)
    said = f"{refused.value} {refused.value.details}"
    assert NAME in said and COMMIT not in said and str(tmp_path) not in said
