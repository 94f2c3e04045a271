"""`attnviz capture`: the weights of one head, or of all heads of a layer, for one input.

In: a text, a picture or a sound, and a model; or a saved capture. Out: tables or JSON on stdout,
and a file where one was asked for; exit code 1 if the numbers differ from the model's own by more
than the tolerance.
"""

import argparse
from typing import TYPE_CHECKING, NamedTuple

from attnviz.cli import inputs, output, save
from attnviz.cli.command import Command
from attnviz.cli.output import json_line

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall
    from attnviz.attention.capture import Capture
    from attnviz.attention.verification import Verification

ALL = "all"
UNRELIABLE = 1
# a table with more columns does not fit a terminal: the strongest keys are listed instead
WIDE_TABLE = 16


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    inputs.declare(parser)
    add = parser.add_argument_group("head").add_argument
    add("--layer", type=int, metavar="N", help="layer, counted from 0 (the first that is kept)")
    add("--head", type=_head, metavar="N", help="head, counted from 0, or all (the first kept)")
    add("--stack", metavar="NAME", help="one of several stacks, e.g. decoder")
    add("--kind", default="self", metavar="KIND", help="self or cross attention (self)")
    add = parser.add_argument_group("output").add_argument
    add("--json", action="store_true", help="print JSON, with every weight")
    add("--out", metavar="FILE", help="save it, too: .safetensors is the capture, see attnviz save")
    add("--overwrite", action="store_true", help="replace a file that exists")


def _head(value: str) -> int | str:
    """The type of `--head`: argparse names it in the message for anything else."""
    return ALL if value == ALL else int(value)


_head.__name__ = "number of a head"


# --- output ------------------------------------------------------------------------------------


class PrintedHeads(NamedTuple):
    """The heads of one call that are printed, with their weights [head][query][key]."""

    captured: "Capture"
    call: "AttentionCall"
    layer: int
    heads: tuple[int, ...]
    weights: list[list[list[float]]]
    verification: "Verification"

    @property
    def queries(self) -> list[str]:
        """The labels of the tokens that ask."""
        return list(self.captured.query_tokens(self.call).labels)

    @property
    def keys(self) -> list[str]:
        """The labels of the tokens that answer."""
        return list(self.captured.key_tokens(self.call).labels)


def run(arguments: argparse.Namespace) -> int:
    """Capture, print the weights, and compare with the model's own numbers."""
    if arguments.out is not None:
        save.require_new(arguments.out, arguments.overwrite)
    model, captured = inputs.captured(arguments)
    call = captured.call(_layer(captured, arguments), arguments.kind, arguments.stack)
    head = call.kept_heads[0] if arguments.head is None else arguments.head
    heads = tuple(call.kept_heads) if head == ALL else (head,)
    weights = [call.weights(head).tolist() for head in heads]
    shown = PrintedHeads(captured, call, call.layer, heads, weights, captured.verify())
    if arguments.json:
        print(_json(model, shown, head))
    else:
        print(_text(model, shown))
    if arguments.out is not None:
        one = None if head == ALL else head
        save.beside(captured, arguments.out, call.layer, one, arguments)
    return 0 if shown.verification.ok else UNRELIABLE


def _layer(captured: "Capture", arguments: argparse.Namespace) -> int:
    """The layer that was asked for, or the first one of the kind and stack that is kept."""
    if arguments.layer is not None:
        return int(arguments.layer)
    kind, stack = arguments.kind, arguments.stack
    fits = (c.layer for c in captured.calls if c.kind == kind and stack in (None, c.stack))
    return next(fits, 0)


def _json(model: str, shown: PrintedHeads, head: int | str) -> str:
    """One object; `weights` is [query][key], or [head][query][key] for all `heads`."""
    from dataclasses import asdict

    checked = shown.verification
    report = {
        "model": model,
        "tokens": shown.queries,
        "key_tokens": shown.keys,
        "stack": shown.call.stack,
        "kind": shown.call.kind,
        "layer": shown.layer,
        "head": head,
        **({"heads": list(shown.heads)} if head == ALL else {}),
        "weights": shown.weights if head == ALL else shown.weights[0],
        "verify": {
            "ok": checked.ok,
            "worst": asdict(checked.worst) if checked.worst else None,
            "errors": checked.errors,
        },
    }
    return json_line(report)


def _text(model: str, shown: PrintedHeads) -> str:
    """A table for each head, and how far the numbers are from the model's own."""
    size = f"{shown.captured.n_layers} layers, {shown.call.n_heads} heads"
    lines = [f"{model}: {len(shown.queries)} tokens, {size}", "tokens: " + " ".join(shown.queries)]
    if shown.call.kind == "cross":
        lines.append("keys: " + " ".join(shown.keys))
    table = output.strongest if len(shown.keys) > WIDE_TABLE else output.weights
    for head, weights in zip(shown.heads, shown.weights, strict=True):
        lines.append(f"\nweights of L{shown.layer}.H{head}: a row asks, a column answers")
        lines.append(table(shown.queries, shown.keys, weights))
    return "\n".join([*lines, "\n" + _check(shown.verification)])


def _check(verification: "Verification") -> str:
    """A line with the largest difference between the derived numbers and the model's own."""
    worst = verification.worst
    if worst is None:
        return "not compared: only the weights are known"
    word = "verified" if verification.ok else "NOT RELIABLE"
    return f"{word}: max |ours - model| = {worst.error:.2g}, tolerance {worst.tolerance:.2g}"


COMMAND = Command(
    name="capture",
    group="look at attention",
    usage="[TEXT] [options]",
    help="run a model on a text and print the weights of a head",
    examples=(
        'attnviz capture "The cat sat" --layer 0 --head 2',
        'attnviz capture "I like red cars." --model translator --target "j\' aime"'
        " --stack decoder --kind cross",
        'attnviz capture "Lily gave the red ball to" --model stories --generate 3',
        "attnviz capture --model shapes --image photo.png --head all",
        "attnviz capture - --cut --json < letter.txt > weights.json",
        'attnviz capture "The cat sat" --keep L3,L5.H11 --out some.safetensors',
        "attnviz capture --from run.safetensors --layer 5 --head 11",
    ),
    declare=declare,
    run=run,
)
