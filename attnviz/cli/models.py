"""`attnviz models`: a table of the models that open without a download.

In: no arguments. Out: a row for each model on stdout.
"""

import argparse

import attnviz
from attnviz.cli import tables
from attnviz.cli.command import Command

HEAD = ("name", "kind", "layers", "heads", "parameters", "MiB", "licence", "description")


def declare(_parser: argparse.ArgumentParser) -> None:
    """The command takes no arguments."""


def run(_arguments: argparse.Namespace) -> int:
    """Print the table."""
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
    print(tables.columns([HEAD, *rows]))
    return 0


COMMAND = Command(
    name="models",
    group="look at attention",
    usage="",
    help="list the models that open without a download",
    examples=("attnviz models",),
    declare=declare,
    run=run,
)
