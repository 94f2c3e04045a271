"""Models from folders and the hub: opened by name or address, refused with what to do."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from streamlit.testing.v1 import AppTest

import attnviz
from attnviz import i18n
from attnviz.app.server import captures, loading, sources
from attnviz.app.session import messages, widgets
from attnviz.capture.request import Request
from attnviz.models.registry import REGISTRY
from tests.pages.conftest import Visit, bar, is_typed, parameters, pieces, sent

KEY = widgets.key
TEXT = "the cat sat on a mat"
Tiny = Callable[[str], str]


def errors(app: AppTest) -> list[str]:
    return [each.value for each in app.error]


@pytest.mark.slow
def test_a_model_is_opened_from_a_folder(visit: Visit, tiny: Tiny) -> None:
    app = visit("overview", text=TEXT)
    app.selectbox(KEY("model.en")).set_value("").run()
    assert app.subheader[0].value == i18n.text("en", "empty.model_title")
    assert parameters(app) == {"model": "", "text": TEXT}
    app.text_input(KEY("model_name")).set_value(tiny("bert")).run()
    assert not app.error
    assert parameters(app)["model"] == tiny("bert")
    header, arrays = sent(app)
    assert header["model"] == "bert"
    weights = attnviz.capture(attnviz.load(tiny("bert")), TEXT).all_weights()
    shown = (arrays["weights"] / 255.0) ** 2
    assert np.abs(np.sqrt(shown) - np.sqrt(weights)).max() <= 0.5 / 255 + 1e-6
    said = [each.value for each in bar(app).caption]
    assert any("2 layers × 3 heads" in each for each in said)


def test_a_model_that_the_operator_lists_is_chosen_without_its_path(
    visit: Visit, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(sources.MODELS_VARIABLE, os.pathsep.join([tiny("bert"), "minilm"]))
    app = visit("overview", text=TEXT)
    menu = app.selectbox(KEY("model.en"))
    assert menu.options.count("bert") == 1 and len(menu.options) == len(REGISTRY) + 2
    menu.set_value(tiny("bert")).run()
    assert not app.error and parameters(app)["model"] == tiny("bert")
    assert sent(app)[0]["model"] == "bert"
    assert app.selectbox(KEY("model.en")).value == tiny("bert")
    assert not [box for box in app.text_input if box.key == KEY("model_name")]
    compared = visit("compare", text=TEXT, text_b=TEXT, model_b=tiny("bert"))
    assert compared.selectbox(KEY("model_b.en")).value == tiny("bert")
    assert not errors(compared)


@pytest.mark.some(1)
@pytest.mark.parametrize("pasted", ['"{}"', "'{}'", "  {} "])
def test_a_path_opens_as_it_was_pasted(visit: Visit, tiny: Tiny, pasted: str) -> None:
    app = visit("overview", text=TEXT, model="gone/")
    app.text_input(KEY("model_name")).set_value(pasted.format(tiny("bert"))).run()
    assert not app.error
    assert app.text_input(KEY("model_name")).value == tiny("bert")
    assert parameters(app)["model"] == tiny("bert")
    linked = visit("overview", text=TEXT, model=pasted.format(tiny("bert")))
    assert not linked.error and not linked.warning
    assert sent(linked)[0]["model"] == "bert"


def test_another_model_starts_at_its_first_head(visit: Visit, tiny: Tiny) -> None:
    app = visit("steps", text=TEXT, layer="5", head="11", query="1")
    app.selectbox(KEY("model.en")).set_value("").run()
    app.text_input(KEY("model_name")).set_value(tiny("bert")).run()
    header, _ = sent(app)
    assert (header["layer"], header["head"]) == (0, 0)
    assert "query" not in parameters(app)


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
def test_a_folder_elsewhere_is_refused(visit: Visit, tmp_path: Path, lang: i18n.Language) -> None:
    app = visit("overview", lang=lang, text=TEXT, model=str(tmp_path))
    said = i18n.text(
        lang,
        "error.folder_not_allowed",
        folder=messages.plain(str(tmp_path)),
        variable=messages.plain(sources.VARIABLE),
    )
    assert errors(app) == [said]
    app.button(KEY("way_out.folder_not_allowed")).click().run()
    assert not app.error
    assert sent(app)[0]["model"] == i18n.text(lang, "model.minilm.label")


def without_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def cut_short(folder: Path) -> None:
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[: len(data) // 2])


def of_no_known_type(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "no-such-model"}')


def not_numbers(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    name = next(name for name in tensors if name.endswith("word_embeddings.weight"))
    tensors[name] = np.full_like(tensors[name], np.nan)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (without_config, "no_config"),
        (without_weights, "no_weights"),
        (pickled, "pickle_only"),
        (cut_short, "damaged_file"),
        (of_no_known_type, "cannot_load"),
        (not_numbers, "nan_weights"),
    ],
)
def test_a_bad_folder_is_said_and_the_app_goes_on(
    visit: Visit,
    tiny: Tiny,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    damage: Callable[[Path], None],
    code: str,
) -> None:
    folder = tmp_path / "broken"
    shutil.copytree(tiny("bert"), folder)
    damage(folder)
    monkeypatch.setenv(sources.VARIABLE, str(tmp_path))
    app = visit("overview", text=TEXT, model=str(folder))
    assert len(errors(app)) == 1
    assert (
        errors(app)[0][:12]
        == i18n.catalogue("en")[f"error.{code}"].format_map(
            {"folder": messages.plain(str(folder)), "asked": "broken", "reason": "", "tensor": ""}
        )[:12]
    )
    app.button(KEY(f"way_out.{code}")).click().run()
    assert not app.error
    assert sent(app)[0]["n_layers"] == 6


def test_a_model_over_the_limit_is_not_loaded(
    visit: Visit, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(tiny("t5")).parent / "never_loaded"  # the server may still hold the other one
    shutil.copytree(tiny("t5"), folder)
    monkeypatch.setenv("ATTNVIZ_MAX_MODEL_MIB", "-1")
    app = visit("overview", text=TEXT, model=str(folder))
    assert errors(app) == [i18n.text("en", "error.model_too_large", found=0, limit=-1, unit="MiB")]


def test_a_hub_that_cannot_be_reached_is_said(visit: Visit) -> None:
    app = visit("overview", text=TEXT, model="nobody/nothing")
    said = i18n.text("en", "error.hub_unreachable", asked=messages.plain("nobody/nothing"))
    assert errors(app) == [said]


def test_loaded_models_are_bounded(visit: Visit, tiny: Tiny, tmp_path: Path) -> None:
    """The least recently used model goes, and with it the captures that point into it."""
    import gc
    import weakref

    kept = []
    for name in ("first", "second", "third"):
        folder = Path(tiny("bert")).parent / name
        shutil.copytree(tiny("bert"), folder, dirs_exist_ok=True)
        visit("overview", text=TEXT, model=str(folder))
        source = sources.source(str(folder))
        captures.recall(source, Request.of(TEXT))
        kept.append(weakref.ref(loading.model(source).model))
    gc.unfreeze()
    gc.collect()
    assert [of() is not None for of in kept] == [False, True, True]


@pytest.mark.parametrize("lang", i18n.LANGUAGES)
@pytest.mark.parametrize("page", ["overview", "head", "steps", "masks"])
def test_a_model_with_inputs_of_its_own_needs_no_text(
    visit: Visit, page: str, lang: i18n.Language
) -> None:
    app = visit(page, model="mha-55", lang=lang, text="", text2=TEXT)
    assert not app.error and not app.warning
    assert not is_typed(app) and not app.text_input
    said = [each.value for each in bar(app).markdown]
    assert i18n.text(lang, "model.mha-55.input") in said
    tokens = sent(app)[0]["tokens"]
    expected = [f"x{number}" for number in range(1, 6)]
    assert tokens == ([expected] if page == "masks" else expected)


def test_every_step_of_torchs_own_module_is_there(visit: Visit) -> None:
    header, arrays = sent(visit("steps", model="mha-55", head="1"))
    assert [panel["stage"] for panel in header["panels"] if panel["absent"]] == []
    lm = attnviz.load("mha-55")
    assert lm.example is not None
    np.testing.assert_array_equal(arrays["x"], lm.example.inputs["query"][0].numpy())
    assert all(panel["ok"] for panel in header["panels"])


@pytest.mark.slow
@pytest.mark.parametrize("reads", ["bert", "marian"])
def test_a_text_is_still_in_the_strip_after_models_without_text(
    visit: Visit, tiny: Tiny, reads: str
) -> None:
    app = visit("overview", model=tiny(reads), text=TEXT)
    for _ in range(2):
        for name in ("vit", "forms", reads):
            app.text_input(KEY("model_name")).set_value(tiny(name)).run()
        assert pieces(app)["text"]["text"] == TEXT
        assert parameters(app)["text"] == TEXT
