"""`attnviz capture`: the weights of one head, or of all heads of a layer, for one input.

In: a text, a picture or a sound, and a model. Out: tables or JSON on stdout; exit code 1 if the
numbers differ from the model's own by more than the tolerance.
"""

import argparse
import json
import math
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import attnviz
from attnviz.cli import files, tables
from attnviz.cli.command import Command, Refused
from attnviz.errors import BadInput

if TYPE_CHECKING:
    from attnviz.attention.call import AttentionCall
    from attnviz.attention.capture import Capture
    from attnviz.attention.verification import Verification
    from attnviz.models.loaded import LoadedModel

ALL = "all"
UNRELIABLE = 1
# a table with more columns does not fit a terminal: the strongest keys are listed instead
WIDE_TABLE = 16
INPUTS = {"image", "sound"}  # what a model may read besides a text
NOTHING_TO_READ = ("what_to_capture", "nothing_to_read")  # the codes of an error that says so
NOTHING_GIVEN = "give a text, - to read one from standard input, --image FILE or --sound FILE"


# --- arguments ---------------------------------------------------------------------------------


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument_group("input").add_argument
    add("text", nargs="?", metavar="TEXT", help="the text; - reads it from standard input")
    add("--pair", metavar="TEXT", help="a second text, for models that take a pair")
    add("--target", metavar="TEXT", help="the text that an encoder-decoder writes, or a transcript")
    add("--image", metavar="FILE", help="a picture, for models that see")
    add("--sound", metavar="FILE", help="a WAV file, for models that hear")
    add("--generate", type=int, metavar="N", help="let the model write N tokens first")
    add("--chat", action="store_true", help="give the text as a message, in the model's template")
    add("--cut", action="store_true", help="keep the beginning of a text that is too long")
    add = parser.add_argument_group("model").add_argument
    add("--model", default="minilm", metavar="NAME", help="listed name, hub id, folder (minilm)")
    add("--revision", metavar="NAME", help="branch, tag or commit of a hub model")
    add("--device", metavar="NAME", help="where it computes, e.g. cuda (cpu)")
    add("--dtype", metavar="NAME", help="float32, float16 or bfloat16 (float32)")
    add = parser.add_argument_group("head").add_argument
    add("--layer", type=int, default=0, metavar="N", help="layer, counted from 0 (0)")
    add("--head", type=_head, default=0, metavar="N", help="head, counted from 0, or all (0)")
    add("--stack", metavar="NAME", help="one of several stacks, e.g. decoder")
    add("--kind", default="self", metavar="KIND", help="self or cross attention (self)")
    add = parser.add_argument_group("output").add_argument
    add("--json", action="store_true", help="print JSON, with every weight")


def _head(value: str) -> int | str:
    """The type of `--head`: argparse names it in the message for anything else."""
    return ALL if value == ALL else int(value)


_head.__name__ = "number of a head"


def _captured(model: "LoadedModel", arguments: argparse.Namespace) -> "Capture":
    text, options = files.text(arguments.text), _options(arguments)
    try:
        return attnviz.capture(model, text, **options)
    except BadInput as error:
        if error.code in NOTHING_TO_READ and text is None and not INPUTS & options.keys():
            raise Refused(f"{model.name} has nothing to read: {NOTHING_GIVEN}") from error
        raise


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `attnviz.capture` besides the text: those that were given."""
    options = {
        "text_pair": arguments.pair,
        "target": arguments.target,
        "generate": arguments.generate,
        "chat": arguments.chat or None,
        "cut": arguments.cut or None,
        "image": None if arguments.image is None else files.picture(arguments.image),
        "sound": None if arguments.sound is None else files.sound(arguments.sound),
    }
    return {name: value for name, value in options.items() if value is not None}


# --- output ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PrintedHeads:
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
    model = attnviz.load(
        arguments.model,
        device=arguments.device,
        dtype=arguments.dtype,
        revision=arguments.revision,
    )
    if model.notice:
        print(f"attnviz: {model.notice}", file=sys.stderr)
    captured = _captured(model, arguments)
    call = captured.call(arguments.layer, arguments.kind, arguments.stack)
    heads = tuple(range(call.n_heads)) if arguments.head == ALL else (arguments.head,)
    weights = [call.weights(head).tolist() for head in heads]
    shown = PrintedHeads(captured, call, arguments.layer, heads, weights, captured.verify())
    if arguments.json:
        print(_json(model.name, shown, arguments.head))
    else:
        print(_text(model.name, shown))
    return 0 if shown.verification.ok else UNRELIABLE


def _json(model: str, shown: PrintedHeads, head: int | str) -> str:
    """One object; `weights` is [query][key], or [head][query][key] for all heads."""
    checked = shown.verification
    report = {
        "model": model,
        "tokens": shown.queries,
        "key_tokens": shown.keys,
        "stack": shown.call.stack,
        "kind": shown.call.kind,
        "layer": shown.layer,
        "head": head,
        "weights": shown.weights if head == ALL else shown.weights[0],
        "verify": {
            "ok": checked.ok,
            "worst": asdict(checked.worst) if checked.worst else None,
            "errors": checked.errors,
        },
    }
    return json.dumps(_finite(report), allow_nan=False)


def _finite(value: object) -> object:
    """The same value with null for every number that JSON cannot hold: NaN and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return value


def _text(model: str, shown: PrintedHeads) -> str:
    """A table for each head, and how far the numbers are from the model's own."""
    size = f"{shown.captured.n_layers} layers, {shown.call.n_heads} heads"
    lines = [f"{model}: {len(shown.queries)} tokens, {size}", "tokens: " + " ".join(shown.queries)]
    if shown.call.kind == "cross":
        lines.append("keys: " + " ".join(shown.keys))
    table = tables.strongest if len(shown.keys) > WIDE_TABLE else tables.weights
    for head, weights in zip(shown.heads, shown.weights, strict=True):
        lines.append(f"\nweights of L{shown.layer}.H{head}: a row asks, a column answers")
        lines.append(table(shown.queries, shown.keys, weights))
    return "\n".join([*lines, "\n" + _check(shown.verification)])


def _check(verification: "Verification") -> str:
    """How far the derived numbers are from the model's own."""
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
    ),
    declare=declare,
    run=run,
)
