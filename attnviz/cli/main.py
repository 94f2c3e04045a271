"""The command line, ``attnviz app | models | capture | check | worksheet``: the library in a shell.

In: arguments. Out: text or JSON on stdout; what the user can mend goes to stderr with exit code 2.
Each command is one function here plus one entry in ``COMMANDS``. Neither torch nor streamlit is
imported before a command needs it, so that ``--help`` answers at once. This is the only module of
the package that prints.
"""

import argparse
import io
import json
import os
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attnviz
from attnviz import i18n
from attnviz.cli import tables
from attnviz.errors import AttnVizError, BadInput

if TYPE_CHECKING:
    from PIL.Image import Image

    from attnviz.attention.capture import Capture
    from attnviz.attention.verification import Verification
    from attnviz.audio.sound import Sound

WIDE_TABLE = (
    16  # more tokens than this do not fit a terminal: the strongest keys are listed instead
)


@dataclass(frozen=True)
class Command:
    """One command: its name, one line of help, how its arguments are declared, what runs it."""

    name: str
    help: str
    declare: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 0; 1 for numbers that are not reliable; 2 with a message on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    arguments = parser().parse_args(argv)
    try:
        return COMMANDS[arguments.command].run(arguments)
    except AttnVizError as error:
        print(f"attnviz: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = argparse.ArgumentParser(prog="attnviz", description="Look inside attention heads.")
    subparsers = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS.values():
        command.declare(
            subparsers.add_parser(command.name, help=command.help, description=command.help)
        )
    return top


# --- app ---------------------------------------------------------------------------------------


def _declare_app(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", type=int, default=8501, help="port to listen on (8501)")
    command.add_argument(
        "--address",
        default="127.0.0.1",
        help="address to listen on (127.0.0.1: this machine only; 0.0.0.0: all interfaces)",
    )


def _run_app(arguments: argparse.Namespace) -> int:
    problem = _port_problem(arguments.address, arguments.port)
    if problem:
        print(f"attnviz: {problem}", file=sys.stderr)
        return 2
    shown = "127.0.0.1" if arguments.address == "0.0.0.0" else arguments.address
    host = f"[{shown}]" if ":" in shown else shown
    print(f"attnviz: open http://{host}:{arguments.port} (stop with Ctrl+C)", flush=True)
    options = [f"--server.port={arguments.port}", f"--server.address={arguments.address}"]
    command = [sys.executable, "-m", "streamlit", "run", str(app_file()), *options]
    os.execv(sys.executable, command)


def app_file() -> Path:
    """The launcher: beside the package in a checkout, inside it in an installed wheel."""
    package = Path(attnviz.__file__).parent
    inside = package / "app.py"
    return inside if inside.is_file() else package.parent / "app.py"


def _port_problem(address: str, port: int) -> str | None:
    """Why nothing can listen there, with what to do; None when it can."""
    if not 1 <= port <= 65535:
        return f"a port is a number from 1 to 65535, not {port}"
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        socket.create_server((address, port), family=family).close()
    except OSError as error:
        number = error.errno or 0  # negative when the address is no address
        reason = os.strerror(number) if number > 0 else str(error)
        return (
            f"cannot listen on {address} port {port} ({reason}). Another program may be "
            f"using it: stop that one, or choose another port: make run PORT={port + 1}, "
            f"or attnviz app --port {port + 1}"
        )
    return None


# --- models ------------------------------------------------------------------------------------


def _declare_models(command: argparse.ArgumentParser) -> None:
    """It takes no arguments."""


def _run_models(_arguments: argparse.Namespace) -> int:
    head = ("name", "kind", "layers", "heads", "parameters", "MiB", "licence", "description")
    rows = [
        (
            card.name,
            card.kind,
            str(card.layers),
            str(card.heads),
            f"{card.parameters:,}",
            f"{card.size_mib:.0f}",
            card.licence,
            card.description,
        )
        for card in attnviz.models()
    ]
    print(tables.columns([head, *rows]))
    return 0


# --- capture -----------------------------------------------------------------------------------


def _declare_capture(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("text", nargs="?", help="the text; none for a model with its own inputs")
    add("--pair", help="a second text, for models that take a pair")
    add("--target", help="what an encoder-decoder is to have written")
    add("--image", metavar="FILE", help="a picture, for models that see")
    add("--sound", metavar="FILE", help="a WAV file, for models that listen")
    add("--generate", type=int, default=0, metavar="N", help="let it write N tokens first (0)")
    add("--chat", action="store_true", help="give the text as a message, in the model's template")
    add("--model", default="minilm", help="a name of `attnviz models`, hub id or folder (minilm)")
    add("--revision", help="branch, tag or commit of a hub model")
    add("--device", help="where it computes, e.g. cuda (cpu)")
    add("--dtype", help="float32, float16 or bfloat16 (float32)")
    add("--stack", help="one of several stacks, e.g. decoder")
    add("--kind", default="self", help="self or cross attention (self)")
    add("--layer", type=int, default=0, help="layer of the head shown (0)")
    add("--head", type=int, default=0, help="head shown, counted from 0 (0)")
    add("--json", action="store_true", help="print JSON, with every weight")


def _run_capture(arguments: argparse.Namespace) -> int:
    places = {name: getattr(arguments, name) for name in ("device", "dtype", "revision")}
    model = attnviz.load(arguments.model, **places)
    if model.notice:
        print(f"attnviz: {model.notice}", file=sys.stderr)
    captured = attnviz.capture(model, arguments.text, **_given(arguments))
    call = captured.call(arguments.layer, arguments.kind, arguments.stack)
    weights = call.weights(arguments.head).tolist()
    rows, columns = (list(of(call).labels) for of in (captured.query_tokens, captured.key_tokens))
    checked = captured.verify()
    if arguments.json:
        report = {
            "model": model.name,
            "tokens": rows,
            "key_tokens": columns,
            "stack": call.stack,
            "kind": call.kind,
            "layer": arguments.layer,
            "head": arguments.head,
            "weights": weights,
            "verify": {
                "ok": checked.ok,
                "worst": asdict(checked.worst) if checked.worst else None,
                "errors": checked.errors,
            },
        }
        print(json.dumps(report))
        return 0
    print(f"{model.name}: {len(rows)} tokens, {captured.n_layers} layers, {call.n_heads} heads")
    print("tokens: " + " ".join(rows))
    if call.kind == "cross":
        print("keys: " + " ".join(columns))
    print(f"\nweights of L{arguments.layer}.H{arguments.head}: a row asks, a column answers")
    wide = len(columns) > WIDE_TABLE
    show = tables.strongest if wide else tables.weights
    print(show(rows, columns, weights))
    return _print_check(checked)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """What `attnviz.capture` is to be told besides the text."""
    given: dict[str, Any] = {
        "text_pair": arguments.pair,
        "target": arguments.target,
        "generate": arguments.generate,
        "chat": arguments.chat,
    }
    if arguments.image is not None:
        given["image"] = _picture(arguments.image)
    if arguments.sound is not None:
        given["sound"] = _sound(arguments.sound)
    return given


def _picture(path: str) -> "Image":
    from PIL import Image

    try:
        return Image.open(io.BytesIO(_bytes_of(path))).convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadInput(
            f"{path} is no picture that can be read: give a PNG or JPEG file", code="bad_picture"
        ) from error


def _sound(path: str) -> "Sound":
    from attnviz.audio.sound import read_wav

    return read_wav(_bytes_of(path))


def _bytes_of(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadInput(f"cannot read {path}: {reason}", code="no_file", path=path) from error


def _print_check(checked: "Verification") -> int:
    """Say how far the derived numbers are from the model's own; 1 when that is too far."""
    word, worst = "verified" if checked.ok else "NOT RELIABLE", checked.worst
    if worst is None:
        print("\nnot compared: only the weights are known")
        return 0
    print(f"\n{word}: max |ours - model| = {worst.error:.2g}, tolerance {worst.tolerance:.2g}")
    return 0 if checked.ok else 1


# --- check -------------------------------------------------------------------------------------


def _declare_check(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", help="an embedded model, e.g. stories")


def _run_check(arguments: argparse.Namespace) -> int:
    from attnviz.checks import check

    figures = check(arguments.name)
    print("\n".join(map(str, figures)))
    return 0 if all(figure.reached for figure in figures) else 1


# --- worksheet ---------------------------------------------------------------------------------


def _declare_worksheet(command: argparse.ArgumentParser) -> None:
    command.add_argument("lesson", help="the lesson's name, e.g. block")
    command.add_argument("--lang", choices=i18n.LANGUAGES, default=i18n.DEFAULT, help="(en)")
    command.add_argument("--seed", type=int, default=1, help="sheet number; 0: as on screen (1)")


def _run_worksheet(arguments: argparse.Namespace) -> int:
    from attnviz.course.paper import sheet
    from attnviz.models.loader import load

    models = cache(load)

    def capture(model: str, *texts: Any, **options: Any) -> "Capture":
        return attnviz.capture(models(model), *texts, **options)

    made = sheet(arguments.lesson, arguments.lang, arguments.seed, capture)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # what the page says of itself
    print(made)
    return 0


COMMANDS = {
    command.name: command
    for command in (
        Command("app", "start the app and print its address", _declare_app, _run_app),
        Command("models", "list the models that can be loaded", _declare_models, _run_models),
        Command("capture", "run a text and print one head", _declare_capture, _run_capture),
        Command("check", "measure what an embedded model claims", _declare_check, _run_check),
        Command("worksheet", "print a lesson as a web page", _declare_worksheet, _run_worksheet),
    )
}

if __name__ == "__main__":
    sys.exit(main())
