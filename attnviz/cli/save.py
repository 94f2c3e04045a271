"""`attnviz save`: a capture as a file: itself, a page, its numbers, or a figure for print.

In: a text and a model, or a saved capture; the ending of the file says what is written. Out: the
file, and its name on stdout; exit code 1 if the numbers differ from the model's own by more than
the tolerance.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attnviz
from attnviz.cli import inputs
from attnviz.cli.command import Command, Refused
from attnviz.cli.output import json_line

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture

UNRELIABLE = 1
# the argument of `attnviz.save` by the name that argparse keeps it under
CHOICES = {
    "head": "head", "kind": "kind", "stack": "stack", "batch": "batch", "least": "least",
    "with_weights": "with_weights", "with_outputs": "with_outputs", "view": "view",
    "width": "width_in", "size": "size_pt", "scale": "scale", "cells": "cells", "title": "title",
    "lang": "lang", "live": "live",
}  # fmt: skip


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    inputs.declare(parser)
    add = parser.add_argument_group("file").add_argument
    add(
        "-o", "--out", required=True, metavar="FILE",
        help=".safetensors (the capture), .html (a page), .npz .csv .json (numbers), .svg .pdf .png"
        " .eps (figures)",
    )  # fmt: skip
    add("--overwrite", action="store_true", help="replace a file that exists")
    add("--json", action="store_true", help="print JSON about what was written")
    add = parser.add_argument_group("numbers and figures").add_argument
    add("--head", metavar="HEAD", help="one head, e.g. L5.H11")
    add("--kind", metavar="KIND", help="self or cross attention")
    add("--stack", metavar="NAME", help="one of several stacks, e.g. decoder")
    add("--batch", type=int, metavar="N", help="the text of a saved batch, counted from 0 (0)")
    add("--least", type=float, metavar="W", help="the smallest weight with a row in a CSV")
    add = parser.add_argument_group("figures").add_argument
    add("--view", metavar="VIEW", help="heads, head, lines, steps or alignment")
    add("--width", type=float, metavar="IN", help="width in inches (3.25; heads, steps: 6.75)")
    add("--size", type=float, metavar="PT", help="size of the labels in points")
    add("--scale", metavar="SCALE", help="weights to colours: sqrt, linear or log (sqrt)")
    add("--cells", metavar="CELLS", help="image, or vector for up to 64 tokens (image)")
    add("--title", metavar="TEXT", help="a title above the figure or the page")
    add = declare_page(parser)
    add("--live", action="store_true", help="a page on which the model runs, and one can type")
    add = parser.add_argument_group("captures").add_argument
    add("--half", action="store_true", help="keep numbers as float16, also in an .npz")
    add("--with-weights", action="store_true", help="keep W_Q, W_K, W_V and W_O: all steps")
    add("--with-outputs", action="store_true", help="keep the logits and the last hidden state")


def declare_page(parser: argparse.ArgumentParser) -> Callable[..., argparse.Action]:
    """Add the arguments of a page; returns what adds more of them."""
    add = parser.add_argument_group("pages").add_argument
    add("--heads", metavar="HEADS", help="those with Steps: L5.H11,L0.H2 or all (L0.H0)")
    add("--lang", metavar="LANG", help="language of a page: en, ja, ko or zh (en)")
    return add


def heads(argument: str | None) -> dict[str, Any]:
    """The heads of a page, as `attnviz.save` takes them; nothing where none were named."""
    if argument is None:
        return {}
    return {"heads": "all" if argument == "all" else argument.split(",")}


def run(arguments: argparse.Namespace) -> int:
    """Write the file, and print its name."""
    require_new(arguments.out, arguments.overwrite)
    _, cap = inputs.captured(arguments)
    path = attnviz.save(cap, arguments.out, **_choices(arguments))
    verification = cap.verify()
    if arguments.json:
        report = {"file": str(path), "bytes": path.stat().st_size, "ok": verification.ok}
        print(json_line(report))
    else:
        print(f"{path}: {path.stat().st_size:,} bytes")
    return 0 if verification.ok else UNRELIABLE


def require_new(path: str, overwrite: bool) -> None:
    """Raise `Refused` for a file that exists, before anything is computed."""
    if Path(path).exists() and not overwrite:
        raise Refused(f"{path} exists; add --overwrite to replace it, or give another name")


def beside(cap: "Capture", path: str, layer: int, head: int | None, options: Any) -> None:
    """Save what `attnviz capture` prints, too: the capture itself, or its head in another form."""
    place: dict[str, Any] = {}
    if Path(path).suffix.lower() == ".html":
        place = {} if head is None else {"heads": [(layer, head)]}
    elif Path(path).suffix.lower() != ".safetensors":
        place = {"kind": options.kind, "stack": options.stack}
        place |= {} if head is None else {"head": (layer, head)}
    attnviz.save(cap, path, **place)


def _choices(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `attnviz.save`: those that were given."""
    values = {name: getattr(arguments, option) for option, name in CHOICES.items()}
    chosen = {name: value for name, value in values.items() if value not in (None, False)}
    return chosen | heads(arguments.heads) | ({"dtype": "float16"} if arguments.half else {})


COMMAND = Command(
    name="save",
    group="look at attention",
    usage="[TEXT] -o FILE [options]",
    help="write a capture, a page, numbers or a figure to a file",
    examples=(
        'attnviz save "The cat sat" -o cat.safetensors',
        "attnviz save --from cat.safetensors -o head.pdf --head L5.H11 --width 3.25",
        "attnviz save --from cat.safetensors -o steps.svg --head L5.H11 --view steps",
        'attnviz save "The cat sat" -o cat.csv --least 0.01',
        'attnviz save "The cat sat" -o cat.html --heads L5.H11',
        'attnviz save "Once upon a time" --model stories -o live.html --live',
    ),
    declare=declare,
    run=run,
)
