"""`experiment(lm, pairs)`: each text as if alone, ratios of means, slots, and what is refused."""

import threading
from itertools import permutations

import numpy as np
import pytest

import attnviz
from attnviz.errors import BadInput, Cancelled
from attnviz.experiment import DifferenceSlot, ExperimentSet, SetResult, WordSlot
from attnviz.experiment.answer_measures import AnswerMeasure, Class, Cosine, NextToken
from attnviz.models.loaded_model import LoadedModel
from tests.support.shapes import unchecked

NAMES = ("Mary", "John", "Tom", "Lily")
OBJECTS = ("book", "pretty flower", "big red apple")
ROUNDING = 2e-5  # rows of a batch and a row alone


def sentence(first: str, second: str, giver: str, thing: str) -> str:
    return f"When {first} and {second} went to the store, {giver} gave a {thing} to"


# each with its partner, of another length in two of three, and the two names
ASKED = [
    (sentence(a, b, a, OBJECTS[at % 3]), sentence(a, b, b, OBJECTS[(at // 2) % 3]), a, b)
    for at, (a, b) in enumerate(permutations(NAMES, 2))
]
PAIRS = [(text, partner) for text, partner, _, _ in ASKED]
MEASURES: list[AnswerMeasure] = [NextToken(f" {b}", against=f" {a}") for _, _, a, b in ASKED]


@pytest.fixture(scope="module")
def lm() -> LoadedModel:
    return attnviz.load("stories")


@pytest.fixture(scope="module")
def run(lm: LoadedModel) -> ExperimentSet:
    return attnviz.experiment(lm, PAIRS, MEASURES)


def test_a_set_has_each_text_as_if_it_was_alone(lm: LoadedModel, run: ExperimentSet) -> None:
    assert len({len(run.groups[0].runs), *(group.n_token for group in run.groups)}) > 2
    effects, direct, lens = run.effects(to="zero"), run.direct(), run.lens()
    for at in (0, 4, 11):
        alone = attnviz.experiment(lm, PAIRS[at][0], on=MEASURES[at])
        assert run.before[at] == pytest.approx(alone.answer.value, abs=ROUNDING)
        np.testing.assert_allclose(
            effects.values[:, at], alone.effects(to="zero").changes, atol=ROUNDING
        )
        parts = alone.direct()
        for component, value in zip(parts.components, parts.values, strict=True):
            assert direct.of(str(component))[at] == pytest.approx(value, abs=ROUNDING)
        assert lens.rows == alone.lens().states
        np.testing.assert_allclose(lens.values[:, at], alone.lens().values, atol=ROUNDING)
    np.testing.assert_allclose(direct.values.sum(0), run.before, atol=ROUNDING)
    np.testing.assert_allclose(lens.values[-1], run.before, atol=ROUNDING)


@pytest.mark.slow
def test_a_set_of_an_encoder_and_of_a_classifier_is_a_loop() -> None:
    cases: list[tuple[str, list[str], list[AnswerMeasure]]] = [
        ("sentiment", ["the hotel was not bad .", "good food !"], [Class("positive")] * 2),
        ("minilm", ["The cat sat.", "A dog ran far away."], [Cosine("A dog lay."), Cosine("A")]),
    ]
    for name, texts, on in cases:
        model = attnviz.load(name)
        found = attnviz.experiment(model, texts, on)
        corpus = ["a dog ran ."]
        effects, direct = found.effects(corpus=corpus, heads=["L0"]), found.direct()
        for at, text in enumerate(texts):
            alone = attnviz.experiment(model, text, on=on[at])
            np.testing.assert_allclose(
                effects.values[:, at],
                alone.effects(corpus=corpus, heads=["L0"]).changes,
                atol=ROUNDING,
            )
            assert direct.values[:, at].sum() == pytest.approx(alone.direct().own, abs=ROUNDING)


def test_patching_by_slot_is_a_patch_of_one_position(lm: LoadedModel, run: ExperimentSet) -> None:
    """Of a pair of one length `attnviz.patch(…, position)` says the same; and by a whole layer."""
    slots = {"last": -1, "giver": WordSlot([(a, b) for _, _, a, b in ASKED])}
    found = run.patching(slots=slots, heads=["L0", "L2.H1"], control=False)
    values = run.patching(slots=slots, heads=["L2.H1"], stage="v", control=False)
    layers = run.patching(slots=slots, heads=["L0"], by="layer", control=False)
    at = next(n for n, (text, other) in enumerate(PAIRS) if len(text) == len(other))
    text, other = PAIRS[at]
    source, last = attnviz.capture(lm, other), len(attnviz.capture(lm, text).tokens) - 1
    read = attnviz.experiment(lm, text, on=MEASURES[at])
    giver = attnviz.capture(lm, text).tokens.find(ASKED[at][2], -1)
    for slot, place in (("last", last), ("giver", giver)):
        for result, head, stage in ((found, "L0.H0", "mixed"), (values, "L2.H1", "v")):
            patch = attnviz.patch(head, source, stage, position=place)  # type: ignore[arg-type]
            change = read.with_changes(patch, draws=0).change
            assert result.of(head, slot)[at] == pytest.approx(change, abs=ROUNDING)
        patches = [attnviz.patch(f"L0.H{head}", source, position=place) for head in range(4)]
        change = read.with_changes(*patches, draws=0).change
        assert layers.of("L0", slot)[at] == pytest.approx(change, abs=ROUNDING)
    assert abs(found.of("L0.H0", "last")).mean() > 3


def test_the_control_of_patching_takes_another_texts_partner(run: ExperimentSet) -> None:
    found = run.patching(slots={"last": -1}, heads=["L0.H0"])
    alone = attnviz.experiment(run.lm, [PAIRS[0]] * 3, [MEASURES[0]] * 3)
    same = alone.patching(slots={"last": -1}, heads=["L0.H0"])
    assert found.control is not None and same.control is not None
    assert abs(found.control - found.values).max() > 1  # the partner of another text
    np.testing.assert_allclose(same.control, same.values, atol=ROUNDING)  # all partners are one


def test_a_share_of_a_set_is_a_ratio_of_means() -> None:
    """A text whose gap is next to nothing does not carry it away, as it does a mean of ratios."""
    gap = np.array([4.0, 2.0, 1e-9, 2.0])
    moved = np.array([2.0, 1.0, 0.1, 0.9])
    found = SetResult(
        question="patching",
        how="",
        rows=("L0.H0",),
        slots=("last",),
        values=moved[None, None],
        before=np.zeros(4),
        unit="logit",
        source=gap,
    )
    assert found.share[0, 0] == pytest.approx(0.5)
    assert (moved / gap).mean() > 1e7
    low, high = found.share_interval[0, 0]
    assert low < 0.5 < high and high - low < 1
    assert "+50%" in str(found)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_text_has_a_share_of_its_own_gap_unless_that_is_small(sign: int) -> None:
    gaps = sign * np.array([10.0, 2.0, -4.0, 0.5, 0.0])  # their mean is 1.7
    changes = sign * np.array([[[5.0, 3.0, 1.0, 0.1, 0.1]]])
    before = np.ones(5)
    found = SetResult(
        "patching", "", ("L0.H0",), ("last",), changes, before, "logit", source=before + gaps
    )
    expected = [0.5, 1.5, -0.25, 0.2, np.nan]
    np.testing.assert_allclose(found.own_shares[0, 0], expected)
    assert found.share[0, 0] == pytest.approx(9.2 / 8.5)


def test_intervals_say_how_sure_a_mean_is() -> None:
    draws = np.random.default_rng(5).normal(1.0, 2.0, size=400)
    found = SetResult("effects", "", ("L0.H0",), (), draws[None], np.zeros(400), "logit")
    twice = SetResult(
        "effects", "", ("L0.H0",), (), np.tile(draws, 2)[None], np.zeros(800), "logit"
    )
    low, high = found.interval[0]
    assert found.mean[0] - low == pytest.approx(1.96 * found.se[0], rel=0.1)
    assert high - found.mean[0] == pytest.approx(1.96 * found.se[0], rel=0.1)
    assert twice.mean[0] == pytest.approx(found.mean[0])
    assert found.se[0] / twice.se[0] == pytest.approx(np.sqrt(2), rel=0.01)


def test_texts_that_say_the_same_are_drawn_as_one_block() -> None:
    """Each text four times, as a block: as sure as each once, not twice as sure."""
    once = np.random.default_rng(8).normal(1.0, 2.0, size=11)
    found = SetResult("effects", "", ("L0.H0",), (), once[None], np.zeros(11), "logit")
    copies, blocks = np.repeat(once, 4)[None], np.repeat(np.arange(11), 4)
    four = SetResult("effects", "", ("L0.H0",), (), copies, np.zeros(44), "logit")
    blocked = SetResult("effects", "", four.rows, (), copies, np.zeros(44), "logit", blocks=blocks)
    assert found.se[0] / four.se[0] == pytest.approx(2, rel=0.05)
    assert blocked.se[0] == pytest.approx(found.se[0])
    np.testing.assert_allclose(blocked.interval, found.interval)
    assert (blocked.n_block, four.n_block) == (11, 44)
    assert "errors over 11 blocks" in str(blocked) and "block" not in str(four)
    assert blocked.to_dict()["block"] == blocks.tolist()


def test_pairs_that_differ_in_the_same_words_are_a_block(run: ExperimentSet) -> None:
    people = list(permutations(NAMES, 2))
    pairs = [(sentence(a, b, a, "book"), sentence(a, b, b, "book")) for a, b in people]
    found = attnviz.experiment(run.lm, pairs, MEASURES).effects(to="zero", heads=["L2.H1"])
    numbers = list(dict.fromkeys(frozenset(names) for names in people))
    assert found.blocks is not None and found.n_block == 6
    assert found.blocks.tolist() == [numbers.index(frozenset(names)) for names in people]
    of_words = run.effects(to="zero", heads=["L2.H1"])  # each pair with other objects
    assert of_words.blocks is None
    by_answers = attnviz.experiment(run.lm, [text for text, _ in pairs], MEASURES)
    assert by_answers.effects(to="zero", heads=["L2.H1"]).n_block == 6
    few = attnviz.experiment(run.lm, pairs[:4], MEASURES[:4])
    assert few.effects(to="zero", heads=["L2.H1"]).blocks is None


def test_heads_are_compared_text_by_text() -> None:
    spread = np.random.default_rng(3).normal(0, 10, size=50)
    values = np.stack([spread, spread + 1])
    found = SetResult("effects", "", ("L0.H0", "L0.H1"), (), values, np.zeros(50), "logit")
    assert found.se.min() > 1
    mean, low, high = found.difference("L0.H1", "L0.H0")
    assert mean == pytest.approx(1) and low == pytest.approx(1) and high == pytest.approx(1)


def test_what_the_model_solves_is_told_and_can_be_kept(lm: LoadedModel, run: ExperimentSet) -> None:
    likeliest = attnviz.experiment(lm, [PAIRS[0][0]] * 2, [NextToken(" Mary"), NextToken(" to")])
    answer = attnviz.experiment(lm, PAIRS[0][0]).answer.top(1)[0][0]
    assert likeliest.solved is not None
    assert likeliest.solved.tolist() == [answer == "Mary", answer == "to"]
    texts = [*PAIRS, PAIRS[0]]
    wrong = NextToken(f" {ASKED[0][2]}", against=f" {ASKED[0][3]}")  # the giver
    mixed = attnviz.experiment(lm, texts, [*MEASURES, wrong])
    assert mixed.solved is not None and run.solved is not None
    assert np.array_equal(mixed.solved[:-1], run.before > 0)
    assert mixed.solved[0] != mixed.solved[-1]
    kept = mixed.only_solved()
    assert len(kept.texts) == mixed.n_solved and kept.n_solved == len(kept.texts)
    assert f"({mixed.n_solved} solved)" in str(mixed.effects(to="zero", heads=["L0.H0"]))


def test_a_result_of_a_set_is_lists_and_prints_its_spread(run: ExperimentSet) -> None:
    effects = run.effects(to="zero", heads=["L2.H1", "L3.H0"])
    lists = effects.to_dict()
    assert lists["row"][:12] == ["L2.H1"] * 12 and lists["text"][:12] == list(range(12))
    assert lists["value"][:12] == effects.of("L2.H1").tolist()
    header, names, row = str(effects).splitlines()[:3]
    assert (
        header.startswith("effects (zero) over 12 texts")
        and names.split()[:3] == "mean ± se".split()
    )
    assert row.split()[:4] == ["L2.H1", f"{effects.mean[0]:+.2f}", "±", f"{effects.se[0]:.2f}"]
    grid = run.patching(slots={"last": -1, "gave": "gave"}, heads=["L0.H0"])
    lists = grid.to_dict()
    assert len(lists["value"]) == 24 and set(lists["slot"]) == {"last", "gave"}
    assert lists["source"][:12] == grid.source.tolist()  # type: ignore[union-attr]
    assert grid.to_dict()["control"] == grid.control.ravel().tolist()  # type: ignore[union-attr]
    assert len(repr(grid)) < 200 and "[" in str(grid)


def test_a_set_says_how_far_it_is_and_stops(run: ExperimentSet) -> None:
    told: list[float] = []
    run.effects(to="zero", progress=told.append)
    assert told == sorted(told) and told[-1] == pytest.approx(1.0)
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        run.patching(slots={"last": -1}, cancel=stop)


def test_a_set_that_cannot_be_made_is_refused_by_name(lm: LoadedModel, run: ExperimentSet) -> None:
    on = NextToken(" Mary")
    with pytest.raises(BadInput, match="a list of texts, or a list of pairs"):
        attnviz.experiment(lm, [], on)
    with unchecked(), pytest.raises(BadInput, match="text 1 is"):
        attnviz.experiment(lm, ["Tom ran.", ("a", "b")], on)  # type: ignore[list-item]
    with pytest.raises(BadInput, match="2 texts were given and 1 measure"):
        attnviz.experiment(lm, ["Tom ran.", "Tom sat."], [on])
    with unchecked(), pytest.raises(BadInput, match="on= is missing"):
        attnviz.experiment(lm, ["Tom ran."])  # type: ignore[call-overload]
    with unchecked(), pytest.raises(BadInput, match="one text has one measure"):
        attnviz.experiment(lm, "Tom ran.", on=[on])  # type: ignore[call-overload]
    with unchecked(), pytest.raises(BadInput, match="goes with on= alone"):
        attnviz.experiment(lm, ["Tom ran."], on, chat=True)  # type: ignore[call-overload]
    with pytest.raises(BadInput, match="text 1: .*not one token"):
        attnviz.experiment(lm, ["Tom ran.", "Tom sat."], [on, NextToken(" hippopotamus")])
    alone = attnviz.experiment(lm, ["Tom ran.", "Tom sat."], on)
    with pytest.raises(BadInput, match="have no partners"):
        alone.patching(slots={"last": -1})
    with pytest.raises(BadInput, match="no gap to take a share of"):
        alone.effects(to="zero", heads=["L0.H0"]).share  # noqa: B018
    with pytest.raises(BadInput, match="text 2: slot 'who': 'Zoe' is 0 times"):
        words = ["Mary", "Mary", "Zoe", *["to"] * 9]
        run.patching(slots={"who": WordSlot(words)})
    with pytest.raises(BadInput, match="text 0: slot 'far': position 99"):
        run.patching(slots={"far": 99})
    with unchecked(), pytest.raises(BadInput, match="need texts of one length"):
        run.patching(slots={"last": -1}, stage="weights")  # type: ignore[arg-type]
    same = attnviz.experiment(lm, [(PAIRS[0][0], PAIRS[0][0])], MEASURES[0])
    with pytest.raises(BadInput, match="the two answers are the same"):
        same.patching(slots={"last": -1})


def test_a_word_of_several_tokens_is_found_at_its_last(lm: LoadedModel) -> None:
    text = "Zebulon saw Tom. Tomato and Zebulon"
    ids = lm.text_tokenizer()(text)["input_ids"]
    assert len(ids) > 10  # the name is several tokens
    found = attnviz.experiment(lm, [(text, "Tom ran home. Tom sat by Zebulon")], NextToken(" the"))
    from attnviz.experiment.slots import last_token

    tokens = found.groups[0].tokens(0)
    assert last_token("who", tokens, "Zebulon", -1) == len(tokens) - 1
    first = last_token("who", tokens, "Zebulon", 0)
    assert text[: tokens.offsets[first][1]].endswith("Zebulon") and tokens.offsets[first][1] == 7
    assert tokens.offsets[last_token("who", tokens, "Tom", -1)][1] == text.index(".")


def test_a_difference_slot_is_the_first_token_that_differs(lm: LoadedModel) -> None:
    texts = [
        ("When Mary and John went to the store, John gave a book to", "Mary", "John"),
        ("When Tom and Lily went to the park, Lily gave a big red ball to", "Tom", "Lily"),
    ]
    pairs = [(text, text.replace(f"{b} gave", f"{a} gave")) for text, a, b in texts]
    on = [attnviz.NextToken(f" {a}", against=f" {b}") for _, a, b in texts]
    run = attnviz.experiment(lm, pairs, on)
    words = WordSlot([(b, a) for _, a, b in texts])
    found = run.patching(slots={"by rule": DifferenceSlot(), "by word": words}, control=False)
    np.testing.assert_array_equal(found.values[:, 0], found.values[:, 1])
    assert np.abs(found.values).max() > 0.01
    same = attnviz.experiment(lm, [(texts[0][0], texts[0][0]), pairs[1]], on)
    with pytest.raises(BadInput, match="text 0: slot 'd'"):
        same.patching(slots={"d": DifferenceSlot()})
