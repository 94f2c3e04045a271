"""Check attnviz on every config type of transformers that can be built tiny, and print a table.

    python -m scripts.sweep_configs --out sweep.jsonl            # all types, one worker
    python -m scripts.sweep_configs --out sweep.jsonl --resume   # the types that are not in it yet
    python -m scripts.sweep_configs --only bert,gpt2 --jobs 2
    python -m scripts.sweep_configs --pictures                   # what reads text with pictures
    python -m scripts.sweep_configs --summary sweep.jsonl        # the table of an earlier run

Each type runs in a worker process with a time limit, so that one that crashes or hangs costs itself
only. A line of JSON per type goes to --out as it is done; what a status means says
`tests.support.tiny.check`.
"""

import argparse
import importlib
import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

STATUSES = ("exact", "partly", "refused", "wrong", "upstream", "silent", "crashed")
STATUSES += ("not ok", "unverified", "no attention", "not built")
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}


def main() -> int:
    options = _options()
    if options.summary:
        print(summary(_rows_in(options.summary)))
        return 0
    os.environ.update(OFFLINE)
    types = options.only.split(",") if options.only else all_types()
    rows = _rows_in(options.out) if options.resume and options.out.exists() else []
    done = {row["model_type"] for row in rows}
    types = [model_type for model_type in types if model_type not in done]
    with options.out.open("a" if options.resume else "w") as out:
        for row in sweep(types, options):
            rows.append(row)
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(line_of(row), flush=True)
    print(summary(rows))
    return int(any(row["status"] in ("wrong", "silent", "crashed") for row in rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="types, separated by commas")
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one type")
    parser.add_argument("--out", type=Path, default=Path("sweep.jsonl"))
    parser.add_argument("--resume", action="store_true", help="go on with --out")
    parser.add_argument("--summary", type=Path, help="print the table of this file and stop")
    parser.add_argument("--pictures", action="store_true", help="text with a picture in it")
    parser.add_argument(
        "--recorder", default="attnviz:record", help="module:function to check in its place"
    )
    return parser.parse_args()


def _rows_in(path: Path) -> list[dict[str, Any]]:
    """The rows of an earlier run."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def all_types() -> list[str]:
    """Every model type that transformers has a config for."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    return list(CONFIG_MAPPING_NAMES)


class Worker:
    """A process that checks one type after another; stopped and replaced when it hangs."""

    def __init__(self, recorder: str, pictures: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=work, args=(theirs, recorder, pictures))
        self.process.start()
        theirs.close()
        assert self.pipe.recv() == "ready"
        self.model_type = ""
        self.deadline = 0.0

    def give(self, model_type: str, limit: float) -> None:
        self.model_type, self.deadline = model_type, time.monotonic() + limit
        self.pipe.send(model_type)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()


def work(pipe: Connection, recorder: str, pictures: bool) -> None:
    """The worker's side: a model type in, its verdict out, until the pipe closes."""
    import torch
    from transformers.utils import logging

    from tests.support.tiny.check import check

    logging.set_verbosity_error()
    torch.set_num_threads(1)
    module, name = recorder.split(":")
    record = getattr(importlib.import_module(module), name)
    pipe.send("ready")
    while True:
        try:
            model_type = pipe.recv()
        except EOFError:
            return
        pipe.send(check(model_type, record, pictures).as_dict())


def sweep(types: list[str], options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The verdict of each type, as they come."""
    waiting = list(reversed(types))
    workers: list[Worker] = []
    while waiting or workers:
        while waiting and len(workers) < options.jobs:
            workers.append(Worker(options.recorder, options.pictures))
            workers[-1].give(waiting.pop(), options.limit)
        wait([worker.pipe for worker in workers], timeout=1)
        for worker in list(workers):
            row = _row_of(worker, options.limit)
            if row is None:
                continue
            yield row
            if worker.process.is_alive() and waiting:
                worker.give(waiting.pop(), options.limit)
            else:
                worker.stop()
                workers.remove(worker)


def _row_of(worker: Worker, limit: float) -> dict[str, Any] | None:
    """What a worker has to say: a verdict, its end, or nothing yet."""
    reason = ""
    if worker.pipe.poll():
        try:
            return worker.pipe.recv()
        except EOFError:
            worker.process.join(1)
            reason = f"the process ended with code {worker.process.exitcode}"
    elif time.monotonic() > worker.deadline:
        reason = f"more than {limit:.0f} s"
    if not reason:
        return None
    worker.stop()
    return {"model_type": worker.model_type, "status": "not built", "problems": [reason]}


def line_of(row: dict[str, Any]) -> str:
    """One type in one line."""
    found = f"{row.get('recorded', 0)} of {row.get('eager', 0)}+{row.get('public', 0)}"
    worst = f"{row.get('max_difference', 0):.1e}"
    problem = row["problems"][0] if row["problems"] else ""
    return f"{row['status']:13s} {row['model_type']:32s} {found:12s} {worst:8s} {problem[:150]}"


def summary(rows: list[dict[str, Any]]) -> str:
    """Counts by status, then the types of every status but "exact" with their first problem."""
    counts = Counter(row["status"] for row in rows)
    lines = ["", "| status | types |", "|---|---|"]
    lines += [f"| {status} | {counts[status]} |" for status in STATUSES]
    lines += [f"| all | {len(rows)} |", ""]
    for status in STATUSES[1:]:
        lines += [line_of(row) for row in rows if row["status"] == status]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
