"""A lesson on paper: one HTML page with print styles, its questions with room to answer, and a key.

In: the built cards of a lesson, a language, the seed that its numbers came from. Out: HTML that
needs nothing else: no script, no font, no address. The key stands on a page of its own at the end
and says what `grade` takes for right. What runs on screen only is named, with where to find it.
"""

from functools import partial
from html import escape
from importlib.resources import files

from attnviz.lessons.cards.card import (
    Card,
    CellQuestion,
    ChoiceQuestion,
    Control,
    NumberQuestion,
    Question,
    Slider,
    Typed,
    Value,
)
from attnviz.lessons.paper.answer_key import key
from attnviz.lessons.paper.boards import board
from attnviz.lessons.paper.markdown import html, inline, plain
from attnviz.lessons.paper.sheet import Printed, Sheet, note, picture, takeaway

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
BLANK = '<span class="blank"></span>'


def worksheet(sheet: Sheet) -> str:
    """The page."""
    title = escape(sheet.texts.title)
    style = files("attnviz.lessons.paper").joinpath("worksheet.css").read_text(encoding="utf-8")
    cards = "".join(_card(sheet, place, each) for place, each in enumerate(sheet.cards, 1))
    return f"""<!doctype html>
<html lang="{sheet.lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{title} · {sheet.own("title")}</title>
<style>{style}</style>
</head>
<body lang="{sheet.lang}">
<header>
<h1>{title}</h1>
<p class="summary">{escape(sheet.texts.summary)}</p>
<p class="who"><span>{sheet.own("name")}</span><span>{sheet.own("date")}</span>
<span class="seed">{sheet.own("seed", seed=sheet.seed)}</span></p>
</header>
<main>{cards}</main>
{key(sheet)}
</body>
</html>
"""


def _card(sheet: Sheet, place: int, printed: Printed) -> str:
    card = printed.card
    parts = [f"<h2>{place}. {inline(sheet.say(card, 'title'))}</h2>"]
    parts.append(html(sheet.say(card, "text")))
    parts += [_setting(sheet, card, control, value) for control, value in printed.controls]
    parts += [picture(sheet, card, each) for each in card.pictures]
    if printed.controls:
        parts.append(note(sheet.own("on_screen", address=sheet.address(card))))
    if card.question is not None:
        parts.append(_question(sheet, card, card.question))
    elif sheet.texts.has(card.name, "takeaway"):
        parts.append(takeaway(sheet, card))
    return f"<article>{''.join(parts)}</article>"


def _setting(sheet: Sheet, card: Card, control: Control, value: Value) -> str:
    name = f"control.{control.name}"
    if isinstance(control, Slider):
        said = escape(f"{float(value):g}")
    elif isinstance(control, Typed):
        said = escape(str(value))
    else:
        said = inline(sheet.say(card, f"{name}.{value}"))
    return f"<p>{inline(sheet.say(card, name))}: <strong>{said}</strong></p>"


def _question(sheet: Sheet, card: Card, question: Question) -> str:
    match question:
        case NumberQuestion():
            room = f'<div class="work"></div><p class="answer">{sheet.own("answer")}{BLANK}</p>'
        case CellQuestion():
            caption = sheet.say(card, f"panel.{question.panel}")
            room = note(sheet.own("circle", panel=plain(caption)))
        case ChoiceQuestion():
            room = _options(sheet, card, question)
    return f'<section class="ask">{html(sheet.say(card, "question"))}{room}</section>'


def _options(sheet: Sheet, card: Card, question: ChoiceQuestion) -> str:
    items = []
    for option in question.options:
        said = inline(sheet.say(card, f"option.{option}"))
        shown = question.pictures.get(option)
        picture = board(shown, partial(sheet.say, card)) if shown else ""
        items.append(f'<li><span class="box"></span>{said}{picture}</li>')
    return f'<ul class="options">{"".join(items)}</ul>'
