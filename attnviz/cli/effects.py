"""`attnviz effects`: what each head does to the answer, measured by taking it away.

In: a text, the next token whose score is read, and a model. Out: the heads whose absence changes it
most, on stdout.
"""

import argparse

import attnviz
from attnviz.cli import inputs, output
from attnviz.cli.command import Command, Refused
from attnviz.cli.output import json_line

MODEL = "stories"  # the default: a decoder, which says a next token
TOP = 8


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("text", metavar="TEXT", help="the text; - reads it from standard input")
    add(
        "--next", required=True, metavar="TOKEN", help="the token whose score is read, e.g. ' ball'"
    )
    add("--against", metavar="TOKEN", help="the token that it is compared with")
    add(
        "--to",
        default="mean",
        metavar="NAME",
        help="mean, resample or zero in its place (mean); even: its attention",
    )
    add("--model", default=MODEL, metavar="NAME", help=f"listed name, hub id, folder ({MODEL})")
    add("--top", type=int, default=TOP, metavar="N", help=f"how many heads are listed ({TOP})")
    add("--json", action="store_true", help="print JSON, with every head")


def run(arguments: argparse.Namespace) -> int:
    """Take each head away, and print those that matter most."""
    if arguments.top < 1:
        raise Refused(f"--top must be at least 1, not {arguments.top}")
    lm = attnviz.load(arguments.model)
    on = attnviz.NextToken(arguments.next, against=arguments.against)
    text = inputs.text(arguments.text)
    effects = attnviz.experiment(lm, text, on=on).effects(to=arguments.to, progress=_progress)
    if arguments.json:
        heads = [{"head": str(head), "change": effects.of(head)} for head in effects.order]
        print(json_line({"before": effects.before, "unit": effects.unit, "heads": heads}))
    else:
        rows = [(str(head), f"{effects.of(head):+.3f}") for head in effects.order[: arguments.top]]
        print(f"{effects.before:.3f} {effects.unit} with every head; without one of them:")
        print(output.columns([("head", "change"), *rows]))
    return 0


def _progress(fraction: float) -> None:
    output.progress(f"{fraction:4.0%}", is_last=fraction >= 1)


COMMAND = Command(
    name="effects",
    group="look at attention",
    usage="TEXT --next TOKEN [options]",
    help="take each head away and see what it does to the answer",
    examples=('attnviz effects "Lily gave the red ball to Tom. Tom gave the red" --next " ball"',),
    declare=declare,
    run=run,
)
