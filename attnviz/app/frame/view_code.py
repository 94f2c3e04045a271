"""Python that gives the numbers of a page, from its text or from a saved capture.

In: what is shown, and the page. Out: lines to run; a test runs those of every page. A text is
captured again; pictures, sounds, sampling and uploads are in the saved capture alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from attnviz.app.session import current, store
from attnviz.pictures.group.app_capture import PageContext
from attnviz.pictures.shared.pages import Door
from attnviz.types import HeadId

Options = dict[str, str | int]
PAIR_LINES = "pair_lines"  # what a visitor pasted, in the session


@dataclass(frozen=True)
class CodeSource:
    """A name of the code, and where its capture comes from: a file, or a model and its texts."""

    name: str
    file: str
    model: str = ""
    texts: tuple[str, ...] = ()
    options: Options | None = None  # of `attnviz.capture`; None where the file is needed

    def lines(self) -> list[str]:
        """The lines that make the capture."""
        if self.options is None:
            return [f"{self.name} = attnviz.read({self.file!r})"]
        texts = repr(self.texts[0] if len(self.texts) == 1 else list(self.texts))
        return [
            f"lm = attnviz.load({self.model!r})",
            f"{self.name} = attnviz.capture(lm, {texts}{self.arguments})",
        ]

    @property
    def arguments(self) -> str:
        """The options that are set, as they stand in a call."""
        options = self.options or {}
        return "".join(f", {name}={value!r}" for name, value in options.items() if value)


def of_left(shown: PageContext, file: str, page: Door) -> CodeSource:
    """The capture of the view; on Masks both sentences are in one batch."""
    request = shown.captured.request
    name, texts = "a" if page == "compare" else "cap", () if request is None else request.text
    return CodeSource(name, file, shown.captured.name, texts, _options(shown))


def of_right(shown: PageContext, file: str, text: str) -> CodeSource:
    """The capture of Compare's right side, which a text alone determines in some models."""
    loaded = shown.captured.loaded
    is_text = loaded is not None and loaded.kind in ("encoder", "decoder")
    options = _options(shown) if is_text else None
    return CodeSource("b", file, shown.captured.name, (text,), options)


def code(
    shown: PageContext, page: Door, head: HeadId, sources: Sequence[CodeSource], changes: str
) -> str:
    """The program; `changes` is what is off and forbidden on Change."""
    captures = [line for source in sources for line in source.lines()]
    return "\n".join(
        ["import attnviz", "", *captures, *_numbers(shown, page, head, sources[0], changes)]
    )


def _numbers(
    shown: PageContext, page: Door, head: HeadId, source: CodeSource, changes: str
) -> list[str]:
    """The lines that take the numbers of a page out of its captures."""
    place = _place(shown)
    if page == "overview" and not current.view().drawing.open:
        if not shown.group.uneven:
            return [f"weights = cap.all_weights({place.removeprefix(', ')})"]
        layers = f"range({shown.group.n_layers})"
        return [f"weights = [cap.weights(layer{place}) for layer in {layers}]"]
    if page == "compare":
        right = current.view().right
        layer = head.layer if right.layer is None else right.layer
        other = HeadId(layer, head.head if right.head is None else right.head)
        return [f"weights = a.weights({str(head)!r}{place}), b.weights({str(other)!r}{place})"]
    if page == "switches":
        return _of_change(shown, source, changes)
    if page == "map":
        return _places(shown, head, source)
    if page in OF_MODEL and source.options is not None:
        return OF_MODEL[page](shown)
    if page in ("steps", "masks") and not shown.group.own_code(head.layer):
        return _stages(page, head, place)
    return [f"weights = cap.weights({str(head)!r}{place})"]


def _of_change(shown: PageContext, source: CodeSource, changes: str) -> list[str]:
    """The answer without the heads that are off; the paths and the whole answer where shown."""
    view = current.view()
    lines = _without_heads(source, changes)
    if view.circuit.paths:
        lines += _paths(shown, source)
    if view.output.shown and source.options is not None:
        answer = "logits" if shown.captured.capture.logits is not None else "hidden"
        lines.append(f"{answer} = cap.{answer}")
    return lines


def _pairs(_: PageContext) -> list[str]:
    """The question of Pairs, asked of the example or of pasted lines that were kept in a file."""
    pairs = "sample_pairs(lm)"
    imports = ["from attnviz.corpus.samples import sample_pairs"]
    if store.has(PAIR_LINES):
        pairs = 'read_pairs(Path("pairs.txt").read_text())'
        imports = ["from pathlib import Path"]
    ask, solved = current.view().pairs.ask, current.view().pairs.solved
    names = "asked, read_pairs" if store.has(PAIR_LINES) else "asked"
    slots = "slots={'difference': DifferenceSlot(), 'last': -1}" if ask == "patching" else ""
    if slots:
        imports.append("from attnviz.experiment import DifferenceSlot")
    return [
        *imports,
        f"from attnviz.experiment.pair_lines import {names}",
        f"run = attnviz.experiment(lm, *asked(lm, {pairs}))",
        f"result = run{'.only_solved()' if solved else ''}.{ask}({slots})",
    ]


def _survey(shown: PageContext) -> list[str]:
    """The survey of the model's own texts: the one that comes with it, or counted."""
    from attnviz.corpus.embedded import counted_weights

    loaded = shown.captured.loaded
    table = "table, roles = survey.table(), survey.roles()"
    if loaded is not None and loaded.name in counted_weights():
        return ["survey = attnviz.survey(lm)", table]
    return [
        "from attnviz.corpus.samples import sample_texts",
        "survey = attnviz.survey(lm, sample_texts(lm)[:512])",
        table,
    ]


# the pages whose numbers are of the model and not of the capture
OF_MODEL: dict[Door, Callable[[PageContext], list[str]]] = {
    "atlas": _survey,
    "pairs": _pairs,
    "weights": lambda _: ["circuits = attnviz.circuits(lm)"],
}


def _paths(shown: PageContext, source: CodeSource) -> list[str]:
    """The line for the paths between heads; like the page, it leaves out what was generated."""
    options, loaded = source.options, shown.captured.loaded
    is_translation = loaded is not None and loaded.kind == "encoder-decoder"
    if options is None or (is_translation and not options["target"]):
        return []
    typed = replace(source, options=options | {"generate": 0})
    run = f"attnviz.experiment(lm, {typed.texts[0]!r}{typed.arguments})"
    return [f"paths = {run}.paths()"]


def _places(shown: PageContext, head: HeadId, source: CodeSource) -> list[str]:
    """The planes of the page's own texts, and the places of the capture in them."""
    if source.options is None:
        return [f"weights = cap.weights({str(head)!r}{_place(shown)})"]
    return [
        "from attnviz.corpus.samples import map_texts",
        "maps = attnviz.embed(lm, map_texts(lm))",
        f"places = maps.place(cap).queries[maps.row({str(head)!r})]",
    ]


def _place(shown: PageContext) -> str:
    """The arguments that choose the attention, where it is not the first."""
    group = shown.group
    kind = "" if group.kind == "self" else f", kind={group.kind!r}"
    stack = "" if group.stack is None else f", stack={group.stack!r}"
    return f"{kind}{stack}"


def _stages(page: Door, head: HeadId, place: str) -> list[str]:
    """The steps of a head, with the edits of Steps or under the masks of Masks."""
    drawing = current.view().drawing
    call = f"call = cap.call({head.layer}{place})"
    if page == "steps" and drawing.edits:
        return [
            "from attnviz.attention import edits",
            call,
            f"steps = attnviz.derive(call, {head.head}, edits=edits.parse({drawing.edits!r}))",
        ]
    if page == "masks" and drawing.masks:
        return [
            "import torch",
            "from attnviz.masks import combine, named, spec",
            call,
            "attended = torch.as_tensor(~cap.key_tokens(call).padding)",
            f"masks = named(spec.parse({drawing.masks!r}), call.n_query, attended)",
            "everything = torch.ones(call.n_query, call.n_key, dtype=torch.bool)",
            f"steps = attnviz.derive(call, {head.head}, mask=combine(everything, *masks.values()))",
        ]
    return [f"steps = cap.head({str(head)!r}{place})"]


def _without_heads(source: CodeSource, changes: str) -> list[str]:
    """The capture of the model with heads switched off and a look forbidden."""
    if source.options is None or not changes:
        return []
    switched = f"changes=parse({changes!r})"
    return [
        "from attnviz.changes import parse",
        f"off = attnviz.capture(lm, {source.texts[0]!r}{source.arguments}, {switched})",
    ]


def _options(shown: PageContext) -> Options | None:
    """The arguments of `attnviz.capture` besides a text; None where a text is not all.

    That is so of pictures, sounds, sampling, uploaded texts and captures.
    """
    request = shown.captured.request
    if request is None or request.kind != "text" or current.view().input.file:
        return None
    generation = request.generation
    if generation is not None and generation.temperature:
        return None
    return {
        "target": request.target[0] if request.target else "",
        "generate": 0 if generation is None else generation.n_tokens,
        "cut": request.cut,
        "chat": request.chat,
    }
