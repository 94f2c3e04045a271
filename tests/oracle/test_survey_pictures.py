"""A survey of pictures against one capture after another, and every way to compute it."""

from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import attnviz
from attnviz import BadInput, LoadedModel, metrics
from attnviz.corpus import shards
from attnviz.corpus.items import named_pictures
from attnviz.corpus.tally import BITS
from attnviz.types import MEASURES
from attnviz.worlds import shapes
from tests.support.folders import saved

N = 20
PICTURES = {f"sample {seed}": Image.fromarray(shapes.sample(seed).picture()) for seed in range(N)}


@pytest.fixture(scope="module")
def lm() -> LoadedModel:
    return attnviz.load("shapes")


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD", 8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The pictures as files, with one file that is none of them."""
    place = tmp_path / "pictures"
    place.mkdir()
    for name, picture in PICTURES.items():
        picture.save(place / f"{name}.png")
    (place / "notes.txt").write_text("no picture")
    return place


def test_means_are_those_of_single_captures(lm: LoadedModel) -> None:
    survey = attnviz.survey(lm, PICTURES)
    assert (survey.n_text, survey.n_token) == (N, N * 37)
    values = []
    for picture in PICTURES.values():
        cap = attnviz.capture(lm, image=picture)
        by_name = metrics.measured(cap.all_weights(), cap.tokens)
        values.append(np.stack([by_name[name].ravel() for name in MEASURES], axis=-1))
    expected = np.stack(values)
    table = survey.table()
    for column, name in enumerate(MEASURES):
        known = ~np.isnan(expected[:, :, column])
        assert known.all() or not known.any(), name
        if known.any():
            np.testing.assert_allclose(table[name], expected[:, :, column].mean(axis=0), atol=2e-5)
        else:
            assert np.isnan(table[name]).all()
    assert {"first", "self", "previous", "peak"} <= {
        name for name in MEASURES if not np.isnan(table[name]).any()
    }


@pytest.mark.slow
def test_patches_get_what_the_heads_of_a_model_run_by_hand_give_them(lm: LoadedModel) -> None:
    survey = attnviz.survey(lm, list(PICTURES.values()))
    total = np.zeros((16, 37))
    config = deepcopy(lm.model.config)
    eager = type(lm.model)._from_config(config, attn_implementation="eager").eval()
    eager.load_state_dict(lm.model.state_dict())
    for picture in PICTURES.values():
        inputs = lm.processor(images=picture, return_tensors="pt")
        layers = eager(**inputs, output_attentions=True).attentions
        asked = [layer[0, :, 1:].sum(dim=1) for layer in layers]  # the patches ask, not [CLS]
        total += np.concatenate([layer.detach().numpy() for layer in asked])
    received = survey.tally.received
    got = (received.weight / (1 << BITS)).reshape(16, 37)
    np.testing.assert_allclose(got, total, atol=1e-3)
    labels = attnviz.capture(lm, image=PICTURES["sample 0"]).tokens.labels
    assert survey.keys("L0.H0", 1)[0].token == labels[int(total[0].argmax())]


@pytest.mark.slow
def test_every_way_gives_the_same_bytes(lm: LoadedModel, folder: Path, tmp_path: Path) -> None:
    plain = attnviz.survey(lm, folder)
    assert set(plain.tally.texts.values()) <= {f"{name}.png" for name in PICTURES}
    attnviz.save(plain, tmp_path / "plain.npz")
    kept = tmp_path / "kept"
    for part in ("2/2", "1/2"):
        attnviz.survey(lm, folder, folder=kept, part=part)
    again = attnviz.survey("shapes", folder, folder=kept, workers=2)
    attnviz.save(again, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "plain.npz").read_bytes()
    assert repr(attnviz.read(tmp_path / "again.npz")) == repr(plain)
    Image.new("RGB", (48, 48)).save(folder / "sample 3.png")  # another picture of the same name
    assert repr(attnviz.survey(lm, folder, folder=kept)) == repr(plain)
    assert len(list(kept.glob("shard-*.npz"))) == 4, "the shard of that picture was counted anew"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([np.zeros((3, 3))], "picture 1: image= is an array of float64"),
        ([Image.new("RGB", (9, 9)), 7], "picture 2: image= is int"),
        (["no such file.png"], "cannot read pictures from no such file.png"),
        ("no such folder", "it is no folder of pictures"),
        (7, "a folder of pictures, or a list of them; int was given"),
    ],
)
def test_what_is_no_picture_is_refused_by_name(given: object, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        for picture in named_pictures(given):
            picture.digest()


def test_files_that_are_no_pictures_are_refused_by_name(lm: LoadedModel, folder: Path) -> None:
    (folder / "sample 5.png").write_bytes(b"nothing")
    with pytest.raises(BadInput, match=r"sample 5\.png: .*is not a picture"):
        attnviz.survey(lm, folder)
    for file in folder.glob("*.png"):
        file.unlink()
    with pytest.raises(BadInput, match="there is no picture in it"):
        attnviz.survey(lm, folder)
    with pytest.raises(BadInput, match="there is nothing to count"):
        attnviz.survey(lm, [])


def test_models_that_read_something_else_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="reads texts, not a mapping"):
        attnviz.survey("minilm", PICTURES)
    with pytest.raises(BadInput, match=r"a survey reads plain texts.* or pictures"):
        attnviz.survey("translator", ["a"])
    with pytest.raises(BadInput, match="the layers of .* attend to different patches"):
        attnviz.survey(saved(tmp_path, "swin"), PICTURES)
    ordinary = attnviz.survey(saved(tmp_path, "vit"), PICTURES)
    assert ordinary.n_text == N
