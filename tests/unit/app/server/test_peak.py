"""`peak`: what a run of a long text would need, and its refusal with both numbers."""

from pathlib import Path

import pytest

from attnviz.app.server import peak
from attnviz.capture.request import Request
from attnviz.errors import TooLarge
from attnviz.models.loader import load
from tests.support import folders

MIB = 2**20


def test_peak_bytes_counts_what_grows_with_the_text(tmp_path: Path) -> None:
    """GPT-2: q, k, v of 2 layers × 24 and 16 logits a token; DeBERTa: 3 heads of n × n besides."""
    gpt2 = load(folders.save(tmp_path / "gpt2", "gpt2"))
    assert peak.peak_bytes(gpt2, 1000, 2) == 2 * 4 * 1000 * (3 * 2 * 24 + folders.VOCAB)
    deberta = load(folders.save(tmp_path / "deberta", "deberta"))
    more = peak.peak_bytes(deberta, 1000) - peak.peak_bytes(gpt2, 1000)
    assert more == 4 * 3 * 1000**2


def test_require_room_refuses_with_both_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = load(folders.save(tmp_path / "long", "long"))
    text = "the cat sat on a mat " * 600  # 3,600 tokens: 2.2 MB
    peak.require_room(lm, Request.of(text))
    monkeypatch.setenv(peak.VARIABLE, "1")
    peak.require_room(lm, Request.of("the cat"))
    with pytest.raises(
        TooLarge, match="3600 tokens would need about 2 MiB .* limit is 1 MiB"
    ) as no:
        peak.require_room(lm, Request.of(text))
    assert (no.value.found, no.value.limit) == (2, 1)


def test_the_default_is_a_part_of_the_memory() -> None:
    assert 256 <= peak.default_mib() < 2**22
