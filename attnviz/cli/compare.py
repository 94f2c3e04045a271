"""`attnviz compare`: the heads that differ most between two texts, or two saved captures.

In: two texts and a model, or files of captures. Out: the share of attention that moved in each of
the first heads, on stdout, and a figure of one head where one was asked for; exit code 1 if the
numbers of a side differ from the model's own by more than the tolerance.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import attnviz
from attnviz.cli import inputs, output, save
from attnviz.cli.command import Command, Refused
from attnviz.cli.output import json_line

if TYPE_CHECKING:
    from attnviz.attention.capture import Capture

TOP = 8


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    for name in ("a", "b"):
        parser.add_argument(name, metavar=name.upper(), help="a text, or a .safetensors capture")
    add = parser.add_argument
    add("--model", default=inputs.DEFAULT_MODEL, metavar="NAME", help="that reads texts (minilm)")
    add("--top", type=int, default=TOP, metavar="N", help=f"how many heads are listed ({TOP})")
    add("--out", metavar="FILE", help="a figure of the head that differs most: .svg, .pdf, .png")
    add("--overwrite", action="store_true", help="replace a file that exists")
    add("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the heads that differ most, and draw the first of them."""
    if arguments.top < 1:
        raise Refused(f"--top is a number of heads from 1 on, not {arguments.top}")
    if arguments.out is not None:
        save.require_new(arguments.out, arguments.overwrite)
    a, b = (_side(text, arguments.model) for text in (arguments.a, arguments.b))
    heads = _moved(a, b)[: arguments.top]
    if arguments.json:
        print(json_line([{"head": head, "moved": share} for head, share in heads]))
    else:
        rows = [(head, f"{share:.3f}") for head, share in heads]
        print(output.columns([("head", "moved"), *rows]))
    if arguments.out is not None:
        attnviz.save((a, b), arguments.out, head=heads[0][0])
    return 0 if a.verify().ok and b.verify().ok else save.UNRELIABLE


def _side(argument: str, model: str) -> "Capture":
    """The capture of a text, or the one in a file."""
    if argument.endswith(".safetensors") and Path(argument).exists():
        from attnviz.files.capture_file import read as capture_file  # loads torch

        return capture_file.read(argument)
    return attnviz.capture(attnviz.load(model), argument)


def _moved(a: "Capture", b: "Capture") -> list[tuple[str, float]]:
    """Each head with the mean share of attention that moved, the largest first."""
    shapes = [
        [(call.layer, call.n_heads) for call in cap.calls if call.kind == "self"] for cap in (a, b)
    ]
    if shapes[0] != shapes[1]:
        raise Refused("the two captures have other layers and heads; compare those of one model")
    axis = attnviz.compare.pair(a.tokens, b.tokens, a.model.id == b.model.id).slots
    by_row = attnviz.compare.moved_by_head(a.all_weights(), b.all_weights(), axis, axis)
    shares = attnviz.compare.mean_moved(by_row)
    places = [(layer, head) for layer in range(len(shares)) for head in range(shares.shape[1])]
    places.sort(key=lambda place: -float(shares[place]))
    return [(f"L{layer}.H{head}", float(shares[layer, head])) for layer, head in places]


COMMAND = Command(
    name="compare",
    group="look at attention",
    usage="A B [options]",
    help="list the heads that differ most between two texts",
    examples=(
        'attnviz compare "it was too tired" "it was too wide"',
        "attnviz compare before.safetensors after.safetensors --out difference.svg",
    ),
    declare=declare,
    run=run,
)
