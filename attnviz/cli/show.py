"""`attnviz show`: a capture in the browser, without a server.

In: a text and a model, or a saved capture. Out: a page in a temporary folder, which the browser
opens, and its name on stdout; exit code 1 if the numbers differ from the model's own by more than
the tolerance.
"""

import argparse
from pathlib import Path

import attnviz
from attnviz.cli import inputs, save
from attnviz.cli.command import Command
from attnviz.cli.output import json_line

NAME = "attention.html"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    inputs.declare(parser)
    save.declare_page(parser)
    parser.add_argument("--json", action="store_true", help="print JSON about the page")


def run(arguments: argparse.Namespace) -> int:
    """Write the page, open it and print where it is."""
    import tempfile
    import webbrowser

    _, cap = inputs.captured(arguments)
    lang = {} if arguments.lang is None else {"lang": arguments.lang}
    folder = Path(tempfile.mkdtemp(prefix="attnviz-"))
    path = attnviz.save(cap, folder / NAME, **save.heads(arguments.heads), **lang)
    opened = webbrowser.open(path.as_uri())
    verification = cap.verify()
    if arguments.json:
        print(json_line({"file": str(path), "opened": opened, "ok": verification.ok}))
    else:
        print(path if opened else f"{path}: open it in a browser")
    return 0 if verification.ok else save.UNRELIABLE


COMMAND = Command(
    name="show",
    group="look at attention",
    usage="[TEXT] [options]",
    help="open a capture in the browser, without a server",
    examples=(
        'attnviz show "The cat sat" --heads L5.H11',
        'attnviz show "The cat sat" --keep L3,L5.H11',
        "attnviz show --from cat.safetensors",
    ),
    declare=declare,
    run=run,
)
