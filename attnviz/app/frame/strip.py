"""The strip at the top of every page with a model: what it reads, as tokens, and what it says.

In: the view, and what is shown once it is known. Out: one line below the bar whose height never
changes: at its left the way back to a lesson, then the tokens, which are the text and are edited in
place, the examples, the picture or the sound with the ways to another one, at its end the model's
answer. The line is there before the model has run; a page that has no capture fills it with the
text alone. What is typed goes into the view, and the page runs again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from attnviz.app.bar import own_files, picture
from attnviz.app.frame.fragments import answer_question, keep_selection
from attnviz.app.host.draw import draw
from attnviz.app.session import (
    address,
    address_bar,
    current,
    model_cards,
    sounds,
    store,
    uploads,
    widgets,
)
from attnviz.app.session.fragment import fragment
from attnviz.app.session.model_cards import READS_PICTURES, reads_text
from attnviz.checks import examples
from attnviz.checks.examples import sight
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import number
from attnviz.models.registry import REGISTRY
from attnviz.pictures import strip
from attnviz.pictures.group import picture_places
from attnviz.pictures.group.app_capture import AppCapture, PageContext
from attnviz.pictures.group.axes import token_axes
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared.pages import Page
from attnviz.pictures.shared.selection import Extent
from attnviz.pictures.strip import (
    PieceName,
    StripAnswer,
    StripExample,
    StripField,
    StripPatches,
    StripPiece,
    StripTokens,
    StripView,
    TypedName,
)
from attnviz.types import ModelCard, Stack

PLACE = "strip"  # the place of the tokens in this run, empty until they are known
MAX_CHIPS = 1024  # of more tokens the line shows the text
MAX_SHOWN_CHARS = 400  # of a text that is not typed here
LEFT = "**A**"  # the name of the line where there is a second one
Takes = Mapping[TypedName, Callable[[str], None]]


def open_line(lang: Language, before: Callable[[Language], None], page: Page) -> None:
    """The line of a page, with what stands `before` the text, and on Look the way to a second one.

    There is none in a frame and on a class's wall.
    """
    store.put(PLACE, None)
    if address_bar.is_embedded() or current.view().classroom.wall:
        return
    card = model_cards.card(current.view().model)
    with st.container(key=widgets.key("strip"), horizontal=True, gap="xsmall"):
        before(lang)
        if page == "overview" and current.view().drawing.second:
            st.markdown(LEFT, width="content")  # the line below is B's
        st.text(current.view().input.text[:MAX_SHOWN_CHARS] or " ")  # until its tokens are known
        store.put(PLACE, st.container(key=widgets.key("strip.place")))
        if card is not None and not current.view().input.capture:
            _media_menu(lang, card)
        if page == "overview":
            _second_switch(lang)
    own_files.pasting_problem(lang)


def _second_switch(lang: Language) -> None:
    """The button for a second sentence, whose squares are B − A, or back to one."""
    is_second = current.view().drawing.second
    st.button(
        text(lang, "compare.back" if is_second else "compare.second"),
        key=widgets.key("strip.second"),
        type="tertiary",
        icon=":material/close:" if is_second else ":material/add:",
        on_click=lambda: current.take({"second": not is_second, "open": False}),
    )


def _media_menu(lang: Language, card: ModelCard) -> None:
    """The ways to another picture or sound."""
    if card.kind in READS_PICTURES:
        with st.popover(text(lang, "menu.picture"), type="tertiary", key=widgets.key("media")):
            picture.choice(lang)
    elif card.kind == "speech":
        with st.popover(text(lang, "sound.label"), type="tertiary", key=widgets.key("media")):
            own_files.sound_choice(lang)


def fill(shown: PageContext, with_second: bool = False) -> None:
    """Fill the line with the tokens of what is shown, once in a run."""
    place = store.pop(PLACE, None)
    if place is not None:
        with place:
            _of_capture(shown, with_second)


def close_line(lang: Language) -> None:
    """Fill the line where nothing is shown: the text can be changed all the same."""
    place = store.pop(PLACE, None)
    if place is not None:
        with place:
            _of_view(lang)


@fragment()
def _of_capture(shown: PageContext, with_second: bool) -> None:
    view = _view(shown.lang, shown, with_second)
    has_queries = any(piece.tokens is not None and piece.tokens.asks for piece in view.pieces)
    # another picture shows no tokens of its own where this line has the queries (style.css)
    with st.container(key=widgets.key("strip.words" if has_queries else "strip.plain")):
        extent = shown.size.extent
        on = {"selection": keep_selection(extent), "ask": _ask_for_heads(extent)}
        draw(strip.CANVAS, view, "strip", shown.lang, on | events(TAKES))


def _ask_for_heads(extent: Extent) -> Callable[[object], None]:
    """A callback: two words are asked about where all heads stand on the page."""
    answer = answer_question(extent)

    def ask(sent: object) -> None:
        if store.get(address_bar.SHOWN) == "overview" and not current.view().drawing.second:
            answer(sent)

    return ask


@fragment()
def _of_view(lang: Language) -> None:
    with st.container(key=widgets.key("strip.plain")):
        draw(strip.CANVAS, _view(lang), "strip", lang, events(TAKES))


# --- what stands in it -------------------------------------------------------------------------


def _view(lang: Language, shown: PageContext | None = None, with_second: bool = False) -> StripView:
    """The line of the current view, with the tokens of what is shown, if that is known."""
    view = current.view()
    card, source = model_cards.card(view.model), _source(lang, shown)
    typed = "" if source else view.input.text
    pieces = pieces_of(lang, card, shown, typed, view.input.target, is_typed=not source)
    if with_second and [piece.name for piece in pieces] == ["text"]:
        pieces = (*pieces, _second_piece(lang, shown))
    names = {piece.name for piece in pieces if piece.field is not None}
    action = "translate" if view.model in REGISTRY else "let_write"
    asks_target = "target" in names and card is not None and card.kind == "encoder-decoder"
    return StripView(
        pieces,
        source=source,
        action=text(lang, f"action.{action}") if asks_target else "",
        examples=examples_of(lang, view.model) if "text" in names else (),
        answer=None if shown is None else answer_of(lang, shown.captured),
        picture=None if shown is None else _picture(shown.captured),
        sound=_sound(card) if shown is None or shown.captured.loaded else None,
    )


def right(
    lang: Language,
    card: ModelCard | None,
    shown: PageContext | None,
    model: str,
    texts: tuple[str, str],
    is_file: bool,
    beside: Sequence[str],
) -> StripView:
    """The line of Compare's right side: its text and target, under names of their own.

    `beside` are the tokens of the left side.
    """
    target = "transcript" if card is not None and card.kind == "speech" else "target"
    other: dict[PieceName, tuple[PieceName, str]] = {
        "text": ("text_b", "text"),
        "target": ("target_b", target),
    }
    named = []
    for piece in pieces_of(lang, card, shown, *texts, is_typed=not is_file):
        if piece.name in other:
            name, label = other[piece.name]
            piece = replace(piece, name=name, label=text(lang, f"compare.{label}"))
            if name == "text_b" and piece.field is not None:
                empty = text(lang, "compare.text_help")
                piece = replace(piece, field=replace(piece.field, help=empty))
            if piece.tokens is not None and piece.tokens.asks:
                differs = _first_other(piece.tokens.labels, beside)
                piece = replace(piece, tokens=replace(piece.tokens, differs=differs))
        named.append(piece)
    is_text = any(piece.name == "text_b" and piece.field is not None for piece in named)
    return StripView(
        tuple(named),
        examples=examples_of(lang, model) if is_text else (),
        answer=None if shown is None else answer_of(lang, shown.captured),
        picture=None if shown is None else _picture(shown.captured),
    )


def _first_other(labels: Sequence[str], others: Sequence[str]) -> int | None:
    """The first of the labels that is another one beside it; None if all are alike."""
    n_others = len(others)
    differing = (i for i, own in enumerate(labels) if i >= n_others or own != others[i])
    return next(differing, None)


def _source(lang: Language, shown: PageContext | None) -> str:
    """The name of a file that is read in place of a typed text, or of a capture's model."""
    view, file = current.view(), uploads.kept_text()
    if view.input.capture:
        title = model_title(lang, shown.captured.name) if shown is not None else ""
        return text(lang, "strip.capture", model=title)
    if not (view.input.file and file):
        return ""
    return text(lang, "strip.file", name=file.name, characters=len(file.text))


def pieces_of(
    lang: Language,
    card: ModelCard | None,
    shown: PageContext | None,
    typed: str,
    target: str,
    *,
    is_typed: bool = True,
) -> tuple[StripPiece, ...]:
    """A piece for each stack of the model; before it has run, for each text that it reads."""
    if shown is None:
        names: list[TypedName] = ["text"] if reads_text(card) else []
        names += ["target"] if _has_target(card) else []
        stacks: dict[PieceName, StripTokens | None] = dict.fromkeys(names)
    else:
        own = card if shown.captured.loaded is not None else None
        among = dict.fromkeys(group.stack for group in shown.captured.groups)
        stacks = {_name(own, stack): _tokens(shown, stack) for stack in among}
    texts: Mapping[PieceName, str] = {"text": typed, "target": target}
    return tuple(
        StripPiece(
            name,
            _label(lang, name, card),
            texts.get(name, "") or _read(shown, tokens),
            _field(lang, name, card) if is_typed else None,
            tokens,
        )
        for name, tokens in stacks.items()
    )


def _has_target(card: ModelCard | None) -> bool:
    return card is not None and (card.kind == "encoder-decoder" or card.transcribes)


def _name(card: ModelCard | None, stack: Stack | None) -> PieceName:
    """The name of what a stack reads; without a card only its tokens are known."""
    if card is None or card.kind == "module":
        return "tokens" if stack != "decoder" else "target"
    if stack == "decoder" and _has_target(card):
        return "target"
    if card.kind == "vision" or stack == "vision":
        return "picture"
    return "sound" if card.kind == "speech" else "text"


def _label(lang: Language, name: PieceName, card: ModelCard | None) -> str:
    if name == "target":
        hears = card is not None and card.kind == "speech"
        return text(lang, "menu.transcript" if hears else "menu.target")
    if name == "text":
        has_source = card is not None and card.kind == "encoder-decoder"
        return text(lang, "menu.source" if has_source else "menu.text")
    return text(lang, {"picture": "menu.picture", "sound": "sound.label"}.get(name, "strip.tokens"))


def _field(lang: Language, name: PieceName, card: ModelCard | None) -> StripField | None:
    if name == "text":
        return StripField(text(lang, "menu.text_placeholder"), text(lang, "strip.help"))
    if name == "target":
        hears = card is not None and card.kind == "speech"
        help_key = "menu.transcript_help" if hears else "menu.target_help"
        limit = address.MAX_CHARS["target"]
        return StripField(text(lang, "menu.target_placeholder"), text(lang, help_key), limit)
    return None


def _tokens(shown: PageContext, stack: Stack | None) -> StripTokens | None:
    """The tokens of a stack; None where there are too many, or layers differ in them."""
    own = shown.group.stack == stack
    group = next(group for group in shown.captured.groups if group.stack == stack)
    if own and not shown.group.cross:
        group = shown.group
    if group.uneven or (own and shown.group.uneven):
        return None
    axis = token_axes(shown.of_group(group))[1 if group.cross and not own else 0]
    if len(axis.labels) > MAX_CHIPS:
        return None
    at = picture_places.picture(shown.captured, group)
    return StripTokens(
        axis.labels,
        axis.special,
        axis.written,
        asks=own,
        answers=own != shown.group.cross,
        patches=None if at is None else StripPatches(at.rows, at.columns, at.first),
    )


def _read(shown: PageContext | None, tokens: StripTokens | None) -> str:
    """The text that was read, where there are no chips for it."""
    if shown is None or tokens is not None:
        return ""
    return shown.captured.capture.tokens.text[:MAX_SHOWN_CHARS]


def _second_piece(lang: Language, shown: PageContext | None) -> StripPiece:
    """The second sentence of a batch, which is padded with the first."""
    tokens = None
    typed = current.view().input.text2
    if shown is not None and typed.strip() and shown.group.capture.n_batch > 1:
        axis = token_axes(shown, batch=1)[0]
        tokens = StripTokens(axis.labels, axis.special, axis.written, asks=False, answers=False)
    field = StripField(
        text(lang, "menu.text2_placeholder"),
        text(lang, "menu.text2_help"),
        address.MAX_CHARS["text2"],
    )
    return StripPiece("text2", text(lang, "menu.text2"), typed, field, tokens)


def examples_of(lang: Language, model: str) -> tuple[StripExample, ...]:
    """The examples of a model, each with what there is to see in it."""
    return tuple(
        StripExample(example.text, _hint(lang, model, example.text))
        for example in examples.of_model(model)
    )


def _hint(lang: Language, model: str, sentence: str) -> str:
    hint, seen = examples.hint(lang, model, sentence), sight(model, sentence)
    if hint is None or seen is None:
        return hint or ""
    return text(
        lang,
        "example_hint.sight",
        hint=hint,
        head=str(seen.head),
        row=seen.query_token,
        column=seen.key_token,
        weight=number(lang, seen.weight, ".2f"),
        others=number(lang, seen.others, ".2f"),
    )


def answer_of(lang: Language, captured: AppCapture) -> StripAnswer | None:
    """The likeliest class, or the likeliest token after all that was read."""
    from attnviz.experiment.outputs import classes, next_token

    loaded, capture = captured.loaded, captured.capture
    if loaded is None or capture.logits is None:
        return None
    if classes.has_classes(loaded, capture):
        found = classes.classes(loaded, capture)
        best = found.order[0]
        share = float(found.probabilities[best])
        return StripAnswer(found.names[best], share, text(lang, "strip.class"))
    card = loaded.card
    if capture.logits.dim() != 3 or card.kind == "encoder-decoder":
        return None
    if not model_cards.generates(card):
        return None
    last = next_token.ranked(capture, 1, most=1)
    (word,) = loaded.labels_of([int(last.ids[-1, 0])])
    return StripAnswer(word, float(last.before[-1, 0]), text(lang, "strip.next"))


def _picture(captured: AppCapture) -> np.ndarray | None:
    """The picture that the model saw, or how its sound looks."""
    heard = captured.media.sound
    if heard is None:
        return captured.media.picture
    _, drawn = sounds.heard(heard)
    return np.asarray(drawn.convert("RGB"))


def _sound(card: ModelCard | None) -> np.ndarray | None:
    """The sound that is read, as a WAV file."""
    if card is None or card.kind != "speech":
        return None
    chosen = sounds.named(current.view().input.sound)
    return None if chosen is None else np.frombuffer(sounds.heard(chosen)[0], dtype=np.uint8)


# --- what comes back ---------------------------------------------------------------------------


def events(takes: Takes) -> dict[str, Callable[[object], None]]:
    """The callbacks of a line: what is typed, and the buttons beside it; the page runs again."""

    def take(sent: object) -> None:
        typed = strip.parse_typed(sent)
        if typed is not None and typed.name in takes:
            takes[typed.name](typed.text)
            st.rerun()

    def close(sent: object) -> None:
        if sent is not None:
            if current.view().input.capture:
                current.open_capture("")
            else:
                current.read_box()
            st.rerun()

    def write(sent: object) -> None:
        if sent is not None:
            current.want_target()
            st.rerun()

    return {"typed": take, "close": close, "write": write}


def _take_text(typed: str) -> None:
    if len(typed) > address.MAX_CHARS["text"]:  # more goes into no address
        own_files.take_pasted(typed)
    else:
        uploads.forget_problem()
        current.open_text(address.cleaned("text", typed))


def _take_target(typed: str) -> None:
    current.open_target(address.cleaned("target", typed))


def _take_second(typed: str) -> None:
    current.open_second(address.cleaned("text2", typed))


TAKES: Takes = {"text": _take_text, "target": _take_target, "text2": _take_second}
