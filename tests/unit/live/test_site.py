"""`write_site` and `live_page`: every file that is named is there, policies, sizes, refusals."""

import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load

import attnviz
from attnviz.cli.main import main
from attnviz.errors import BadInput, TooLarge
from attnviz.i18n import LANGUAGES
from attnviz.live import model as live_models
from attnviz.live.model import LiveModel, live_model
from attnviz.live.site import one_file, write_site
from tests.support import folders
from tests.support.hostile import SCRIPT
from tests.support.live_worker import own_folder

GOOD = "This is a good film."


@pytest.fixture(scope="module")
def sentiment() -> LiveModel:
    return live_model("sentiment")


@pytest.fixture(scope="module")
def site(sentiment: LiveModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert write_site(folder, [sentiment], fixed="pages") == folder / "index.html"
    return folder


def index(page: str) -> dict[str, Any]:
    match = re.search(r'id="index">([^<]*)</script>', page)
    assert match is not None
    told: dict[str, Any] = json.loads(match[1])
    return told


def addresses(value: object) -> list[str]:
    """Every text in JSON that looks like the address of a file of the site."""
    if isinstance(value, dict):
        return [found for part in value.values() for found in addresses(part)]
    starts = ("models/", "code/", "offline.js")
    return [value] if isinstance(value, str) and value.startswith(starts) else []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_write_site_writes_every_file_that_a_page_names(site: Path, lang: str) -> None:
    page = (site / ("" if lang == "en" else lang) / "index.html").read_text()
    told = index(page)
    named = addresses(told)
    assert (
        len(named) == 10
    )  # worker, kernels, offline, canvases; config, tokenizer, weights and three made
    assert all((site / address).is_file() for address in named)
    root = "" if lang == "en" else "../"
    for link in re.findall(r'(?:src|href)="((?:\.\./)?code/[^"]*)"', page):
        assert (site / link.removeprefix(root)).is_file()
    assert told["models"]["sentiment"]["files"]["steps"].keys() == {lang}


def test_a_page_names_its_language_as_browsers_do(site: Path) -> None:
    assert '<html lang="zh-CN">' in (site / "zh" / "index.html").read_text()
    assert "lang=zh-CN hreflang=zh-CN" in (site / "index.html").read_text()


def test_the_code_before_the_first_picture_is_small(site: Path) -> None:
    folder = site / "code"
    first = [path for path in folder.iterdir() if not path.name.startswith("views")]
    assert len(first) == 4
    whole = [gzip.compress(path.read_bytes()) for path in (*first, site / "index.html")]
    assert sum(map(len, whole)) < 120_000


def test_a_page_allows_nothing_but_its_own_folder(site: Path) -> None:
    page = (site / "index.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1] and "connect-src 'self'" in policy[1]
    assert "unsafe-inline" not in policy[1] and "'unsafe-eval'" not in policy[1]
    assert "//" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_the_service_worker_keeps_the_pages_and_their_code(site: Path) -> None:
    script = (site / "offline.js").read_text()
    kept = json.loads(script[script.rindex("[") : script.rindex("]") + 1])
    assert {"./", "./ja/", "./ko/", "./zh/"} <= set(kept)
    assert all(
        (site / name / ("index.html" if name.endswith("/") else "")).exists() for name in kept
    )
    assert len(kept) == len(LANGUAGES) + 5  # worker, kernels, two scripts, style


def test_live_model_has_a_reference_that_is_torchs_and_files_as_they_are(
    sentiment: LiveModel,
) -> None:
    capture = attnviz.capture("sentiment", sentiment.info["examples"][0])
    reference = load(sentiment.files["reference.safetensors"])
    assert (reference["ids"] == capture.tokens.ids).all()
    assert np.allclose(reference["self"], capture.all_weights(), atol=1e-6)
    folder = live_models.REGISTRY["sentiment"].folder  # type: ignore[union-attr]
    assert sentiment.files["model.safetensors"] == (folder / "model.safetensors").read_bytes()


def test_live_model_takes_an_own_checkpoint_from_a_folder_and_from_memory(tmp_path: Path) -> None:
    folder = folders.saved(tmp_path, "gpt2")
    from_folder = live_model(str(folder), "a text", ("en",))
    assert from_folder.info["examples"][0] == "a text"
    assert from_folder.info["opening"] is None
    from_memory = live_model(attnviz.load(folder), "a text", ("en",))
    assert (
        load(from_memory.files["model.safetensors"]).keys()
        == load(from_folder.files["model.safetensors"]).keys()
    )


def test_live_model_refuses_what_the_engine_does_not_know_by_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="mha-55 is of the architecture module.*bert, gpt2, llama"):
        live_model("mha-55")


def test_live_model_refuses_more_weights_than_a_browser_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_models, "MAX_PARAMETERS", 1000)
    with pytest.raises(TooLarge, match="436,354 parameters"):
        live_model("sentiment")


def test_save_writes_one_file_below_4_mb_with_every_part_of_the_model(tmp_path: Path) -> None:
    capture = attnviz.capture("stories", f"Tom said {SCRIPT}")
    path = attnviz.save(capture, tmp_path / "tom.html", live=True, lang="zh")
    page = path.read_text()
    assert path.stat().st_size < 4_000_000
    told = index(page)
    assert told["root"] is None and told["offline"] is None
    assert told["models"]["stories"]["examples"][0] == f"Tom said {SCRIPT}"
    parts = set(re.findall(r'data-part="([^"]*)"', page))
    files = told["models"]["stories"]["files"]
    named = {files["kernels"], files["config"], files["tokenizer"], files["weights"]["file"]}
    assert {"script", "worker"} | {f"file:{name}" for name in named} <= parts
    assert page.count("<script>") == 1 and SCRIPT not in page


def test_save_refuses_what_a_live_page_does_not_take(tmp_path: Path) -> None:
    capture = attnviz.capture("sentiment", GOOD)
    with pytest.raises(BadInput, match="heads= means nothing for a page with live=True"):
        attnviz.save(capture, tmp_path / "x.html", live=True, heads=["L0.H0"])


@pytest.mark.slow
def test_save_takes_the_checkpoint_of_a_folder_and_no_other_model(tmp_path: Path) -> None:
    folder = tmp_path / "my-bert"
    shutil.copytree(own_folder("sentiment"), folder)
    capture = attnviz.capture(folder, GOOD)
    with pytest.raises(BadInput, match=r"pass model=attnviz\.load"):
        attnviz.save(capture, tmp_path / "x.html", live=True)
    with pytest.raises(BadInput, match="model= is stories, and the capture is of my-bert"):
        attnviz.save(capture, tmp_path / "x.html", live=True, model=attnviz.load("stories"))
    path = attnviz.save(capture, tmp_path / "x.html", live=True, model=attnviz.load(folder))
    told = index(path.read_text())
    assert told["models"]["my-bert"]["examples"][0] == GOOD and told["scenes"] == []


def test_one_file_refuses_a_model_that_is_too_large_for_it(
    sentiment: LiveModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnviz.live.site.MAX_BYTES", 1000)
    with pytest.raises(TooLarge, match="attnviz live FOLDER"):
        one_file(sentiment, "en")


def test_the_command_live_writes_a_site_and_keeps_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["live", str(tmp_path / "site"), "--model", "sentiment", "--lang", "en", "--json"]
    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["models"] == ["sentiment"] and Path(told["file"]).is_file()
    assert main(arguments) == 2
    assert "--overwrite" in capsys.readouterr().err
