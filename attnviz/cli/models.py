"""`attnviz models`: a table of the models that open without a download.

In: nothing. Out: a row for each model on stdout, or JSON.
"""

import argparse

import attnviz
from attnviz.cli import output
from attnviz.cli.command import Command
from attnviz.cli.output import json_line

HEAD = ("name", "kind", "layers", "heads", "parameters", "MiB", "licence", "description")


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--json", action="store_true", help="print JSON, with every detail")


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    if arguments.json:
        from dataclasses import asdict

        print(json_line([asdict(card) for card in attnviz.models()]))
        return 0
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
    print(output.columns([HEAD, *rows]))
    return 0


COMMAND = Command(
    name="models",
    group="look at attention",
    usage="[--json]",
    help="list the models that open without a download",
    examples=("attnviz models",),
    declare=declare,
    run=run,
)
