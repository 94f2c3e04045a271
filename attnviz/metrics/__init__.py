"""Numbers about heads: `roles` says what a head does most, `measures` what heads are sorted by.

In: attention weights and tokens, or a capture. Out: shares of mass beside what even attention would
give. numpy only; nothing here runs a model.
"""

from attnviz.metrics.roles import (
    PATTERNS,
    HeadRole,
    Pattern,
    Role,
    Scores,
    describe,
    pattern_keys,
    score,
    scores,
)

__all__ = [
    "PATTERNS",
    "HeadRole",
    "Pattern",
    "Role",
    "Scores",
    "describe",
    "pattern_keys",
    "score",
    "scores",
]
