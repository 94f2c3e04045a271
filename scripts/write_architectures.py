"""Write docs/architectures.md from the results of a sweep over all model types.

    python -m scripts.write_architectures sweep.jsonl    # take the results of scripts.sweep_configs
    python -m scripts.write_architectures                # write the page again from stored results

The results are stored beside this file, without what only the run itself needs.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import transformers

STORED = Path(__file__).with_name("architectures.json")
PAGE = Path(__file__).parents[1] / "docs" / "architectures.md"
MAX_REASON_CHARS = 200

HEAD = """# Supported architectures

Each model type that transformers {version} has a config for, built tiny with random weights and run
twice: with the model's own eager attention, and recorded. Every recorded call is compared with the
eager one, number by number (1e-4 at most), and every step that is shown of
its last head is held against the model's own tensors, within their rounding: **{n_steps} types are
exact by all steps of all their calls**. This page is written by
`python -m scripts.write_architectures` from the results of `scripts/sweep_configs.py`; {checked} of
{known} types were run.

| result | types | what it means |
|---|---|---|
{counts}
"""
MEANINGS = {
    "exact": "every attention of the model is recorded, and equal",
    "partly": "what is recorded is equal; `cap.missing` names the other modules, with the reason",
    "refused": "an error with the reason; nothing is recorded",
    "upstream": "equal to the model's default attention, which differs from its own eager one",
    "not ok": "weights equal; a step before them is not, and `verify()` says NOT ok",
    "unverified": "recorded, but the model shows no numbers to compare with",
    "no attention": "the model computes none",
    "not built": "no tiny model or no inputs for it: not run",
    "wrong": "recorded and different",
    "silent": "not recorded, and not named",
    "crashed": "an error without a reason",
}


def stored(rows: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The results of a sweep by model type, as they are stored."""
    return {
        row["model_type"]: {
            "status": row["status"],
            "calls": row.get("recorded", 0),
            "with_steps": row.get("with_steps", 0),
            "reasons": _reasons(row),
        }
        for row in sorted(rows, key=lambda row: row["model_type"])
    }


def _reasons(row: Mapping[str, Any]) -> list[str]:
    """Why something is missing: of each class of modules one reason, without the module's place."""
    if row["status"] == "refused":
        texts = [row["problems"][0].removeprefix("UnsupportedAttention: ")]
    elif row["status"] in ("partly", "exact"):
        texts = row.get("left_out", [])
    else:
        return []
    # "encoder.layer.0.attention: BertAttention: it ran …", or an error that begins with the class
    short = [text.split(": ", 1)[-1] if text.count(": ") > 1 else text for text in texts]
    return list(dict.fromkeys(text[:MAX_REASON_CHARS] for text in short))


def page(results: Mapping[str, Mapping[str, Any]], version: str, n_known: int) -> str:
    """The page as Markdown."""
    by_status = {
        status: [name for name, row in results.items() if row["status"] == status]
        for status in MEANINGS
    }
    counts = "\n".join(
        f"| {status} | {len(names)} | {MEANINGS[status]} |" for status, names in by_status.items()
    )
    recorded = [*by_status["exact"], *by_status["partly"]]
    steps = [name for name in recorded if results[name]["with_steps"] == results[name]["calls"]]
    n_steps = sum(results[name]["status"] == "exact" for name in steps)
    sizes = {"checked": len(results), "known": n_known, "n_steps": n_steps}
    parts = [HEAD.format(version=version, counts=counts, **sizes)]
    weights = [name for name in recorded if name not in steps]
    parts.append(_listed("Recorded with q, k, v and every step", steps))
    parts.append(_listed("Recorded, some calls as weights only", weights))
    for title, status in (("Left out by name", "partly"), ("Refused", "refused")):
        rows = [f"| {name} | {_cell(results[name]['reasons'])} |" for name in by_status[status]]
        if rows:
            parts.append("\n".join([f"## {title}\n", "| type | reason |", "|---|---|", *rows, ""]))
    for status in ("not ok", "no attention", "unverified", "upstream", "not built"):
        parts.append(_listed(status.capitalize(), by_status[status]))
    return "\n".join(part for part in parts if part)


def _listed(title: str, names: list[str]) -> str:
    return f"## {title}\n\n{', '.join(names)}.\n" if names else ""


def _cell(reasons: list[str]) -> str:
    return "<br>".join(reasons).replace("|", "\\|")


def main() -> int:
    """Store the results, if there are new ones, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sweep", nargs="?", type=Path, help="the --out of scripts.sweep_configs")
    options = parser.parse_args()
    if options.sweep:
        rows = [json.loads(line) for line in options.sweep.read_text().splitlines()]
        from scripts.sweep_configs import all_types

        kept = {
            "transformers": transformers.__version__,
            "known": len(all_types()),
            "types": stored(rows),
        }
        STORED.write_text(json.dumps(kept, indent=1) + "\n")
    PAGE.write_text(written())
    return 0


def written() -> str:
    """The page of the stored results."""
    kept = json.loads(STORED.read_text())
    return page(kept["types"], kept["transformers"], kept["known"])


if __name__ == "__main__":
    raise SystemExit(main())
