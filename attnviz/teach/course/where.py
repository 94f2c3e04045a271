"""Where attention lives: text → tokens → vectors → blocks → next word, on `stories`.

One picture for each part of a language model, computed on a sentence of the embedded story model
from its own weights (`attnviz.teach.course.story`). The card on scripts cuts a typed text twice:
MiniLM's list has pieces of English, single kana and some Chinese characters (Hangul falls apart
into jamo, what is missing becomes [UNK]); the story model's tokenizer works on bytes (UTF-8) and so
loses nothing. Both are the models' own.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course import story
from attnviz.teach.course.arrays import apart
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    Link,
    NumberQuestion,
    Numbers,
    Pick,
    Typed,
)
from attnviz.teach.lessons.cards.versions import ExampleWord, Gloss

# the card on scripts
PIECES = "minilm"
START = "学ぶ 배우다 学习 learn"  # "to learn" in Japanese, Korean, Chinese and English
ASKED = ("学", "배", "习")  # by seed: one sign each, three bytes in UTF-8
MAX_SCRIPT_CHARS, UNKNOWN = 24, "[UNK"
# texts of the story model's small world; the last word is to be predicted
TEXTS = (
    "The dog was happy . The dog ran to the",
    "The cat was hungry . The cat ran to the",
    "The bird was tired . The bird ran to the",
)
OTHER_ANIMALS = ("cat", "dog", "dog")
MAX_CHARS, MAX_TOKENS, N_BEST, N_SHOWN = 80, 32, 5, 6
NORM_ROWS = ((1.0, 3.0, 5.0, 7.0), (2.0, 2.0, 4.0, 8.0), (0.0, 1.0, 1.0, 2.0))
ONE_DIGIT = 0.06  # the tolerance of a number typed with one digit after the point


@dataclass(frozen=True, eq=False)
class Pieces:
    """The tokens of a text without the marks around it: their labels and numbers."""

    labels: tuple[str, ...]
    ids: tuple[int, ...]

    def panel(self, name: str) -> Panel:
        """The tokens with their numbers."""
        values = np.array([self.ids], dtype=np.float64)
        return Panel(name, values, columns=self.labels, decimals=0, signed=False)


def _next(inputs: CardInputs) -> Card:
    """The answer of a language model: a probability for every next token."""
    run = story.run(_ids(inputs, _text(inputs)))
    probabilities = run.probabilities()
    best = _best(probabilities)
    columns = story.names(np.array(best))
    board = Board((Panel("best", probabilities[None, best], columns=columns, signed=False),))
    numbers: Numbers = {
        "text": _text(inputs),
        "gloss": Gloss(_text(inputs)),
        "best": columns[0],
        "probability": float(probabilities[best[0]]),
        "vocabulary": len(story.vocabulary()),
        "even": 1 / len(story.vocabulary()),
        "total": float(probabilities.sum()),
    }
    question = ChoiceQuestion(("word", "each", "sentence"), "each")
    names = (*story.names(_ids(inputs, _text(inputs))), "?")
    read = Panel("read", np.zeros((1, len(names))), columns=names, hidden=True)
    return Card("next", numbers, (), question, (board,), situation=(Board((read,)),))


def _ids(inputs: CardInputs, text: str) -> np.ndarray:
    ids = np.asarray(inputs.capture(story.MODEL, text).tokens.ids, dtype=np.int64)
    return np.concatenate([ids[:1], ids[1:][-MAX_TOKENS + 1 :]])


def _text(inputs: CardInputs) -> str:
    return TEXTS[inputs.seed % len(TEXTS)]


def _best(probabilities: np.ndarray) -> list[int]:
    return [int(token) for token in np.argsort(-probabilities)[:N_BEST]]


def _tokens(inputs: CardInputs) -> Card:
    """Text cut into tokens: numbers of a list."""
    ids = _ids(inputs, _text(inputs))
    values, labels = ids[None].astype(np.float64), story.names(ids, space=story.SPACE)
    board = Board((Panel("ids", values, columns=labels, decimals=0, signed=False, hidden=True),))
    n = len(ids)
    numbers: Numbers = {"text": _text(inputs), "n": n, "vocabulary": len(story.vocabulary())}
    twice = [column for column in range(n) if (ids == ids[column]).sum() > 1 and column > 1]
    first, second = twice[0], int(np.flatnonzero(ids == ids[twice[0]])[1])
    numbers = {
        **numbers,
        "word": story.names(ids)[first],
        "first": first,
        "number": int(ids[first]),
    }
    spaced = int(ids[labels.index(f"␣{labels[1]}")])
    numbers |= {"start": labels[1], "start_number": int(ids[1]), "spaced_number": spaced}
    question = CellQuestion("ids", frozenset({(0, second)}), {"itself": frozenset({(0, first)})})
    return Card("tokens", numbers, (board,), question)


def _script(inputs: CardInputs) -> Card:
    """The question asks for the number of bytes of one sign; then any text, cut in both ways."""
    text = inputs.text("text").strip() or START
    asked = ASKED[inputs.seed % len(ASKED)]
    answer = len(cut(inputs, story.MODEL, asked).ids)
    pieces, in_bytes = cut(inputs, PIECES, text), cut(inputs, story.MODEL, text)
    numbers: Numbers = {
        "asked": asked,
        "code_point": ord(asked),
        "answer": answer,
        "text": text,
        "characters": len(text),
        "utf8": len(text.encode()),
        "pieces": len(pieces.ids),
        "unknown": sum(label.startswith(UNKNOWN) for label in pieces.labels),
        "bytes": len(in_bytes.ids),
    }
    question = NumberQuestion(answer, 0.1, {"one": 1, "two": 2})
    boards = (Board((pieces.panel("pieces"),)), Board((in_bytes.panel("bytes"),)))
    sign = np.array([[float(ord(asked))]])
    given = Board((Panel("sign", sign, columns=(asked,), decimals=0, signed=False),))
    return Card("script", numbers, (), question, boards, situation=(given,))


def cut(inputs: CardInputs, model: str, text: str) -> Pieces:
    """The tokens of a text in a model."""
    tokens = inputs.capture(model, text).tokens
    own = np.flatnonzero(~tokens.special)
    return Pieces(tuple(tokens.labels[n] for n in own), tuple(int(tokens.ids[n]) for n in own))


def typed() -> Typed:
    """The box for a text in the learner's own script."""
    return Typed("text", START, MAX_SCRIPT_CHARS)


def _vectors(inputs: CardInputs) -> Card:
    """Each token becomes its row of a table, and its position's row is added."""
    ids = _ids(inputs, _text(inputs))
    places = [int(place) for place in np.flatnonzero(ids == ids[2])]
    rows = (story.names(ids)[places[0]], story.names(ids)[places[1]])
    names = tuple(f"{name} ({place})" for name, place in zip(rows, places, strict=False))
    word, position = story.word_rows(ids), story.position_rows(len(ids))
    shown = {"word": word, "position": position, "sum": word + position}
    panels = [
        Panel(
            name,
            values[places[:2], :N_SHOWN],
            before,
            rows=names,
            scale="vectors",
            hidden=name == "sum",
        )
        for (name, values), before in zip(shown.items(), ("", "+", "="), strict=True)
    ]
    start = word + position
    numbers: Numbers = {
        "token": rows[0],
        "d_model": word.shape[1],
        "shown": N_SHOWN,
        "first": places[0],
        "second": places[1],
        "same": float(np.abs(word[places[0]] - word[places[1]]).max()),
        "apart": float(np.abs(start[places[0]] - start[places[1]]).max()),
    }
    question = ChoiceQuestion(("same", "position", "meaning"), "position")
    return Card("vectors", numbers, (Board(tuple(panels)),), question)


def _stream(inputs: CardInputs) -> Card:
    """The residual stream: the lengths of what each part adds to the last row."""
    run = story.run(_ids(inputs, _text(inputs)))
    lengths = np.array([[float(np.linalg.norm(part[-1])) for part in pair] for pair in run.added])
    columns = (ExampleWord("attention"), "MLP")
    rows = tuple(f"L{layer}" for layer in range(story.LAYERS))
    panel = Panel("lengths", lengths, rows=rows, columns=columns, signed=False)
    parts = [part[-1] for pair in run.added for part in pair]
    numbers: Numbers = {
        "layers": story.LAYERS,
        "parts": 2 * story.LAYERS,
        "start": float(np.linalg.norm(run.start[-1])),
        "end": float(np.linalg.norm(run.end[-1])),
        "error": float(np.abs(run.start[-1] + np.sum(parts, axis=0) - run.end[-1]).max()),
    }
    question = ChoiceQuestion(("replaced", "added", "chosen"), "added")
    return Card("stream", numbers, (), question, (Board((panel,)),))


def _who(inputs: CardInputs) -> Card:
    """Only attention carries information from one token to another."""
    text = _text(inputs)
    animal = text.split()[1]
    other = OTHER_ANIMALS[inputs.seed % len(TEXTS)]
    texts = (text, text.replace(animal, other))
    ids = [_ids(inputs, sentence) for sentence in texts]
    rows = {"whole": _apart(ids[0], ids[1], "none"), "bare": _apart(ids[0], ids[1], "attention")}
    whole, bare = (differences[:, -1] for differences in rows.values())
    depths = ("X", *(f"L{layer}" for layer in range(story.LAYERS)))
    board = Board(
        tuple(
            Panel(name, values[None], columns=depths, signed=False, scale="apart")
            for name, values in (("whole", whole), ("bare", bare))
        )
    )
    numbers: Numbers = {
        "text": text,
        "animal": animal,
        "other": other,
        "last": text.split()[-1],
        "whole": float(whole[-1]),
        "bare": float(bare[-1]),
    }
    question = ChoiceQuestion(("attention", "mlp", "table"), "attention")
    film = Motion(
        "pulse", rows, {"tokens": story.names(ids[0]), "rows": depths}, handles=("depth",)
    )
    situation = (Board(board.panels[:1]),)
    return Card("who", numbers, (), question, (film, board), situation=situation)


def _apart(
    one: np.ndarray, other: np.ndarray, without: story.Without
) -> Float64[np.ndarray, "depth token"]:
    """The distance between the rows of two texts: at the start, and after each layer."""
    runs = [story.run(tokens, without) for tokens in (one, other)]
    streams = [
        np.cumsum([run.start, *(first + then for first, then in run.added)], axis=0) for run in runs
    ]
    return np.asarray(np.abs(streams[0] - streams[1]).max(axis=2))


def _mlp(inputs: CardInputs) -> Card:
    """The MLP: wide inside, and alone with each row."""
    width = int(story.word_rows(np.array([0])).shape[1])
    answer = story.hidden_width()
    question = NumberQuestion(answer, 0.5, {"same": width, "half": width * 2})
    ids = _ids(inputs, _text(inputs))
    before, after = story.inside_mlp(ids)[:, None, :N_SHOWN]
    row = story.names(ids)[-1:]
    inside = Panel("inside", before, rows=row, scale="inside")
    passed = Panel("passed", after, "→", rows=row, scale="inside")
    times = answer // width
    numbers: Numbers = {
        "d_model": width,
        "hidden": answer,
        "times": times,
        "share": 100 * 2 * times / (2 * times + 4),  # of 2·times·d² in the MLP and 4·d² beside it
        "token": row[0],
        "shown": N_SHOWN,
    }
    return Card("mlp", numbers, (), question, (Board((inside, passed)),))


def _norm(inputs: CardInputs) -> Card:
    """Layer norm on four numbers; the question asks for the first."""
    row = np.array([NORM_ROWS[inputs.seed % len(NORM_ROWS)]])
    mean, deviation = float(row.mean()), float(row.std())
    normed = (row - mean) / deviation
    board = Board(
        (
            Panel("row", row, decimals=0),
            Panel("normed", normed, before="→", hidden=True),
        )
    )
    numbers: Numbers = {
        "first": float(row[0, 0]),
        "mean": mean,
        "deviation": deviation,
        "centred": float(row[0, 0] - mean),
        "answer": float(normed[0, 0]),
    }
    mistakes = {"centred": float(row[0, 0] - mean), "divided": float(row[0, 0] / deviation)}
    question = NumberQuestion(float(normed[0, 0]), ONE_DIGIT, mistakes)
    return Card("norm", numbers, (board,), question)


def _logits(inputs: CardInputs) -> Card:
    """Scores of the next token and their softmax; the question compares two of them."""
    run = story.run(_ids(inputs, _text(inputs)))
    probabilities = run.probabilities()
    best = _best(probabilities)
    columns, scores = story.names(np.array(best)), run.logits[-1:, best]
    board = Board(
        (
            Panel("logits", scores, columns=columns),
            Panel(
                "probabilities",
                probabilities[None, best],
                before="→",
                columns=columns,
                decimals=3,
                signed=False,
                hidden=True,
            ),
        )
    )
    # of the numbers as they are printed, so that a reader who subtracts them finds the same
    gap = round(round(float(scores[0, 0]), 2) - round(float(scores[0, 1]), 2), 2)
    answer = math.exp(gap)
    numbers: Numbers = {
        "first": columns[0],
        "second": columns[1],
        "gap": gap,
        "answer": answer,
        "first_probability": float(probabilities[best[0]]),
        "second_probability": float(probabilities[best[1]]),
        "vocabulary": len(story.vocabulary()),
    }
    mistakes = apart(answer, {"gap": gap, "ratio": float(scores[0, 0] / scores[0, 1])}, 0.1)
    question = NumberQuestion(answer, 0.1, mistakes)
    film = Motion(
        "softmax", {"scores": scores}, {"keys": columns}, scenes=("scores",), handles=("scores",)
    )
    return Card("logits", numbers, (board,), question, (film,))


def _parts(inputs: CardInputs) -> Card:
    """The experiment: the model's next word with one kind of part left out."""
    without = next(way for way in story.WITHOUT if way == inputs.text("without"))
    text = inputs.text("text").strip() or TEXTS[0]
    ids = _ids(inputs, text)
    runs = {"control": story.run(ids), "changed": story.run(ids, without)}
    panels = []
    for name, run in runs.items():
        probabilities = run.probabilities()
        best = _best(probabilities)
        columns = story.names(np.array(best))
        values = probabilities[None, best]
        panels.append(Panel(name, values, columns=columns, signed=False))
    numbers: Numbers = {
        "best": panels[0].columns[0],
        "probability": float(panels[0].values[0, 0]),
        "new": panels[1].columns[0],
        "new_probability": float(panels[1].values[0, 0]),
    }
    boards = tuple(Board((panel,)) for panel in panels)
    link = Link("output", {"model": story.MODEL, "text": text})
    question = ChoiceQuestion(("all", "last", "nothing"), "last")
    return Card("parts", numbers, (), question, boards, link, boards[:1])


LESSON = Lesson(
    "where",
    recipes=(
        Recipe("next", _next),
        Recipe("tokens", _tokens),
        Recipe("vectors", _vectors),
        Recipe("stream", _stream),
        Recipe("who", _who),
        Recipe("mlp", _mlp),
        Recipe("norm", _norm),
        Recipe("logits", _logits),
        Recipe(
            "parts",
            _parts,
            (Typed("text", TEXTS[0], MAX_CHARS), Pick("without", story.WITHOUT, "attention")),
            "experiment",
        ),
        Recipe("script", _script, (typed(),), "experiment"),
    ),
)
