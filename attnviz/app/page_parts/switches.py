"""The switches of Change: every head as a switch beside the model's answer, before and after.

In: what is shown, and what is offered on the head that is off. Out: a mounted component and the
controls below it. While nobody has chosen, all heads are on, and in models that answer at once the
head whose absence moves the answer most is suggested. Under them stand the words with what each
adds to the answer, and the look at one that is forbidden. A click reruns this fragment alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import streamlit as st

from attnviz.app.frame import attention_choice, forbidden_look, measurement, run_again
from attnviz.app.frame.attention_choice import group_title
from attnviz.app.frame.choices import renew, renew_links, take_asked
from attnviz.app.host.draw import draw
from attnviz.app.server import answer_runs
from attnviz.app.server.answer_runs import Answering
from attnviz.app.session import address_bar, current, messages, openings, widgets
from attnviz.app.session.fragment import fragment
from attnviz.errors import AttnVizError
from attnviz.i18n import Language, joined, text
from attnviz.models.registry import REGISTRY
from attnviz.pictures import switches as component
from attnviz.pictures.group import answers
from attnviz.pictures.group import groups as group_data
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.group.axes import word_at
from attnviz.pictures.shared.selection import Extent, LookQuestion, parse_question
from attnviz.pictures.stage.fill import strong_looks
from attnviz.pictures.switches import (
    OFF,
    ForbiddenLook,
    MadeChange,
    OfferedLook,
    Switch,
    SwitchesView,
)
from attnviz.pictures.switches import fill as views
from attnviz.pictures.switches.fill import SameLooks
from attnviz.pictures.switches.words import WordShares, words_of
from attnviz.types import HeadId, Site

if TYPE_CHECKING:
    from attnviz.changes import Change
    from attnviz.experiment.changed_run import ChangedNumbers
    from attnviz.experiment.effects import Effects

FRAGMENT = "switches"
N_WRITTEN = 8
CONTROL_MS = 60.0  # what the rows of the control may take
MAX_CONTROLS, MIN_CONTROLS = 8, 2
MOST_OTHERS = 200  # heads of which the same look is cut; of more some are drawn
MODEL, STORE = "stories", "When Mary and John went to the store, John gave a book to"
TURNED = "L0.H0.mixed=zero"  # Mary 99.3 % becomes John 53 %


@fragment(FRAGMENT)
def board(shown: PageContext, offer: Callable[[Language, HeadId], None]) -> None:
    """The board and the answer."""
    lang = shown.lang
    widgets.rerun_too(FRAGMENT)  # another cell is looked at otherwise
    with messages.guard(lang):
        is_quick = shown.captured.name in REGISTRY
        with messages.spinner(text(lang, "wait.effects"), quick=is_quick):
            request = run_again.of_shown(shown)
            if request is not None:
                others = run_again.others(shown)
                answered = answer_runs.answers(shown.captured, request, others, splits=is_quick)
        if request is None:
            st.info(text(lang, "switchboard.no_transcript"))
            return
        off = component.parse(current.view().switches.changes) or ()
        if off:  # a link may name it in the changes alone
            view = current.view()
            current.update(replace(view, switches=replace(view.switches, to=off[-1].to)))
        to, key = current.view().switches.to, f"{shown.captured.key} {request.key}"
        measured = measurement.may_measure_heads(shown, key, to)
        picture, controls = (
            st.container(),
            st.container(horizontal=True, vertical_alignment="bottom"),
        )
        effects = measurement.head_effects(lang, key, answered, to) if measured else None
        leads = None if effects is None else measurement.lead_effects(lang, key, answered, to)
        words = words_of(lang, answered.run, answered.split) if is_quick or measured else None
        if words is not None:
            _name_by_cell(words)
        forbidden = _forbidden(shown, answered, words)
        looks = _same_looks(shown, key, answered, forbidden) if measured and not off else None
        cell, dropped = _cell(shown), forbidden_look.dropped(shown)
        with picture, messages.spinner(text(lang, "wait.effects"), quick=is_quick):
            draw(
                component.CANVAS,
                lambda: _view(
                    shown, answered, off, (effects, leads, looks), words, forbidden, cell, dropped
                ),
                "switches",
                lang,
                {
                    "switches": partial(_take, current.take_switches),
                    "word": partial(_take, current.take_look),
                    "ask": partial(_forbid, shown.size.extent),
                    "open": attention_choice.open_from_canvas(shown),
                },
                kept=f"{key} {to} {off} {effects is None} {leads is None} {looks is None}"
                f" {words is None} {forbidden} {cell} {dropped}",
            )
        with controls:
            _choose_off(lang)
            _example(lang)
            if not measured:
                _measure_button(lang)
            named, groups = [switch.head for switch in off], shown.captured.groups
            if len(named) == len(groups) == 1 and not address_bar.is_embedded():
                offer(lang, HeadId.parse(named[0]))


def changed(shown: PageContext) -> tuple[str, str]:
    """(what is off and forbidden, as text; the same in words); empty texts while nothing is."""
    view = current.view()
    off = component.parse(view.switches.changes) or ()
    asks = bool(view.inside.forbid) or ForbiddenLook.parse(view.switches.word).key is not None
    request = run_again.of_shown(shown) if off or asks else None
    if request is None:
        return "", ""
    forbidden = Forbidden()
    if asks:
        answered = answer_runs.answers(shown.captured, request, run_again.others(shown))
        words = words_of(shown.lang, answered.run, answered.split)
        forbidden = _forbidden(shown, answered, words)
    changes = (*_switched(off), *forbidden.changes)
    return ",".join(map(str, changes)), views.in_words(shown.lang, off, forbidden.name)


def replaced(lang: Language) -> str:
    """The heads whose output is replaced while they look as before; "" for none."""
    off = component.parse(current.view().switches.changes) or ()
    return joined(lang, [switch.head for switch in off if switch.to != "even"])


@dataclass(frozen=True)
class Forbidden:
    """A look that is forbidden: as the words show it, as changes, and in words; "" for none.

    `reader` is the head, "" for all; `nothing` says that its look has no weight. `edge` is the look
    of one head.
    """

    look: ForbiddenLook = ForbiddenLook()
    changes: "tuple[Change, ...]" = ()
    name: str = ""
    reader: str = ""
    nothing: str = ""
    edge: tuple[Site, int, int] | None = None


def _switched(off: tuple[Switch, ...]) -> "tuple[Change, ...]":
    from attnviz.changes import parse

    return parse(component.write(off)) if off else ()


def _forbidden(shown: PageContext, answered: Answering, words: WordShares | None) -> Forbidden:
    """The look of the chosen cell, if that is forbidden, else the look at a word."""
    view, place = current.view(), current.view().place
    look = ForbiddenLook.parse(view.switches.word)
    if view.inside.at(place).forbid and place.query is not None and place.key is not None:
        site = Site(*place.layer_and_head, shown.group.kind, shown.group.stack)
        if words is None or words.query() != place.query or str(site) not in words.heads:
            return _cell_forbidden(shown, answered, site, place.query, place.key)
        look = ForbiddenLook(str(site), place.key)
    if words is None:
        return Forbidden()
    look = words.fitting(look)
    if look.key is None:
        return Forbidden(look)
    head, query = Site.parse(look.head), words.query()
    nothing = _nothing(shown, look.head, query, look.key)
    edge = None if head is None or query is None else (head, query, look.key)
    return Forbidden(look, words.changes(look), words.name(look), look.head, nothing, edge)


def _name_by_cell(words: WordShares) -> None:
    """Have the view name a look at a word by its cell, as on Start and Look; older links do not."""
    look, query = words.fitting(ForbiddenLook.parse(current.view().switches.word)), words.query()
    if look.head and look.key is not None and query is not None:
        layer, head = (int(part) for part in look.head.removeprefix("L").split(".H"))
        current.take_question(LookQuestion("forbid", True, layer, head, query, look.key))


def _cell_forbidden(
    shown: PageContext, answered: Answering, site: Site, query: int, key: int
) -> Forbidden:
    """The look of any row, which need not make the answer; none that the text does not have."""
    from attnviz.changes import cut
    from attnviz.experiment.edges import HeadEdges

    try:
        HeadEdges.of(answered.run.prepared, site, renormalise=True).checked([(query, key)])
        name = forbidden_look.name(shown, site, query, key)
    except (AttnVizError, IndexError):  # of another text, or of a token that the model wrote
        return Forbidden()
    nothing = _nothing(shown, str(site), query, key)
    edge = (site, query, key)
    return Forbidden(ForbiddenLook(), (cut(*edge),), name, str(site), nothing, edge)


def _same_looks(
    shown: PageContext, key: str, answered: Answering, forbidden: Forbidden
) -> SameLooks | None:
    """The same look as the one that is forbidden, cut in every head; None while it is measured.

    None, too, where heads are more than `MOST_OTHERS`: then some are drawn.
    """
    if forbidden.edge is None:
        return None
    site, query, at = forbidden.edge
    looks = answered.run.same_look(query, at, site.kind, site.stack)
    if not 1 < len(looks) <= MOST_OTHERS or forbidden.edge not in looks:
        return None
    cuts = measurement.look_cuts(shown.lang, key, answered, looks)
    return None if cuts is None else SameLooks(site, cuts)


def _nothing(shown: PageContext, head: str, query: int | None, key: int) -> str:
    """A sentence on a look of one head that has no weight; "" for others."""
    site, groups = Site.parse(head), shown.captured.groups
    if site is None or site.head is None or query is None:
        return ""
    of = next(group for group in groups if (group.kind, group.stack) == (site.kind, site.stack))
    weights = of.call(site.layer).weights(site.head, batch=of.row(site.layer))
    return answers.without_weight(shown.lang, float(weights[query, key]))


def _cell(shown: PageContext) -> tuple[int, int] | None:
    """The chosen cell; with a row alone, the key that it looks at most in the chosen head."""
    place, group = current.view().place, shown.group
    if place.query is None or group.uneven or place.query >= shown.size.extent.n_query:
        return None
    if place.key is not None:
        return (place.query, place.key) if place.key < shown.size.extent.n_key else None
    layer, head = shown.size.nearest_head(*place.layer_and_head)
    row = group.calls[layer].weights(head, batch=group.row(layer))[place.query]
    return place.query, int(row.argmax())


def _example(lang: Language) -> None:
    """A button for the example in which one head decides who gets the book."""
    view = current.view()
    shown = (view.model, view.input.text, view.input.capture)
    if address_bar.is_embedded() or shown == (MODEL, STORE, ""):
        return
    label = openings.leading_to(lang, text(lang, "switchboard.example"), MODEL)
    if st.button(label, key=widgets.key("switches.example")):
        current.open_model(MODEL)
        current.open_text(STORE)
        current.generate(0)
        view = current.view()
        current.update(replace(view, switches=replace(view.switches, changes=TURNED, to="zero")))
        st.rerun()  # the whole page: another model


def _choose_off(lang: Language) -> None:
    """Draw the select box for the output of a head while it is off."""
    names = {to: text(lang, f"switchboard.to_{to}") for to in OFF}
    widget = f"switches.to.{lang}"
    st.selectbox(
        text(lang, "switchboard.to"),
        OFF,
        key=widgets.showing(widget, current.view().switches.to),
        format_func=names.__getitem__,
        on_change=_take_off,
        args=(widget,),
        width=430,
    )


def _take_off(widget: str) -> None:
    """Give every head that is off the output that was chosen."""
    to = widgets.value(widget)
    chosen = component.parse(current.view().switches.changes)
    off = None if chosen is None else tuple(replace(switch, to=to) for switch in chosen)
    view = current.view()
    switches = replace(view.switches, to=to, changes=component.write(off))
    current.update(replace(view, switches=switches))
    renew(FRAGMENT)


def _measure_button(lang: Language) -> None:
    st.button(
        text(lang, "switchboard.measure"),
        key=widgets.key("switches.measure"),
        on_click=take_asked,
        args=("effects", FRAGMENT),
    )


def _view(
    shown: PageContext,
    answered: Answering,
    off: tuple[Switch, ...],
    known: "tuple[Effects | None, Effects | None, SameLooks | None]",
    words: WordShares | None,
    forbidden: Forbidden,
    cell: tuple[int, int] | None,
    dropped: str,
) -> SwitchesView:
    """The board; `known` are effects on the answer and on its lead, and those of a look's cuts.

    Each is None where it is not measured. Heads are told by the weight of a `cell`. `words` is None
    in a model that may be slow, too. `dropped` says which look was allowed again.
    """
    effects, leads, same = known
    lang, groups = shown.lang, shown.captured.groups
    changes = (*_switched(off), *forbidden.changes)
    looks, offer = _offered_looks(shown, answered, words, off, effects, forbidden, cell)
    answer = answered.run.reader
    strongest = effects if answers.guesses(answer) else None
    others = views.others(effects, off, forbidden.name)
    draws = _n_controls(answered) if others is None and same is None else 0
    result = answered.run.with_changes(*changes, draws=draws).choices
    changed = views.ChangedAnswer(
        lang, answered.run.prepared, answer, result, off, forbidden.name, effects, leads, same
    )
    titles = [group_title(lang, group) if len(groups) > 1 else "" for group in groups]
    written = _written(shown, answered, changes) if shown.captured.name in REGISTRY else None
    said = changed.view(written)
    if forbidden.nothing:
        said = replace(said, sentence=f"{said.sentence} {forbidden.nothing}")
    return SwitchesView(
        model=shown.captured.name,
        groups=views.switch_groups(shown, titles, effects),
        off=off,
        to=current.view().switches.to,
        answer=said,
        effects=_measured(lang, answered, effects, leads),
        effects_unit=views.effects_unit(answer),
        suggested="" if strongest is None else str(strongest.order[0]),
        suggested_note="" if strongest is None else views.most_note(lang, answer, strongest),
        looks=looks,
        offer_said=offer,
        forbids=not shown.group.uneven,
        words=None if words is None else words.view(forbidden.look),
        reader=forbidden.reader,
        forbidden=forbidden.name,
        dropped=dropped,
        made=_made(lang, answered, off, forbidden, result),
        facts=() if effects is None else views.facts(shown, answer, effects, cell),
        least=0.0
        if effects is None
        else answers.least_that_matters(answer, np.abs(effects.changes), effects.spread),
    )


def _made(
    lang: Language,
    answered: Answering,
    off: tuple[Switch, ...],
    forbidden: Forbidden,
    result: "ChangedNumbers",
) -> MadeChange | None:
    """The effect of a forbidden look of one head, or of the last of several changes.

    None for the only head that is off, whose effect alone it is. A cosine is always to the vector
    with all heads on: beside other changes it is said to be of all of them.
    """
    reader = answered.run.reader
    if forbidden.reader:
        head, rest = forbidden.reader, _switched(off)
    elif off:
        head, rest = off[-1].head, (*_switched(off[:-1]), *forbidden.changes)
    else:
        return None
    if not rest and not forbidden.reader:
        return None
    if rest and reader.kind == "cosines":
        return MadeChange(head, text(lang, "switchboard.adds_cosines"))
    before = answered.run.with_changes(*rest, draws=0).choices.after if rest else result.before
    form: Literal["head", "look"] = "look" if forbidden.reader else "head"
    return views.made_change(lang, reader, head, form, before, result.after)


def _measured(
    lang: Language, answered: Answering, effects: "Effects | None", leads: "Effects | None"
) -> str:
    """Sentences on all heads, as far as they are measured; "" for nothing yet."""
    answer, said = answered.run.reader, []
    if effects is not None:
        said.append(views.effects_sentence(lang, answer, effects))
    if leads is not None:
        said.append(views.leads_sentence(lang, answered.run.prepared, answer, leads))
    return " ".join(said)


def _offered_looks(
    shown: PageContext,
    answered: Answering,
    words: WordShares | None,
    off: tuple[Switch, ...],
    effects: "Effects | None",
    forbidden: Forbidden,
    cell: tuple[int, int] | None,
) -> tuple[tuple[OfferedLook, ...], str]:
    """(the looks that a click forbids, each once; why one may move more than its head, in words).

    None while one is forbidden.
    """
    if forbidden.name:
        return (), "" if off else _goes_on(shown, answered, effects, forbidden.edge)
    offered, said = None, ""
    if words is not None:
        offered, said = _offered_look(shown, answered, words, off, effects)
    own = _look_of_row(shown, answered, words, off, cell)
    if own and offered and replace(own, name=offered.name, note=offered.note) == offered:
        own = None  # chosen, and the strongest
    looks = [
        replace(look, note=look.note or _nothing(shown, look.head, look.query, look.key))
        for look in (offered, own)
        if look is not None
    ]
    return tuple(looks), said


def _offered_look(
    shown: PageContext,
    answered: Answering,
    words: WordShares,
    off: tuple[Switch, ...],
    effects: "Effects | None",
) -> tuple[OfferedLook | None, str]:
    """(the look that may be forbidden at a click, why it may move the answer more than its head).

    It is the strongest one of the head that is off; while all are on, of the last word's strong
    looks in all heads the one that moves the answer most.
    """
    if len(off) == 1:
        return _offered(words, words.strongest(off[0].head)), ""
    reader, is_asked = answered.run.reader, shown.captured.n_asked == 0
    if not answers.guesses(reader):
        return None, "" if off else answers.no_guess_sentence(shown.lang, reader)
    fits = reader.kind == "next_token" and is_asked and shown.size.all_at_once
    looks = strong_looks(group_data.stacked(shown.group)) if fits else []
    if off or effects is None or not looks:
        return None, ""
    cuts = answered.run.cuts(looks)
    head, _, key = cuts.edges[int(np.argmax(cuts.moved))]
    offered = _offered(words, ForbiddenLook(str(head), key))
    if offered is not None:
        offered = replace(offered, note=views.look_note(shown.lang, cuts))
    return offered, _goes_on(shown, answered, effects, cuts.edges[int(np.argmax(cuts.moved))])


def _goes_on(
    shown: PageContext,
    answered: Answering,
    effects: "Effects | None",
    edge: tuple[Site, int, int] | None,
) -> str:
    """A sentence on why a look moves more than its whole head; "" where it does not.

    The same look with its weight at 0 and the rest of its row as it is says how much of that comes
    from the rest, which otherwise grows.
    """
    if effects is None or edge is None or answered.run.reader.kind != "next_token":
        return ""
    (head, query, key), group = edge, shown.group
    grown, kept = (
        float(answered.run.cuts([edge], renormalise=grows).moved[0]) for grows in (True, False)
    )
    moved = grown, abs(effects.of(head)), kept
    row = group.calls[head.layer].weights(head.head, batch=group.row(head.layer))[query].clone()
    row[key] = 0
    word = word_at(shown.lang, group_data.keys(group).labels, int(row.argmax()))
    return views.look_goes_on(shown.lang, head, moved, word)


def _look_of_row(
    shown: PageContext,
    answered: Answering,
    words: WordShares | None,
    off: tuple[Switch, ...],
    cell: tuple[int, int] | None,
) -> OfferedLook | None:
    """The look at the chosen cell in the head that is off, or the chosen one.

    None if there is none. In the row that makes the answer, whose looks the words offer, a key has
    to be chosen.
    """
    answers_here = words is not None and cell is not None and words.query() == cell[0]
    if cell is None or len(off) > 1 or (answers_here and current.view().place.key is None):
        return None
    layer, head = shown.size.nearest_head(*current.view().place.layer_and_head)
    chosen = Site(layer, head, shown.group.kind, shown.group.stack)
    site = Site.parse(off[0].head) if off else chosen
    if site is None or (site.kind, site.stack) != (chosen.kind, chosen.stack):
        return None
    forbidden = _cell_forbidden(shown, answered, site, *cell)
    return OfferedLook(str(site), *cell, forbidden.name) if forbidden.name else None


def _offered(words: WordShares, look: ForbiddenLook) -> OfferedLook | None:
    """A look of the row that makes the answer, as the page offers it."""
    if look.key is None:
        return None
    return OfferedLook(look.head, words.query(), look.key, words.name(look))


def _n_controls(answered: Answering) -> int:
    """The number of control draws that fit into the time that a click may take."""
    return max(MIN_CONTROLS, min(MAX_CONTROLS, int(CONTROL_MS / max(answered.pass_ms, 1.0))))


def _written(
    shown: PageContext, answered: Answering, changes: "tuple[Change, ...]"
) -> tuple[str, str] | None:
    """The texts with all heads on and with the changes; None if the model does not write."""
    from attnviz.experiment.changed_run import continued

    if answered.run.reader.kind not in ("next_token", "target"):
        return None
    n_tokens = (
        N_WRITTEN
        if answered.run.reader.kind == "next_token"
        else 2 * len(answered.run.reader.names or ()) + 4
    )
    n_tokens = min(n_tokens, shown.captured.model.max_tokens - answered.run.prepared.n_token)
    if n_tokens < 1:
        return None
    before = answered.written(n_tokens)
    return before, continued(answered.run.prepared, changes, n_tokens) if changes else before


def _take(take: Callable[[str], bool], sent: object) -> None:
    """Store what a visitor has switched; the board and the links run again."""
    if isinstance(sent, str) and take(sent):
        _run_again()


def _forbid(extent: Extent, sent: object) -> None:
    """Forbid the look of a cell, as Look and Start do."""
    question = parse_question(sent, extent)
    if question is not None:
        current.take_question(question)
        _run_again()


def _run_again() -> None:
    """After a canvas has changed the view: the board, the links, and what the page asks for."""
    renew_links(FRAGMENT, *widgets.rerun_with_page())
