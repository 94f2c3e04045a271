"""The menus of the bar: what the model reads and which model it is; the app itself.

In: the page and the language. Out: widgets that show the current `View` and change it. A widget
never holds a value of its own: it is told what to show before it appears, and its callback puts
what the visitor did into the view.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from attnviz.app.bar import own_files, palette
from attnviz.app.host.draw import draw
from attnviz.app.server import sources
from attnviz.app.session import address, current, model_cards, routes, view_request, widgets
from attnviz.app.session.messages import plain
from attnviz.app.session.model_cards import reads_text
from attnviz.i18n import LANGUAGES, Language, is_beta, text, with_terms
from attnviz.models.registry import REGISTRY
from attnviz.pictures import theme_switch
from attnviz.pictures.group.titles import model_title
from attnviz.pictures.shared import numbers
from attnviz.pictures.shared.pages import Page
from attnviz.teach.lessons.cards.symbols import with_formulas

OTHER = ""  # in the list of models: one that is named in a box of its own


def model(lang: Language, page: Page) -> None:
    """The menu under the model's name: model, input, generation; none on pages without a model."""
    if current.door(page) in routes.WITHOUT_MODEL:
        return
    opened = current.view()
    if opened.input.capture:
        title = text(lang, "opened.file")
    else:
        title = plain(model_title(lang, opened.model)) or text(lang, "menu.model")
    with st.popover(title, type="tertiary", key=widgets.key("menu.model")):
        if not own_files.open_capture_replaces(lang):
            _model(lang)
            _input(lang)
            _generating(lang)


def more(lang: Language, page: Page) -> None:
    """The menu of the app: the palette, what is shown, a capture, language, light or dark."""
    with st.popover(text(lang, "bar.more"), type="tertiary", key=widgets.key("menu.more")):
        palette.door(lang)
        with st.expander(text(lang, "explain.label"), key=widgets.key("explain")):
            over = (other for other in current.opened(page) if other != "head")
            parts = [  # of an open head its page tells
                text(lang, f"page.{shown}.{part}")
                for shown in dict.fromkeys((current.door(page), *over))
                for part in ("intro", "explain")
            ]
            st.markdown(with_terms(lang, with_formulas("\n\n".join(parts))))
        if current.door(page) not in routes.WITHOUT_MODEL:
            own_files.capture_upload(lang)
        _language(lang)
        view = theme_switch.ThemeSwitchView()
        draw(theme_switch.CANVAS, view, "theme_switch", lang, remounts=False)


def _input(lang: Language) -> None:
    card = model_cards.card(current.view().model)
    if reads_text(card):
        own_files.text_upload(lang)
        _chat_switch(lang)
    elif card is not None and card.kind == "module":
        st.markdown(text(lang, f"model.{card.name}.input"))


def _chat_switch(lang: Language) -> None:
    """A switch for the chat template; nothing if the model has none."""
    view = current.view()
    card = model_cards.card(view.model)
    if card is None or not card.takes_messages:
        return
    st.toggle(
        text(lang, "menu.chat"),
        key=widgets.showing("chat", view.input.chat),
        help=text(lang, "menu.chat_help"),
        on_change=_take_chat,
    )


def _take_chat() -> None:
    view = current.view()
    read = replace(view.input, chat=bool(widgets.value("chat")), cut=False)
    current.update(replace(view, input=read, place=view.place.without_cell))


def _model(lang: Language) -> None:
    opened, listed = current.view().model, [*REGISTRY, *sources.offered()]
    titles = {name: model_title(lang, name) for name in listed}
    counts = Counter(titles.values())  # two folders may have one name: then their paths stand there
    titles = {name: title if counts[title] == 1 else name for name, title in titles.items()}
    titles[OTHER] = text(lang, "menu.other_model")
    # the browser answers with a label: in another language it must be another widget
    widget = f"model.{lang}"
    st.selectbox(
        text(lang, "menu.model"),
        [*listed, OTHER],
        key=widgets.showing(widget, opened if opened in listed else OTHER),
        format_func=titles.__getitem__,
        on_change=_take_model,
        args=(widget,),
    )
    if opened not in listed:
        label = text(lang, "menu.model_name")
        name_box(lang, label, "model_name", opened, _take_model_name)
    _card(lang, opened)


def name_box(lang: Language, label: str, widget: str, named: str, take: Callable[[], None]) -> None:
    """A box for a model that is not in the list: a hub id, or a folder."""
    st.text_input(
        label,
        key=widgets.showing(widget, named),
        max_chars=address.MAX_NAME_CHARS,
        placeholder=text(lang, "menu.model_name_placeholder"),
        help=text(lang, "menu.model_name_help"),
        on_change=take,
    )


def _card(lang: Language, name: str) -> None:
    """The size and the licence of a model, once they are known."""
    card = model_cards.card(name)
    if card is None:
        return
    numbers = {
        "layers": card.layers,
        "heads": card.heads,
        "parameters": card.parameters,
    }
    if name in REGISTRY:
        key = "menu.module_card" if card.kind == "module" else "menu.model_card"
        caption = text(lang, key, licence=card.licence, **numbers)
        st.caption(caption, help=text(lang, f"model.{name}.description"))
    else:
        kind = text(lang, f"model_kind.{card.kind}")
        key = "menu.other_card" if card.heads else "menu.uneven_card"  # layers may differ
        st.caption(text(lang, key, kind=kind, **numbers))


def _take_model(widget: str) -> None:
    name = widgets.value(widget)
    if name in REGISTRY or name in sources.offered() or name == OTHER:
        current.open_model(name)


def _take_model_name() -> None:
    current.open_model(address.cleaned("model", widgets.value("model_name")))


def _generating(lang: Language) -> None:
    """The number of tokens to generate, and how they are sampled."""
    view = current.view()
    card = model_cards.card(view.model)
    if card is None or not (model_cards.generates(card) or card.transcribes):
        return
    n_tokens, typed = view.generating.n_tokens, view.input.target.strip()
    if not model_cards.generates(card):  # from a sound it always generates, greedily
        if not typed:
            n_tokens = n_tokens or view_request.N_HEARD
            _n_tokens(lang, 1, n_tokens, "menu.generate_heard_help")
        return
    if card.kind == "encoder-decoder" and typed:
        return
    _n_tokens(lang, 0, n_tokens, "menu.generate_help")
    _sampling(lang)


def _n_tokens(lang: Language, least: int, number: int, help_key: str) -> None:
    st.number_input(
        text(lang, "menu.generate"),
        min_value=least,
        max_value=numbers.MAX_WRITTEN,
        key=widgets.showing("generate", number),
        help=text(lang, help_key),
        on_change=_take_number,
        args=("generate",),
    )


def _sampling(lang: Language) -> None:
    """The controls, folded away; they shape the next-token distribution too."""
    generating = current.view().generating
    with st.expander(text(lang, "sampling.title"), key=widgets.key("sampling")):
        st.slider(
            text(lang, "sampling.temperature"),
            *numbers.FRACTIONS["temperature"],
            step=0.05,
            key=widgets.showing("temperature", generating.temperature),
            help=text(lang, "sampling.temperature_help"),
            on_change=_take_number,
            args=("temperature",),
        )
        off = generating.temperature == 0
        st.number_input(
            text(lang, "sampling.top_k"),
            min_value=0,
            max_value=numbers.COUNTS["top_k"],
            key=widgets.showing("top_k", generating.top_k),
            help=text(lang, "sampling.top_k_help"),
            on_change=_take_number,
            args=("top_k",),
            disabled=off,
        )
        st.slider(
            text(lang, "sampling.top_p"),
            *numbers.FRACTIONS["top_p"],
            step=0.01,
            key=widgets.showing("top_p", generating.top_p),
            help=text(lang, "sampling.top_p_help"),
            on_change=_take_number,
            args=("top_p",),
            disabled=off,
        )
        st.number_input(
            text(lang, "sampling.seed"),
            min_value=0,
            max_value=numbers.MAX_INDEX,
            key=widgets.showing("seed", generating.seed),
            help=text(lang, "sampling.seed_help"),
            on_change=_take_number,
            args=("seed",),
            disabled=off,
        )


def _take_number(name: str) -> None:
    """Take over the number in a widget that is named as its parameter."""
    current.take_number(name, widgets.value(name))


def _language(lang: Language) -> None:
    st.selectbox(
        text(lang, "language.label"),
        LANGUAGES,
        key=widgets.showing("lang", lang),
        format_func=_language_name,
        on_change=_take_language,
    )


def _take_language() -> None:
    """Take over a language; a message that no browser sends may name what is none."""
    chosen, _ = address.checked("lang", widgets.value("lang"))
    if chosen:
        current.take({"lang": chosen})


def _language_name(code: Language) -> str:
    """The language in itself; one that is not translated whole says so."""
    name = text(code, "language.name")
    return text(code, "language.beta", name=name) if is_beta(code) else name
