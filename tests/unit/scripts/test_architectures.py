"""The page of supported architectures is what its script writes of the stored results."""

import json
from typing import Any

from scripts import write_architectures as architectures


def row(model_type: str, status: str, **more: Any) -> dict[str, Any]:
    return {"model_type": model_type, "status": status, "problems": [], **more}


def test_the_page_is_in_step_with_the_stored_results() -> None:
    assert architectures.PAGE.read_text() == architectures.written()
    kept = json.loads(architectures.STORED.read_text())
    statuses = [entry["status"] for entry in kept["types"].values()]
    assert not {"wrong", "silent", "crashed"} & set(statuses)
    assert len(statuses) <= kept["known"]


def test_a_result_is_told_with_its_reasons() -> None:
    results = architectures.stored(
        [
            row("two", "partly", recorded=3, with_steps=2, left_out=["a.b: Odd: no | softmax"]),
            row("one", "exact", recorded=2, with_steps=2, left_out=[]),
            row("three", "refused", problems=["UnsupportedAttention: a.b: Odd: no keys"]),
        ]
    )
    assert list(results) == ["one", "three", "two"]
    assert results["three"]["reasons"] == ["Odd: no keys"]
    text = architectures.page(results, "5.0", 7)
    assert "3 of\n7 types were run" in text and "| exact | 1 |" in text
    assert "## Recorded with q, k, v and every step\n\none." in text
    assert "## Recorded, some calls as weights only\n\ntwo." in text
    assert "| two | Odd: no \\| softmax |" in text and "| three | Odd: no keys |" in text
    assert "Not built" not in text  # a list without types is left out
