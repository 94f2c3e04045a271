"""`attnviz survey`: what every head does over many texts or pictures.

In: a file or a folder of texts, or a folder of pictures, and a model. Out: the first heads by a
measure, with intervals and roles, or one head with its tokens, on stdout; the survey as a file
where one was asked for.
"""

import argparse
from typing import TYPE_CHECKING

import attnviz
from attnviz.cli import output, save
from attnviz.cli.command import Command, Refused
from attnviz.cli.output import json_line

if TYPE_CHECKING:
    from attnviz.corpus.result import Survey

MODEL = "minilm"
TOP = 8


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add(
        "texts",
        metavar="TEXTS",
        nargs="?",
        help=".txt (a text per line), .csv, .jsonl, .parquet, a folder of .txt, for a model of"
        " pictures one of .png and .jpg; without it the 2,000 texts that come with an embedded"
        " model",
    )
    add("--model", default=MODEL, metavar="NAME", help=f"listed name, hub id, folder ({MODEL})")
    add(
        "--by",
        default="previous",
        metavar="MEASURE",
        help="orders the heads, e.g. entropy (previous)",
    )
    add("--top", type=int, default=TOP, metavar="N", help=f"how many heads are listed ({TOP})")
    add("--head", metavar="L5.H11", help="one head: its tokens, and texts for each tenth")
    add(
        "--out",
        metavar="FILE",
        help="the survey (.npz), its table (.csv, .json), a figure (.svg) or a page (.html)",
    )
    add("--overwrite", action="store_true", help="replace a file that exists")
    add("--json", action="store_true", help="print JSON")
    add = parser.add_argument_group("long surveys").add_argument
    add("--folder", metavar="DIR", help="keeps what is done, so that it can go on after a stop")
    add("--workers", type=int, default=1, metavar="N", help="processes (1)")
    add("--part", metavar="3/8", help="only this part of the texts, for array jobs on one folder")
    add("--engine", metavar="NAME", help="process, pool or ray")
    add("--address", metavar="URL", help="the Ray cluster's")


def run(arguments: argparse.Namespace) -> int:
    """Survey the texts, print the heads, and save the survey."""
    if arguments.top < 1:
        raise Refused(f"--top is a number of heads from 1 on, not {arguments.top}")
    from attnviz.types import MEASURES  # numpy: a help text starts without it

    if arguments.by not in MEASURES:
        raise Refused(f"--by is one of {', '.join(MEASURES)}, not {arguments.by}")
    if arguments.out is not None:
        save.require_new(arguments.out, arguments.overwrite)
    result = attnviz.survey(
        arguments.model,
        arguments.texts,
        folder=arguments.folder,
        workers=arguments.workers,
        part=arguments.part,
        engine=arguments.engine,
        address=arguments.address,
        progress=_progress,
    )
    printed = _heads if arguments.head is None else _head
    document = printed(result, arguments)
    print(json_line(document) if arguments.json else _text(result, document))
    if arguments.out is not None:
        attnviz.save(result, arguments.out)
    return 0


def _progress(n_done: int, n_shard: int) -> None:
    output.progress(f"{n_done} of {n_shard} parts", is_last=n_done == n_shard)


def _heads(survey: "Survey", arguments: argparse.Namespace) -> dict[str, list[dict[str, object]]]:
    """The first heads by a measure, with the interval of its mean over texts and their roles."""
    by, roles = arguments.by, survey.roles()
    table = survey.table([by]).sort(by, n=arguments.top)
    columns = (table.heads, table[by].tolist(), table[f"{by}_low"].tolist(), table[f"{by}_high"])
    return {
        "heads": [
            {
                "head": str(head),
                by: float(mean),
                "low": float(low),
                "high": float(high),
                "roles": ", ".join(roles.roles(survey.heads.index(head))),
            }
            for head, mean, low, high in zip(*columns, strict=True)
        ]
    }


def _head(survey: "Survey", arguments: argparse.Namespace) -> dict[str, list[dict[str, object]]]:
    """One head: the tokens that get most, its pairs, and texts for each tenth of a measure."""
    head, by, top = arguments.head, arguments.by, arguments.top
    return {
        "keys": [dict(key._asdict()) for key in survey.keys(head, top)],
        "pairs": [dict(pair._asdict()) for pair in survey.pairs(head, top)],
        by: [
            {"low": decile.low, "high": decile.high, "text": decile.texts[0]}
            for decile in survey.deciles(head, by)
            if decile.texts
        ],
    }


def _text(survey: "Survey", document: dict[str, list[dict[str, object]]]) -> str:
    blocks = [repr(survey)]
    for title, rows in document.items():
        cells = [tuple(map(_cell, row.values())) for row in rows]
        head = [tuple(rows[0])] if rows else []
        heading = [] if title == "heads" else [f"{title}:"]
        blocks.append("\n".join([*heading, output.columns([*head, *cells]) if rows else "none"]))
    return "\n\n".join(blocks)


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


COMMAND = Command(
    name="survey",
    group="look at attention",
    usage="[TEXTS] [options]",
    help="what every head does over many texts or pictures",
    examples=(
        "attnviz survey --model stories --head L2.H1",
        "attnviz survey tales.txt --by previous --out tales.npz",
        "attnviz survey tales.jsonl --folder tales --workers 4",
        "attnviz survey pictures/ --model shapes --by first",
    ),
    declare=declare,
    run=run,
)
