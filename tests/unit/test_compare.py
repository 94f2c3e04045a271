"""Tokens of two sides are paired as a reader would; differences are those of torch."""

import re

import numpy as np
import pytest
import torch

import attnviz
from attnviz import compare
from attnviz.attention.call import AttentionCall
from attnviz.compare import Pairing, Slot, pair
from attnviz.errors import BadInput
from attnviz.models.loaded_model import LoadedModel
from attnviz.tokens.words import merged
from attnviz.types import Tokens

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = "The animal didn't cross the street because it was too wide."


def tokens(text: str, pieces: str, special: tuple[str, ...] = ()) -> Tokens:
    """The pieces of a text, found in it one after the other; special ones stand for none of it."""
    offsets, at, labels = [], 0, pieces.split("|")
    for label in labels:
        start = 0 if label in special else text.index(label, at)
        at = at if label in special else start + len(label)
        offsets.append((0, 0) if label in special else (start, at))
    flags = np.array([label in special for label in labels])
    n = len(labels)
    ids = np.arange(n, dtype=np.int64)
    padding = np.zeros(n, dtype=np.bool_)
    return Tokens(text, ids, tuple(labels), tuple(labels), tuple(offsets), flags, padding)


def listed(text: str) -> Tokens:
    """One token for each word."""
    return tokens(text, "|".join(text.split()))


def shown(found: Pairing) -> str:
    """The common axis as words: = for equal parts, A>B for replaced, -A and +B for the rest."""
    said = []
    for slot in found.slots:
        a = "" if slot.a is None else found.a[slot.a].label
        b = "" if slot.b is None else found.b[slot.b].label
        said.append(
            f"={a}"
            if slot.same
            else f"{a}>{b}"
            if slot.paired
            else f"-{a}" * bool(a) + f"+{b}" * bool(b)
        )
    return " ".join(said)


@pytest.mark.parametrize(
    ("a", "b", "axis"),
    [
        ("it was too tired .", "it was too wide .", "=it =was =too tired>wide =."),
        ("it was tired .", "it was too tired .", "=it =was +too =tired =."),
        ("it was too tired .", "it was tired .", "=it =was -too =tired =."),
        ("a b c d", "a x y d", "=a b>x c>y =d"),
        ("a b d", "a x y d", "=a -b +x +y =d"),
        ("the cat the cat", "the cat the dog the cat", "=the =cat =the +dog +the =cat"),
        ("no no no", "no no no no", "=no =no =no +no"),
        ("猫 が 好き だ", "犬 が 好き だ", "猫>犬 =が =好き =だ"),
        ("那 只 猫 累 了", "那 只 猫 太 累 了", "=那 =只 =猫 +太 =累 =了"),
        ("x", "y", "x>y"),
        ("a b", "a b", "=a =b"),
    ],
)
def test_tokens_of_one_vocabulary(a: str, b: str, axis: str) -> None:
    found = pair(listed(a), listed(b), same_vocabulary=True)
    assert shown(found) == axis
    assert not found.merged


def test_every_part_stands_once_and_in_order_where_both_sides_agree() -> None:
    rng = np.random.default_rng(55)
    for _ in range(40):
        a, b = (listed(" ".join(rng.choice(list("abc"), rng.integers(1, 13)))) for _ in "AB")
        found = pair(a, b, same_vocabulary=True)
        assert [slot.a for slot in found.slots if slot.a is not None] == list(range(len(a)))
        assert [slot.b for slot in found.slots if slot.b is not None] == list(range(len(b)))


def test_a_special_token_is_never_put_beside_a_word() -> None:
    a, b = tokens("x y", "x|y"), tokens("x", "x|[SEP]", special=("[SEP]",))
    assert shown(pair(a, b, same_vocabulary=True)) == "=x -y +[SEP]"


def test_pieces_of_another_tokenizer_are_joined_up_to_common_boundaries() -> None:
    text = "tireless didn't 猫が"
    a = tokens(text, "[CLS]|tire|less|didn|'|t|猫|が|[SEP]", special=("[CLS]", "[SEP]"))
    b = tokens(text, "<s>|tir|eless|didn|'t|猫が", special=("<s>",))
    found = pair(a, b, same_vocabulary=False)
    assert [part.label for part in found.a] == "[CLS] tireless didn 't 猫が [SEP]".split()
    assert [part.label for part in found.b] == "<s> tireless didn 't 猫が".split()
    assert shown(found) == "[CLS]><s> =tireless =didn ='t =猫が -[SEP]"
    assert found.merged


def test_white_space_belongs_to_no_boundary() -> None:
    text = "a  bc d"
    spaced = Tokens(
        text,
        np.arange(3),
        ("a", "Ġbc", "Ġd"),
        ("a", "bc", "d"),
        ((0, 1), (1, 5), (5, 7)),
        np.zeros(3, np.bool_),
        np.zeros(3, np.bool_),
    )
    assert shown(pair(spaced, tokens(text, "a|bc|d"), False)) == "=a =bc =d"


def test_what_one_side_did_not_read_has_no_counterpart() -> None:
    text = "a b c d"
    assert shown(pair(tokens(text, "a|b"), tokens(text, "a|b|c|d"), False)) == "=a =b +c␣d"
    assert shown(pair(tokens(text, "a|b"), tokens(text, "a|b c|d"), False)) == "=a -b +b␣c␣d"


@pytest.mark.parametrize(("a", "b"), [("a b", "a c"), ("", "")])
def test_two_vocabularies_on_two_texts_are_refused(a: str, b: str) -> None:
    with pytest.raises(BadInput, match="the same text") as caught:
        pair(listed(a) if a else _nameless(), listed(b) if b else _nameless(), False)
    assert caught.value.code == "no_pairing"


def _nameless() -> Tokens:
    return attnviz.types.named_tokens(("r0c0", "r0c1"))


def test_mass_is_conserved_when_parts_are_joined() -> None:
    rng = np.random.default_rng(7)
    weights = rng.dirichlet(np.ones(5), size=(2, 3, 5)).astype(np.float32)
    text = "abcde"
    parts = pair(tokens(text, "a|b|c|d|e"), tokens(text, "ab|c|de"), False).a
    found = merged(weights, parts, parts)
    assert found.shape == (2, 3, 3, 3)
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-6)
    # by hand: row "ab" and column "de" of the first head
    by_hand = (weights[0, 0, 0, 3:].sum() + weights[0, 0, 1, 3:].sum()) / 2
    assert found[0, 0, 0, 2] == pytest.approx(by_hand, abs=1e-6)


def test_difference_and_share_by_hand() -> None:
    a = np.array([[0.5, 0.5], [0.25, 0.75]], dtype=np.float32)
    b = np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0], [0.25, 0.25, 0.5]], dtype=np.float32)
    axis = (Slot(0, 0, True), Slot(None, 1), Slot(1, 2, True))
    gap = np.nan
    np.testing.assert_allclose(
        compare.difference(a, b, axis, axis),
        [[0, gap, -0.25], [gap, gap, gap], [0, gap, -0.25]],
    )
    # row 0: ½ (|0.5 − 0.5| + 0.25 + |0.25 − 0.5|) = 0.25; row 2: ½ (0 + 0.25 + 0.25) = 0.25
    np.testing.assert_allclose(compare.moved(a, b, axis, axis), [0.25, gap, 0.25])
    by_head = compare.moved_by_head(a[None, None], b[None, None], axis, axis)
    np.testing.assert_allclose(by_head, [[[0.25, gap, 0.25]]])
    np.testing.assert_allclose(compare.mean_moved(by_head), [[0.25]])


def test_no_common_row_moves_nothing() -> None:
    one = np.ones((1, 1, 1, 1), dtype=np.float32)
    axis = (Slot(0, None), Slot(None, 0))
    assert np.isnan(compare.moved(one[0, 0], one[0, 0], axis, axis)).all()
    by_head = compare.moved_by_head(one, one, axis, axis)
    assert compare.mean_moved(by_head).tolist() == [[0.0]]


def test_the_difference_is_that_of_torch(minilm: LoadedModel) -> None:
    a, b = attnviz.capture(minilm, TIRED), attnviz.capture(minilm, WIDE)
    found = pair(a.tokens, b.tokens, same_vocabulary=True)
    assert shown(found).split()[-3:] == ["tired>wide", "=.", "=[SEP]"]
    layer, head = 5, 7
    sides = a.weights(layer, head), b.weights(layer, head)
    ours = compare.difference(*sides, found.slots, found.slots)
    with torch.no_grad():
        theirs = [_softmax(of.call(layer), head) for of in (a, b)]
    np.testing.assert_allclose(ours, (theirs[1] - theirs[0]).numpy(), atol=1e-5)
    assert np.abs(ours).max() > 0.01  # else nothing was compared
    expected = (theirs[1] - theirs[0]).abs().sum(-1) / 2
    np.testing.assert_allclose(compare.moved(*sides, found.slots, found.slots), expected, atol=1e-5)


def _softmax(call: AttentionCall, head: int) -> torch.Tensor:
    """softmax(q·kᵀ/√d) of one head, from what the model's own layers put out."""
    q, k = (call.projections[name].output[0] for name in ("q", "k"))
    n_head = call.n_heads
    q, k = (each.view(each.shape[0], n_head, -1)[:, head] for each in (q, k))
    return torch.softmax(q @ k.T / q.shape[-1] ** 0.5, dim=-1)


def test_real_tokenizers_cut_one_text_at_common_boundaries(minilm: LoadedModel) -> None:
    story = attnviz.load("stories")
    a, b = attnviz.capture(minilm, TIRED).tokens, attnviz.capture(story, TIRED).tokens
    found = pair(a, b, same_vocabulary=False)
    for slot in found.slots:
        if slot.same and slot.a is not None and slot.b is not None:
            one, other = found.a[slot.a], found.b[slot.b]
            assert re.sub("^##", "", one.label).lower() == re.sub("^##", "", other.label).lower()
    words = {found.a[slot.a].label for slot in found.slots if slot.same and slot.a is not None}
    assert {"animal", "street", "tired"} <= words
