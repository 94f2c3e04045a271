"""Three places for attention: encoder, decoder, and from the decoder to the encoder.

    Attention(Q, K, V) = Softmax(Q·Kᵀ/√d_k + Mask)·V;  in cross-attention Q comes from the decoder,
    K and V from the encoder's output

`translation` is the cross-attention of the embedded `translator` while it generates: one row for
each French token, the row that predicts it (Koehn and Knowles 2017: the row of the decoder that has
read the tokens before it). `PAIRS` are sentences with its translations and the links of their
words. Sources: Vaswani et al. 2017, section 3.2.3, and a textbook chapter on attention in
translation.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64

from attnviz.attention.capture import Capture
from attnviz.pictures.board import Board, Panel
from attnviz.pictures.motion import Motion
from attnviz.teach.course.recipe import CardInputs, Lesson, Recipe
from attnviz.teach.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    Link,
    NotEnglish,
    NumberQuestion,
    Numbers,
    Pick,
    Slider,
    Typed,
)
from attnviz.teach.lessons.cards.versions import Gloss, places
from attnviz.types import Kind

LONGER = "We gave the beautiful queen a golden crown."
UNKNOWN = "The zebra sees a tree."  # "zebra" is not in the model's word list
STEPS = tuple(float(step) for step in range(1, 10))
# three of the eight heads, the aligning one among them
HEADS = ("l0h1", "l0h2", "l1h1")
MAX_CHARS = 60
KINDS: tuple[Kind, Kind] = ("cross", "self")
# the translator
MODEL = "translator"
MAX_GENERATED = 32
PIECE = "▁"  # the space before a piece, as the vocabulary writes it
LAYER, HEAD = 1, 1  # the head that the model's card names for alignment


@dataclass(frozen=True)
class SentencePair:
    """A sentence, the model's translation, and links (English word, French word).

    `moved` is a French word at another position than its English word.
    """

    english: str
    french: str
    links: tuple[tuple[str, str], ...]
    moved: str


PAIRS = (
    SentencePair(
        "The little white cat sees a green apple.",
        "Le petit chat blanc voit une pomme verte.",
        (
            ("little", "petit"),
            ("white", "blanc"),
            ("cat", "chat"),
            ("sees", "voit"),
            ("green", "verte"),
            ("apple", "pomme"),
        ),
        "blanc",
    ),
    SentencePair(
        "The queen has a black horse.",
        "La reine a un cheval noir.",
        (("queen", "reine"), ("has", "a"), ("black", "noir"), ("horse", "cheval")),
        "noir",
    ),
    SentencePair(
        "I like red cars.",
        "J'aime les voitures rouges.",
        (("like", "aime"), ("red", "rouges"), ("cars", "voitures")),
        "rouges",
    ),
)


@dataclass(frozen=True, eq=False)
class Translation:
    """A sentence that the model translated token by token."""

    captured: Capture

    @property
    def source(self) -> tuple[str, ...]:
        """The English tokens with the end mark."""
        return tuple(_word(label) for label in self.captured.tokens_of(0, "encoder").labels)

    @property
    def read(self) -> tuple[str, ...]:
        """The tokens that the decoder has read: its start mark and the generated ones."""
        return tuple(_word(label) for label in self.captured.tokens_of(0, "decoder").labels)

    @property
    def written(self) -> tuple[str, ...]:
        """The French tokens that rows 0, 1, 2 … of the decoder predict."""
        return self.read[1:]

    def cross(self, layer: int = LAYER, head: int = HEAD) -> Float64[np.ndarray, "query key"]:
        """Cross-attention: for each generated token the row that predicts it."""
        return self.rows(layer, head)[: len(self.written)]

    def rows(self, layer: int, head: int) -> Float64[np.ndarray, "query key"]:
        """Cross-attention: all rows of the decoder, one for each token of `read`."""
        weights = self.captured.weights(layer, head, kind="cross", stack="decoder")
        return np.asarray(weights.astype(np.float64))


def _three(inputs: CardInputs) -> Card:
    """One head of each place on a short sentence; the labels tell them apart."""
    pair = PAIRS[(2 + inputs.seed) % len(PAIRS)]
    translation = translate(inputs, pair.english)
    english, french = translation.source, translation.read
    panels = {
        "decoder": (translation.captured.weights(1, 0, "self", "decoder"), french, french),
        "cross": (translation.captured.weights(LAYER, HEAD, "cross", "decoder"), french, english),
        "encoder": (translation.captured.weights(1, 0, "self", "encoder"), english, english),
    }
    pictures = {
        name: Board(
            (
                Panel(
                    name,
                    weights.astype(np.float64),
                    rows=rows,
                    columns=columns,
                    signed=False,
                    decimals=1,
                ),
            )
        )
        for name, (weights, rows, columns) in panels.items()
    }
    question = ChoiceQuestion(tuple(pictures), "cross", pictures)
    numbers: Numbers = {
        "english": pair.english,
        "gloss": Gloss(pair.english),
        "start": NotEnglish(french[0]),
    }
    return Card("three", {**numbers, **places(pictures)}, (), question)


def translate(inputs: CardInputs, english: str) -> Translation:
    """The model's own translation of a sentence."""
    return Translation(inputs.capture(MODEL, english, generate=MAX_GENERATED))


def _keys(inputs: CardInputs) -> Card:
    """The question asks for the number of keys in cross-attention during generation."""
    translation, n_read = translate(inputs, LONGER), 4 + inputs.seed % 4
    cross, own = (translation.captured.call(1, kind, "decoder") for kind in KINDS)
    n_key = cross.n_key
    board = Board((_weights(translation),))
    have_read = (_names("source", translation.source), _names("read", translation.read[:n_read]))
    numbers: Numbers = {
        "english": LONGER,
        "gloss": Gloss(LONGER),
        "read": NotEnglish(" ".join(translation.read[:n_read])),
        "n_read": n_read,
        "n_source": n_key,
        "rows": cross.n_query,
        "own": own.n_key,
    }
    wrong = {"own": n_read, "both": n_key + n_read, "words": len(LONGER.split())}
    question = NumberQuestion(n_key, 0.1, wrong)
    return Card("keys", numbers, (), question, (board,), situation=(Board(have_read),))


def _names(name: str, tokens: tuple[str, ...]) -> Panel:
    """Tokens in a row, without numbers."""
    return Panel(name, np.zeros((1, len(tokens))), columns=tokens, hidden=True)


def _weights(translation: Translation, hidden: bool = False) -> Panel:
    """The cross-attention of the aligning head."""
    return Panel(
        "weights",
        translation.cross(),
        rows=translation.written,
        columns=translation.source,
        signed=False,
        hidden=hidden,
    )


def _once(inputs: CardInputs) -> Card:
    """The decoder's rows in one pass over the whole translation, and token by token."""
    pair = PAIRS[inputs.seed % len(PAIRS)]
    whole, by_step = in_one_pass(inputs, pair), translate(inputs, pair.english).captured
    masked, unmasked = [], []
    for layer in range(whole.n_layers):
        call = whole.call(layer, "self", "decoder")
        n = by_step.call(layer, "self", "decoder").n_query
        open_mask = torch.ones(call.n_query, call.n_key, dtype=torch.bool)
        for head in range(call.n_heads):
            own = by_step.weights(layer, head, "self", "decoder")
            unmasked_weights = call.inputs.stages(head, 0, open_mask)["weights"].numpy()
            masked.append(np.abs(call.weights(head).numpy()[:n, :n] - own).max())
            unmasked.append(np.abs(unmasked_weights[:n, :n] - own).max())
    numbers: Numbers = {
        "french": NotEnglish(pair.french),
        "difference": float(max(masked)),
        "without": float(max(unmasked)),
        "heads": len(masked),
        "rows": n,
    }
    names = whole.tokens_of(0, "decoder").labels[:n]
    shown = {"pass": whole.weights(0, 0, "self", "decoder")[:n, :n]}
    shown["steps"] = by_step.weights(0, 0, "self", "decoder")
    future = np.triu(np.ones((n, n), dtype=np.bool_), 1)
    panels = tuple(
        Panel(
            name,
            weights.astype(np.float64),
            rows=names,
            columns=names,
            signed=False,
            blocked=future,
            decimals=1,
        )
        for name, weights in shown.items()
    )
    question = ChoiceQuestion(("same", "last", "none"), "same")
    return Card("once", numbers, (), question, (Board(panels),), situation=(Board(panels[:1]),))


def in_one_pass(inputs: CardInputs, pair: SentencePair) -> Capture:
    """The capture of one pass over the whole translation, as in training (teacher forcing)."""
    return inputs.capture(MODEL, pair.english, target=pair.french)


def _whose_mask(inputs: CardInputs) -> Card:
    """The question about a future in cross-attention, and the effect of padding there."""
    longer, shorter = PAIRS[0], PAIRS[1 + inputs.seed % (len(PAIRS) - 1)]
    captured = inputs.capture(
        MODEL, [shorter.english, longer.english], target=[shorter.french, longer.french]
    )
    call = captured.call(LAYER, "cross", "decoder")
    assert call.inputs.mask is not None, "the shorter sentence is padded"
    source, target = captured.tokens_of(0, "encoder"), captured.tokens_of(0, "decoder")
    n_row = int((~target.padding).sum())
    weights = call.weights(HEAD, 0).double().numpy()[:n_row]
    blocked = np.broadcast_to(source.padding, weights.shape)
    alone = in_one_pass(inputs, shorter)
    solution = Board(
        (
            Panel(
                "padded",
                weights,
                rows=target.labels[:n_row],
                columns=source.labels,
                signed=False,
                blocked=np.array(blocked),
                sums="rows",
            ),
        )
    )
    numbers: Numbers = {
        "shorter": shorter.english,
        "longer": longer.english,
        "padding": int(source.padding.sum()),
        "on_padding": float(weights[:, source.padding].max()),
        "decoder_mask": alone.call(LAYER, "self", "decoder").mask_kind,
        "cross_mask": alone.call(LAYER, "cross", "decoder").mask_kind,
        "open": alone.call(LAYER, "cross", "decoder").n_key,
    }
    question = ChoiceQuestion(("yes", "no", "training"), "no")
    return Card("whose_mask", numbers, (), question, (solution,))


def _align(inputs: CardInputs) -> Card:
    """The question asks for the English word attended to by the row of a French word."""
    pair = PAIRS[inputs.seed % len(PAIRS)]
    translation = translate(inputs, pair.english)
    row = translation.written.index(pair.moved)
    weights = translation.cross()
    column = int(weights[row].argmax())
    right = frozenset({(row, column)})
    n_row, n_column = weights.shape
    others = {(r, c) for r in range(n_row) for c in range(n_column) if r != row}
    before = int(weights[row - 1].argmax())
    wrong = {
        "neighbour": frozenset({(row, before)}),
        "row": frozenset(others),
    }
    numbers: Numbers = {
        "english": pair.english,
        "gloss": Gloss(pair.english),
        "french": NotEnglish(pair.french),
        "word": NotEnglish(pair.moved),
        "source": translation.source[column],
        "before": NotEnglish(translation.written[row - 1]),
        "before_source": translation.source[before],
        "weight": float(weights[row, column]),
        "before_weight": float(weights[row, before]),
        "even": 1 / n_column,
    }
    board = Board((_weights(translation, hidden=True),))
    view: dict[str, str | int] = {"model": MODEL, "text": pair.english, "layer": LAYER}
    link = Link("output", view | {"head": HEAD, "kind": "cross", "stack": "decoder"})
    words = {"source": translation.source, "written": translation.written}
    film = Motion("alignment", {"weights": weights}, words, handles=("word",))
    question = CellQuestion("weights", right, wrong)
    return Card("align", numbers, (board,), question, (film,), link)


def _rows(inputs: CardInputs) -> Card:
    """The experiment: other heads, and the next row, beside the head and row that align."""
    later = 1 if inputs.text("reading") == "read" else 0
    layer, head = (int(digit) for digit in inputs.text("head")[1::2])
    translation = translate(inputs, PAIRS[0].english)
    pairs = [(translate(inputs, pair.english), pair) for pair in PAIRS]
    control = [hit for text, pair in pairs for hit in right_links(text, pair, LAYER, HEAD)]
    chosen = [hit for text, pair in pairs for hit in right_links(text, pair, layer, head, later)]
    chance = np.mean([1 / len(text.source) for text, pair in pairs for _ in pair.links])
    changed = Panel(
        "changed",
        translation.rows(layer, head)[later : later + len(translation.written)],
        rows=translation.written,
        columns=translation.source,
        signed=False,
        decimals=1,
    )
    same = Panel(
        "control",
        translation.cross(),
        rows=translation.written,
        columns=translation.source,
        signed=False,
        decimals=1,
    )
    numbers: dict[str, float | int | str] = {
        "links": len(control),
        "sentences": len(PAIRS),
        "control_right": sum(control),
        "right": sum(chosen),
        "by_chance": float(chance * len(control)),
        "head": f"L{layer}.H{head}",
        "control": f"L{LAYER}.H{HEAD}",
    }
    late = [hit for text, pair in pairs for hit in right_links(text, pair, LAYER, HEAD, 1)]
    numbers |= {"late": sum(late)}
    wrong = {"all": len(control), "chance": round(chance * len(control))}
    question = NumberQuestion(sum(late), 0.1, wrong)
    return Card("rows", numbers, (), question, (Board((same, changed)),))


def right_links(
    translation: Translation, pair: SentencePair, layer: int, head: int, later: int = 0
) -> list[bool]:
    """True for each link whose strongest English token is the right one.

    `later` 0 reads the row that predicts the French word, 1 the row that has just read it.
    """
    weights, source = translation.rows(layer, head), translation.source
    return [
        source[int(weights[translation.written.index(french) + later].argmax())] == english
        for english, french in pair.links
    ]


def _steps(inputs: CardInputs) -> Card:
    """One row during generation, beside even weights."""
    translation, step = translate(inputs, PAIRS[0].english), int(inputs.number("step"))
    row, source = translation.cross()[step - 1 : step], translation.source
    n_key, word = len(source), translation.written[step - 1]
    even = np.full((1, n_key), 1 / n_key)
    board = Board(
        (
            Panel("row", row, rows=(word,), columns=source, signed=False),
            Panel("even", even, columns=source, signed=False),
        )
    )
    numbers: dict[str, float | int | str] = {
        "step": step,
        "read": NotEnglish(" ".join(translation.read[:step])),
        "word": NotEnglish(word),
        "source": source[int(row.argmax())],
        "weight": float(row.max()),
        "even": 1 / n_key,
    }
    strongest = translation.cross().argmax(axis=1)
    back = int((np.diff(strongest) < 0).sum())
    moved = int((strongest != np.arange(len(strongest))).sum())
    english = PAIRS[0].english
    numbers |= {"english": english, "gloss": Gloss(english), "back": back}
    numbers |= {"french": NotEnglish(" ".join(translation.written))}
    question = NumberQuestion(back, 0.1, {"none": 0, "moved": moved})
    return Card("steps", numbers, (), question, (board,))


def _own(inputs: CardInputs) -> Card:
    """The learner's own sentence and its translation."""
    text = inputs.text("text").strip() or LONGER
    translation = translate(inputs, text)
    weights = translation.cross()
    strongest = weights.argmax(axis=1)
    numbers: dict[str, float | int | str] = {
        "english": text,
        "french": NotEnglish(" ".join(translation.written)),
        "n_source": len(translation.source),
        "n_written": len(translation.written),
        "back": int((np.diff(strongest) < 0).sum()),
        "strongest": float(weights.max(axis=1).mean()) if len(weights) else 0.0,
        "even": 1 / len(translation.source),
    }
    view: dict[str, str | int] = {"model": MODEL, "text": text, "layer": LAYER, "head": HEAD}
    link = Link("output", view | {"kind": "cross", "stack": "decoder"})
    unknown = translate(inputs, UNKNOWN)
    numbers |= {"unknown": UNKNOWN, "spelled": NotEnglish(" ".join(unknown.written))}
    question = ChoiceQuestion(("refuses", "guesses", "spells"), "spells")
    reveal = (Board((_weights(translation),)),) if translation.written else ()
    words = tuple(UNKNOWN.replace(".", " .").split())
    has_token = np.array([[float(word in unknown.source) for word in words]])
    asked = Panel("known", has_token, columns=words, decimals=0, signed=False)
    return Card("own", numbers, (), question, reveal, link, (Board((asked,)),))


def _word(label: str) -> str:
    return label.removeprefix(PIECE) or label


LESSON = Lesson(
    "places",
    needs=("masks",),
    recipes=(
        Recipe("three", _three),
        Recipe("keys", _keys),
        Recipe("once", _once),
        Recipe("whose_mask", _whose_mask),
        Recipe("align", _align),
        Recipe(
            "rows",
            _rows,
            (Pick("reading", ("predicts", "read"), "read"), Pick("head", HEADS, "l1h1")),
            "experiment",
        ),
        Recipe("steps", _steps, (Slider("step", STEPS, 1.0),), "experiment"),
        Recipe("own", _own, (Typed("text", LONGER, MAX_CHARS),)),
    ),
)
