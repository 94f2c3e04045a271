"""What the stage of Start claims, against the library: its scenes, its rule, its other ways."""

import numpy as np
import pytest

import attnviz
from attnviz.app.page_parts import start
from attnviz.changes import ablate, cut, pattern
from attnviz.pictures.group.answers import LEAST_GUESS
from attnviz.pictures.stage import BOOK_TRIED, STAGED, StageView
from attnviz.pictures.stage.fill import strong_looks
from attnviz.types import HeadId

BOOK, BALL, ANIMAL = STAGED["book"], STAGED["ball"], STAGED["animal"]
DECISIVE = 2 * 4 + 1  # L2.H1
CONTROLS = (2 * 4 + 3, 3 * 4)  # L2.H3 and L3.H0 look at Mary too


@pytest.fixture(scope="module")
def book() -> StageView:
    return start.stage_view("book", BOOK.text)


def test_one_of_three_looks_at_mary_decides(book: StageView) -> None:
    looks, answers = book.looks, book.answers
    assert (looks.tokens[looks.query], looks.tokens[looks.key]) == ("to", "Mary")
    assert (looks.query, looks.key) == (BOOK.query, BOOK.key)
    weights = looks.rows[:, looks.key]
    assert np.flatnonzero(weights >= 0.5).tolist() == [DECISIVE, *CONTROLS]
    assert weights[DECISIVE] == pytest.approx(0.98, abs=0.005)
    assert (answers.winner, answers.winners[DECISIVE]) == ("Mary", "John")
    assert (answers.share, answers.shares[DECISIVE]) == pytest.approx((0.993, 0.555), abs=1e-3)
    others = np.delete(looks.moved, DECISIVE)
    assert looks.moved[DECISIVE] == pytest.approx(0.944, abs=1e-3) and others.max() < 0.005
    assert set(np.delete(answers.winners, DECISIVE)) == {"Mary"}


def test_bars_of_the_stage_are_those_of_the_cuts(book: StageView) -> None:
    run = attnviz.experiment("stories", BOOK.text)
    after = run.with_changes(cut("L2.H1", BOOK.query, BOOK.key)).answer
    bars = dict(zip(book.answers.choices, book.answers.after[DECISIVE], strict=True))
    for name, share in after.top(3):
        assert bars[name.strip()] == pytest.approx(share, abs=1e-5)


def test_where_a_look_goes_instead_is_what_the_model_does(book: StageView) -> None:
    """The rest of the row grown to 1 again, from full weights: rounded ones give other numbers."""
    row = book.looks.rows[DECISIVE]
    rest = np.where(np.arange(len(row)) == BOOK.key, 0, row) / (1 - row[BOOK.key])
    changed = attnviz.capture("stories", BOOK.text, changes=[cut("L2.H1", BOOK.query, BOOK.key)])
    assert np.abs(changed.calls[2].weights(1)[BOOK.query].numpy() - rest).max() < 1e-4
    assert [book.looks.tokens[at] for at in np.argsort(-rest)[:3]] == [
        "John",
        book.looks.tokens[0],
        "When",
    ]
    assert sorted(rest)[-3:] == pytest.approx([0.21, 0.34, 0.39], abs=0.005)
    rounded = np.round(row, 3) / (1 - round(float(row[BOOK.key]), 3))
    assert abs(rounded[np.argmax(rest)] - rest.max()) > 0.01


def test_other_ways_to_take_the_look_away_are_as_the_stage_says() -> None:
    run = attnviz.experiment("stories", BOOK.text)
    ways = (
        cut("L2.H1", BOOK.query, BOOK.key, renormalise=False),
        ablate("L2.H1", "zero"),
        ablate("L2.H1", "mean"),
        ablate("L2.H1", "resample"),
        pattern("L2.H1", "even"),
    )
    mary = int(np.argmax(run.answer.numbers))
    answers = [run.with_changes(way, draws=0).answer for way in ways]
    kept = tuple(float(answer.numbers[mary]) for answer in answers)
    first = [answer.top(1)[0][0].strip() for answer in answers]
    assert first == [*["Mary"] * 4, "Sara"]  # so "only this cut and uniform attention"
    assert kept == pytest.approx(BOOK_TRIED.others, abs=0.005)


@pytest.mark.parametrize("scene", ["book", "ball"])
def test_the_rule_finds_the_looks_of_the_scenes_by_itself(scene: str) -> None:
    staged = STAGED["book" if scene == "book" else "ball"]
    own = start.stage_view("own", staged.text)
    assert (own.looks.query, own.looks.key) == (staged.query, staged.key)
    assert own.n_tried == len(strong_looks(own.looks.weights)) > 5


def test_one_click_repairs_the_mistake_about_the_ball() -> None:
    ball = start.stage_view("ball", BALL.text)
    best = int(np.argmax(ball.looks.moved))
    assert divmod(best, 4) == (2, 2) and ball.looks.tokens[ball.looks.key] == "blue"
    assert (ball.answers.winner, ball.answers.winners[best]) == ("blue", "red")
    assert (ball.answers.share, ball.answers.shares[best]) == pytest.approx((0.88, 0.89), abs=0.01)


@pytest.mark.parametrize(
    ("text", "head", "answers"),
    [
        ("When Tom and Lily went to the park, Tom gave a ball to", (2, 2), ("Lily",)),
        ("When John and Mary went to the store, Mary gave a book to", (2, 1), ("John",)),
    ],
)
def test_no_head_is_the_star_of_every_sentence(
    text: str, head: tuple[int, int], answers: tuple[str, ...]
) -> None:
    own = start.stage_view("own", text)
    assert divmod(int(np.argmax(own.looks.moved)), 4) == head
    assert own.answers.winner in answers


def test_the_stage_says_when_the_model_has_no_guess() -> None:
    own = start.stage_view("own", "Tom loves his")
    assert not own.guesses and own.answers.share < 0.05 and own.answers.n_words == 1280
    weights = attnviz.capture("stories", "Tom loves his").all_weights()[:, :, -1, 1:-1]
    assert own.looks.key == 1 + int(weights.max(axis=(0, 1)).argmax()) and own.n_tried == 0


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("text", "guesses", "flips"),
    [
        ("When Tim and Sue went to the park, Sue gave a ball to", True, True),
        ("Tim and Anna were friends. Anna gave the cake to", True, True),
        ("Once upon a time there was a little girl named", True, True),
        ("The bird flew to the", True, True),
        ("Anna and Ben went to the beach. Ben gave a shell to", True, True),
        ("Lily had a big dog. The dog was very", True, False),
        ("Sam lost his toy. He was very", True, False),
        ("He drank some", False, True),
        ("Zoe saw Max. Max said hello to", False, False),
        ("The cat sat on the mat and the dog ran after the", False, True),
    ],
)
def test_the_stage_says_what_is_true_of_ten_other_sentences(
    text: str, guesses: bool, flips: bool
) -> None:
    """Against the model's own next word, and each cut made anew by hand, one at a time."""
    own = start.stage_view("own", text)
    run = attnviz.experiment(attnviz.load("stories"), text)
    name, share = run.answer.top(1)[0]
    assert own.guesses == guesses == (share >= LEAST_GUESS)
    assert own.answers.winner.removesuffix("…") == name.strip()
    assert own.answers.share == pytest.approx(share, rel=1e-4)
    assert any(winner != own.answers.winner for winner in own.answers.winners) == flips
    for number in (0, 6, int(np.argmax(own.looks.moved))):
        edge = cut(str(HeadId(*divmod(number, 4))), own.looks.query, own.looks.key)
        after, left = run.with_changes(edge, draws=0).answer.top(1)[0]
        assert own.answers.winners[number].removesuffix("…") == after.strip()
        assert own.answers.shares[number] == pytest.approx(left, rel=1e-3)


def test_names_in_pieces_are_whole_words_and_answers_that_begin_one_say_so() -> None:
    own = start.stage_view("own", "Tim and Anna were friends. Anna gave the cake to")
    assert own.looks.tokens[1:4] == ("T", "i", "m") and own.looks.pieces == ((1, 4),)
    begun = start.stage_view("own", "He drank some. He drank some. He drank some. He")
    first = {begun.looks.tokens[start] for start, _ in begun.looks.pieces}
    named = {*begun.answers.choices, *begun.answers.winners}
    assert "dr" in first and "dr…" in named and not first & named


@pytest.mark.slow
def test_a_strong_look_of_an_encoder_moves_its_meaning_less_than_any_yardstick() -> None:
    animal = start.stage_view("animal", ANIMAL.text)
    number = 3 * 12 + 1
    assert animal.looks.rows[number, ANIMAL.key] == pytest.approx(0.68, abs=0.005)
    assert animal.looks.moved[number] == pytest.approx(0.00006, abs=0.00002)
    spelled, word, sentence = animal.answers.before
    assert (spelled, word) == pytest.approx((0.006, 0.168), abs=0.002)
    assert animal.looks.moved[number] < spelled / 50 < word < sentence
