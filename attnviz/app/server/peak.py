"""The memory that a run needs at its peak, estimated before it begins.

In: a loaded model and a request. Out: nothing, or `TooLarge` with the estimate and the limit: half
of the memory that this process may have, or what the operator sets in ATTNVIZ_MAX_RUN_MIB. Short
texts are not counted. Estimated are the tensors that grow with the text: q, k and v of each layer,
which a capture keeps; the logits, one row of the vocabulary for each token that is scored; and the
scores of models that add a number to each, which no library computes in blocks.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnviz.errors import TooLarge
from attnviz.models.files import setting
from attnviz.types import MIB

if TYPE_CHECKING:
    from attnviz.capture.request import Request
    from attnviz.models.loaded_model import LoadedModel

VARIABLE = "ATTNVIZ_MAX_RUN_MIB"
SHORT_CHARS = 2000
NUMBER_BYTES = 4
PART_OF_MEMORY = 0.5
UNKNOWN_MIB = 4096  # where the system does not tell its memory
CGROUP = Path("/sys/fs/cgroup/memory.max")
# fields and types of models that add a matrix of numbers to the scores of each head
BIAS_FIELDS = ("relative_attention_num_buckets", "relative_attention", "alibi", "position_buckets")
BIAS_TYPES = ("bloom", "mpt", "xlnet", "deberta", "deberta-v2", "t5", "mt5", "longt5", "umt5")


def require_room(loaded: "LoadedModel", request: "Request") -> None:
    """Raise `TooLarge` if the run of a long text would need more memory than the limit."""
    texts = (*request.text, *request.text_pair)
    if loaded.tokenizer is None or sum(map(len, texts)) <= SHORT_CHARS:
        return
    rows = loaded.tokenize(list(texts), verbose=False)["input_ids"]
    longest = min(max(map(len, rows)), loaded.max_tokens)
    written = request.generation.n_tokens if request.generation else 0
    found = peak_bytes(loaded, longest + written, len(rows)) // MIB
    limit = setting(VARIABLE, default_mib())
    if found > limit:
        raise TooLarge(
            f"{longest} tokens would need about {found} MiB in {loaded.name} and the limit is"
            f" {limit} MiB; shorten the text, or set {VARIABLE}",
            code="run_too_large",
            found=found,
            limit=limit,
            unit="MiB",
        )


def peak_bytes(loaded: "LoadedModel", n_tokens: int, n_rows: int = 1) -> int:
    """The bytes that grow with the text, for `n_rows` texts of `n_tokens` tokens."""
    config: Any = getattr(loaded.model, "config", None)
    width = _number(config, "hidden_size", "d_model", "n_embd")
    heads = max(loaded.n_heads, _number(config, "num_attention_heads", "num_heads", "n_head"))
    kept = 3 * loaded.n_layers * n_tokens * width
    logits = _n_scored(loaded, n_rows, n_tokens) * _number(config, "vocab_size")
    is_biased = getattr(config, "model_type", "") in BIAS_TYPES or any(
        getattr(config, field, None) for field in BIAS_FIELDS
    )
    bias = heads * n_tokens**2 if is_biased else 0
    return NUMBER_BYTES * n_rows * (kept + logits + bias)


def _n_scored(loaded: "LoadedModel", n_rows: int, n_tokens: int) -> int:
    """The number of tokens for which a row of the vocabulary is computed; 0 without a head."""
    from attnviz.capture.generation.logits import scored_tokens  # loads torch

    head = getattr(loaded.model, "get_output_embeddings", None)
    if not callable(head) or head() is None:
        return 0
    return scored_tokens(loaded.model, n_rows, n_tokens)


def _number(config: object, *names: str) -> int:
    values = (getattr(config, name, None) for name in names)
    return next((value for value in values if isinstance(value, int)), 0)


def default_mib() -> int:
    """Half of the memory of this machine, or of this process's control group."""
    totals = []
    with suppress(OSError, ValueError, AttributeError):
        totals.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):  # "max" where there is no limit
        totals.append(int(CGROUP.read_text(encoding="ascii")))
    return int(min(totals) * PART_OF_MEMORY) // MIB if totals else UNKNOWN_MIB
