"""Sheets: matrices as people type and paste them, shapes that must fit, and the text form."""

import numpy as np
import pytest

from attnviz.errors import BadInput
from attnviz.teach.calculator.presets import PRESETS, Preset, preset
from attnviz.teach.calculator.sheet import FORM, matrix, parse, sheet, write

WANTED = [[1.0, -2.5], [0.001, 4.0]]


@pytest.mark.parametrize(
    "text",
    [
        "1 -2.5\n0.001 4",
        "1, -2.5\n1e-3, 4\n",
        "1;\t-2.5;\n0.001".replace(";\t", "\t").replace(";", "") + "\t4",
        "1,-2.5;.001,4.",
        "[[1, -2.5], [0.001, 4]]",
        "array([[ 1.e+00, -2.5e+00],\n       [ 1.e-03,  4.e+00]])",
        "tensor([[1.0000, -2.5000],\n        [0.0010, 4.0000]], dtype=torch.float64)",
        "np.array([[1, −2.5],\n[0.001, 4]], dtype=float)",
    ],
)
def test_matrices_are_read_as_they_are_pasted(text: str) -> None:
    assert matrix("q", text).tolist() == WANTED


@pytest.mark.parametrize(
    ("text", "reason", "code", "details"),
    [
        ("", "empty", "matrix_empty", {}),
        ("1 2\n3", "differ in length", "matrix_uneven", {"lengths": "2, 1"}),
        ("1 two", "'two' is not a number", "matrix_not_a_number", {"asked": "two"}),
        ("1 nan", "between", "matrix_out_of_range", {"limit": "1e+06"}),
        ("1 inf", "between", "matrix_out_of_range", {"limit": "1e+06"}),
        ("1 1e9", "between", "matrix_out_of_range", {"limit": "1e+06"}),
        ("<p>1</p>", "not a number", "matrix_not_a_number", {"asked": "<p>"}),
        ("\n".join(["1 2"] * 9), "limit is 8", "matrix_too_large", {"found": "9 × 2"}),
        (" ".join("123456789"), "limit is 8", "matrix_too_large", {"found": "1 × 9"}),
    ],
)
def test_what_cannot_be_a_matrix_is_refused(
    text: str, reason: str, code: str, details: dict[str, str]
) -> None:
    with pytest.raises(BadInput, match=reason) as error:
        matrix("w_q", text)
    assert error.value.code == code
    assert {"matrix": "w_q", **details}.items() <= error.value.details.items()


@pytest.mark.parametrize("text", ["1 0\n1 1", "0 -inf\n0 0", "0 -1e9\n0 0", "0 −inf\n0 0"])
def test_a_mask_is_read_in_both_conventions(text: str) -> None:
    assert matrix("mask", text).tolist() == [[1, 0], [1, 1]]


def test_other_numbers_make_no_mask() -> None:
    with pytest.raises(BadInput, match="other numbers"):
        matrix("mask", "1 0.5\n1 1")


def test_shapes_must_fit() -> None:
    rows = {name: np.ones((3, 2)) for name in ("q", "k", "v")}
    with pytest.raises(BadInput, match="K cannot be used: it is 3 × 5, and n × 2 is needed"):
        sheet(rows | {"k": np.ones((3, 5))})
    with pytest.raises(BadInput, match="V .* 4 × 2, and 3 × n is needed"):
        sheet(rows | {"v": np.ones((4, 2))})
    with pytest.raises(BadInput, match="MASK .* it is missing"):
        sheet(rows, "custom")
    with pytest.raises(BadInput, match="W_K .* 2 × 7, and 5 × 3 is needed"):
        sheet({"x": np.ones((4, 5)), "w_q": np.ones((5, 3)), "w_k": np.ones((2, 7)), "w_v": np.ones((5, 2))})  # fmt: skip  # noqa: E501
    with pytest.raises(BadInput, match="two tokens"):
        sheet({name: np.ones((1, 2)) for name in ("q", "k", "v")})


@pytest.mark.parametrize("name", PRESETS)
def test_the_text_form_comes_back(name: Preset) -> None:
    made = preset(name)
    text = write(made)
    assert len(text) < FORM.max_chars
    again = parse(text)
    assert write(again) == text
    assert (again.mask, again.scale, again.tokens) == (made.mask, made.scale, made.tokens)
    for key, of in made.matrices.items():
        np.testing.assert_allclose(again.matrices[key], of, rtol=1e-8)


@pytest.mark.parametrize(
    "text", ["", "q=1", "x=1 2~mask=round", "~" * (FORM.max_chars + 1), "q=<b>"]
)
def test_nonsense_is_no_sheet(text: str) -> None:
    with pytest.raises(BadInput):
        parse(text)


def test_matrix_refuses_a_long_text_before_it_is_read() -> None:
    with pytest.raises(BadInput, match="4001 characters") as caught:
        matrix("x", "1" * 4001)
    assert caught.value.code == "matrix_too_long"
