"""`save` and `read`: the ending says what is written; every argument is used or refused by name."""

import csv
import errno
import io
import json
import os
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attnviz
from attnviz.errors import BadInput, TooLarge, cannot_write
from attnviz.figures.sheet import Matrix
from attnviz.files import figures, tables
from attnviz.files.save import ENDINGS, content
from attnviz.worlds import shapes
from tests.support import captures, hostile
from tests.support.shapes import unchecked

KINDS = captures.every_kind()
ROUNDING = 2e-7  # heads that are computed together, and each alone


def rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def arrays(cap: attnviz.Capture, **choices: Any) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content(cap, ".npz", **choices)), allow_pickle=False) as archive:
        return dict(archive)


def test_a_saved_capture_is_read_back(tmp_path: Path) -> None:
    path = attnviz.save(KINDS["projections"], tmp_path / "run.safetensors", with_weights=True)
    captures.assert_same(KINDS["projections"], attnviz.read(path))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", [".npz", ".csv", ".json", ".svg"])
def test_every_kind_is_saved_as_everything(kind: str, ending: str) -> None:
    assert len(content(KINDS[kind], ending)) > 100


# --- numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_of_all_tables_are_those_of_the_capture(kind: str) -> None:
    cap = KINDS[kind]
    written = json.loads(content(cap, ".json"))["attentions"]
    wanted = [
        call.weights(None, row).numpy()
        for call in cap.calls
        for row in range(1 if call.windows is None else call.windows.count)
    ]
    assert len(written) == len(wanted)
    values = []
    for entry, weights in zip(written, wanted, strict=True):
        shown = np.array(entry["weights"], dtype=np.float32)
        np.testing.assert_allclose(shown, weights, rtol=1e-6, atol=ROUNDING)
        assert (len(entry["queries"]), len(entry["keys"])) == weights.shape[1:]
        values.append(weights.ravel())
    table = rows(content(cap, ".csv"))
    column = np.array([row[-1] for row in table[1:]], dtype=np.float32)
    np.testing.assert_allclose(column, np.concatenate(values), rtol=1e-6, atol=ROUNDING)
    stored = [array for name, array in arrays(cap).items() if "weights" in name]
    every = np.concatenate([array.ravel() for array in stored])
    wanted_values = np.sort(np.concatenate(values))
    np.testing.assert_allclose(np.sort(every), wanted_values, rtol=1e-6, atol=ROUNDING)


def test_layers_that_are_alike_are_one_array() -> None:
    stored = arrays(KINDS["grouped"])
    assert stored["weights"].shape == (2, 6, 7, 7) and stored["weights"].dtype == np.float32
    np.testing.assert_array_equal(stored["weights"], KINDS["grouped"].all_weights())
    assert stored["queries"].tolist() == list(KINDS["grouped"].tokens.labels)
    assert arrays(KINDS["grouped"], dtype="float16")["weights"].dtype == np.float16
    several = arrays(KINDS["cross"])
    assert {"encoder_self_weights", "decoder_cross_weights", "decoder_cross_keys"} <= set(several)


def test_a_csv_of_one_head_is_a_matrix() -> None:
    table = rows(content(KINDS["grouped"], ".csv", head="L1.H4"))
    assert table[0][1:] == [row[0] for row in table[1:]] == list(KINDS["grouped"].tokens.labels)
    matrix = np.array([row[1:] for row in table[1:]], dtype=np.float32)
    np.testing.assert_array_equal(matrix, KINDS["grouped"].weights("L1.H4"))


def test_a_csv_leaves_small_weights_out() -> None:
    table = rows(content(KINDS["causal"], ".csv", least=0.2))
    weights = KINDS["causal"].all_weights()
    kept = np.argwhere(weights >= 0.2)
    assert table[0] == "layer head query key query_token key_token weight".split()
    assert [tuple(map(int, row[:4])) for row in table[1:]] == list(map(tuple, kept.tolist()))


def test_a_csv_keeps_a_weight_that_is_exactly_least() -> None:
    """1/4 and 1/2 are the same number in every format, so that the edge is hit."""
    weights = np.array([[0.25, 0.75], [0.5, 0.5]])[None, None]
    cap = attnviz.from_attentions(weights, ["a", "b"])
    for least, n_kept in ((0.25, 4), (0.5, 3), (0.75, 1), (0.76, 0)):
        assert len(rows(content(cap, ".csv", least=least))) == 1 + n_kept


def named(*labels: str) -> attnviz.Capture:
    """A capture whose tokens have these labels."""
    cap = attnviz.from_attentions(
        np.full((1, 2, len(labels), len(labels)), 1 / len(labels)), labels
    )
    assert isinstance(cap, attnviz.Capture)
    return cap


def test_no_token_is_run_by_a_spreadsheet() -> None:
    formulas = ("=1+1", "+1", "-1", "@SUM(A1)", "＝1", "safe", 'a"b,c')
    table = rows(content(named(*formulas), ".csv"))
    tokens = {row[4] for row in table[1:]}
    assert tokens == {*(f"'{text}" for text in formulas[:5]), *formulas[5:]}
    assert content(named(*formulas), ".csv").startswith("\ufeff".encode())


def test_hostile_tokens_are_text_in_every_kind_of_file() -> None:
    cap = named(*hostile.TOKENS)
    labels = list(cap.tokens.labels)
    assert json.loads(content(cap, ".json"))["attentions"][0]["queries"] == labels
    assert arrays(cap)["queries"].tolist() == labels
    names = {
        element.tag.rpartition("}")[2] for element in ET.fromstring(content(cap, ".svg")).iter()
    }
    assert names <= {"svg", "title", "rect", "text", "path", "image", "g"}


def test_too_many_numbers_are_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_CSV", 100)
    monkeypatch.setattr(tables, "MOST_JSON", 100)
    monkeypatch.setattr(figures, "MAX_TOKENS", 3)
    with pytest.raises(TooLarge, match="least=0.01"):
        content(KINDS["grouped"], ".csv")
    with pytest.raises(TooLarge, match=r"save them as \.npz"):
        content(KINDS["grouped"], ".json")
    with pytest.raises(TooLarge, match=r"7 tokens are more than a figure shows, which is 3"):
        content(KINDS["grouped"], ".svg", head="L0.H0")


# --- figures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["heads", "head", "lines", "steps", "alignment"])
def test_each_view_is_drawn(view: figures.View) -> None:
    root = ET.fromstring(content(KINDS["projections"], ".svg", view=view, title=f"A {view}"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert f"A {view}" in texts


def test_two_captures_are_compared() -> None:
    pair = (KINDS["causal"], KINDS["grouped"])
    root = ET.fromstring(content(pair, ".svg", head="L0.H2"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"A", "B", "B − A"} <= set(texts)


def test_several_heads_are_panels_of_one_figure() -> None:
    """Four heads, three in a row: each has its name, and the first of a row its queries."""
    names = ["L0.H0", "L0.H1", "L0.H2", "L0.H3"]
    root = ET.fromstring(content(KINDS["projections"], ".svg", heads=names))
    svg = "{http://www.w3.org/2000/svg}"
    texts = Counter(element.text for element in root.iter(f"{svg}text"))
    assert [texts[name] for name in names] == [1, 1, 1, 1]
    assert texts["query"] == 2
    link = "{http://www.w3.org/1999/xlink}href"

    def pictures_of(**choices: Any) -> list[str | None]:
        drawn = ET.fromstring(content(KINDS["projections"], ".svg", **choices))
        return [one.get("href", one.get(link)) for one in drawn.iter(f"{svg}image")]

    alone = [pictures_of(head=name)[0] for name in names]
    assert pictures_of(heads=names)[:4] == alone
    assert len(set(alone)) == 4


def test_a_page_opens_on_a_view_and_a_head() -> None:
    """The first parameters of the page's address are part of its index."""
    page = content(KINDS["projections"], ".html", view="steps", head="L0.H3").decode()
    assert '"start": {"layer": 0, "head": 3, "view": "steps"}' in re.sub(
        r"(?<=[:,])(?=\S)", " ", page
    )


def test_results_are_tables_and_documents(tmp_path: Path) -> None:
    """A table of heads with its columns; NaN is null in JSON; no token is a formula."""
    table = KINDS["projections"].table(["previous", "induction"])
    kept = rows(attnviz.save(table, tmp_path / "t.csv").read_bytes())
    assert kept[0] == ["stack", "kind", "layer", "head", "previous", "induction"]
    assert len(kept) == 1 + len(table)
    assert float(kept[1][4]) == pytest.approx(table["previous"][0], nan_ok=True)

    class Own:
        def to_dict(self) -> dict[str, object]:
            return {"token": ["=1+1", "b"], "value": [float("nan"), 2.5]}

    assert rows(content(Own(), ".csv")) == [["token", "value"], ["'=1+1", "nan"], ["b", "2.5"]]
    assert json.loads(content(Own(), ".json")) == {"token": ["=1+1", "b"], "value": [None, 2.5]}


def test_a_result_that_is_no_table_is_a_document_only() -> None:
    class Nested:
        def to_dict(self) -> dict[str, object]:
            return {"model": "stories", "answer": {"Mary": 0.9}}

    assert json.loads(content(Nested(), ".json"))["answer"] == {"Mary": 0.9}
    with pytest.raises(BadInput, match=r"Nested is no table .* save it as \.json"):
        content(Nested(), ".csv")
    with pytest.raises(BadInput, match="a result cannot be saved as '.svg'"):
        content(Nested(), ".svg")


def test_swapped_arguments_are_said() -> None:
    swapped: Any = ("x.svg", KINDS["grouped"])
    with unchecked(), pytest.raises(BadInput, match="give the file second"):
        attnviz.save(*swapped)


def test_the_endings_of_figures_are_drawn_by_the_extra() -> None:
    assert content(KINDS["grouped"], ".pdf", head="L0.H0").startswith(b"%PDF")
    assert content(KINDS["grouped"], ".PNG", head="L0.H0").startswith(b"\x89PNG")


# --- what is refused ---------------------------------------------------------------------------

REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a head that no page has": ("x.html", {"heads": ["L0.H99"]}, "99"),
    "a view that no page has": ("x.html", {"view": "hed"}, "give one of overview, head, steps"),
    "one text as heads": ("x.svg", {"heads": "L0.H0"}, "give a list such as"),
    "a head beside heads": ("x.svg", {"head": "L0.H0", "heads": ["L0.H1"]}, "without head="),
    "heads as lines": ("x.svg", {"heads": ["L0.H1"], "view": "lines"}, "of several heads give"),
    "another ending": ("x.docx", {}, r"cannot be saved as '\.docx'; give one of \.safetensors"),
    "no ending": ("x", {}, "'a file without an ending'"),
    "a width of a table": ("x.csv", {"width_in": 3}, r"width_in= means nothing for a \.csv file"),
    "a head of a capture": ("x.safetensors", {"head": "L0.H0"}, "it takes dtype, with_weights"),
    "W in a figure": ("x.svg", {"with_weights": True}, "with_weights= means nothing"),
    "a head that is not there": ("x.npz", {"head": "L0.H99"}, "99"),
    "a kind that is not there": ("x.json", {"kind": "cross"}, "there is self"),
    "a text that is not there": ("x.csv", {"batch": 5}, "5"),
    "another view": ("x.svg", {"view": "bars"}, "give one of heads, head, lines, steps, alignment"),
    "a view of two captures": ("x.svg", {"view": "compare"}, "of one capture give one of"),
    "another type": ("x.npz", {"dtype": "int8"}, "float32 or float16, not 'int8'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    file, choices, message = REFUSED[name]
    with pytest.raises(BadInput, match=message):
        attnviz.save(KINDS["grouped"], tmp_path / file, **choices)
    assert not list(tmp_path.iterdir())


def test_two_captures_are_no_table() -> None:
    with pytest.raises(BadInput, match="two captures for a figure, and was given Capture, Capture"):
        content((KINDS["grouped"], KINDS["causal"]), ".csv")


def test_every_ending_is_named_by_the_documentation() -> None:
    assert attnviz.save.__doc__
    assert not [ending for ending in ENDINGS if ending not in attnviz.save.__doc__]


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOENT, "a folder that exists"),
        (errno.ENOSPC, "make room on the disk"),
        (errno.EACCES, "a place that you may write to"),
    ],
)
def test_cannot_write_says_what_helps(number: int, advice: str) -> None:
    error = cannot_write("x.npz", OSError(number, os.strerror(number)))
    assert os.strerror(number) in str(error) and advice in str(error)


def test_a_picture_is_drawn_beside_the_weights_of_its_patches(tmp_path: Path) -> None:
    pixels = shapes.sample(7).picture(48)
    cap = attnviz.capture("shapes", image=pixels)
    weights = cap.weights("L3.H1")
    for query, row in ((None, 0), (9, 9)):
        drawn = figures.drawing(
            cap, "picture", figures.Place("L3.H1"), {}, seen=figures.Seen(pixels, query)
        )
        left, right, _ = (mark for mark in drawn.sheet.marks if isinstance(mark, Matrix))
        np.testing.assert_array_equal(left.colours, pixels)
        assert right.colours.shape == pixels.shape
        patches = weights[row, 1:].reshape(6, 6)
        # white paper is darkest where the weight is largest; each patch is 8 × 8 pixels
        grey = 0.6 + 0.4 * pixels.mean(2, keepdims=True) / 255
        dark = (255 - right.colours / grey).sum(2).reshape(6, 8, 6, 8).mean((1, 3))
        assert dark.ravel().argsort()[-3:].tolist() == patches.ravel().argsort()[-3:].tolist()
        texts = [text.text for text in drawn.sheet.texts]
        assert f"{patches.max():.3g}" in texts
        assert any(f"{patches.sum():.0%} on the patches" in text for text in texts)
    path = attnviz.save(cap, tmp_path / "x.svg", view="picture", head="L3.H1", picture=pixels)
    assert path.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"view": "picture"}, "keeps no pixels"),
        ({"view": "head", "query": 3}, "belong to the view picture"),
        ({"view": "picture", "picture": np.zeros((4, 4))}, "pixels is"),
        ({"view": "picture", "picture": np.full((4, 4, 3), 300)}, "pixels is"),
        ({"view": "picture", "picture": np.zeros((4, 4, 3)), "query": 99}, "does not exist"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused_by_name(
    tmp_path: Path, choices: dict[str, Any], said: str
) -> None:
    cap = attnviz.capture("shapes", image=shapes.sample(7).picture(48))
    with pytest.raises(BadInput, match=said):
        attnviz.save(cap, tmp_path / "x.svg", **choices)
    text = attnviz.capture("stories", "Tom ran.")
    with pytest.raises(BadInput, match="not one of a picture"):
        attnviz.save(text, tmp_path / "x.svg", view="picture", picture=np.zeros((4, 4, 3)))
