"""Numbers about heads: shares of attention on patterns, roles, measures to sort heads by.

`patterns` gives shares of mass beside those of chance, `roles` names each head after its pattern,
`measures` has one number per head and measure, `table` puts them in rows. In: attention weights and
tokens, or a capture. numpy only; nothing here runs a model.
"""

from attnviz.metrics.layer_weights import LayerWeights
from attnviz.metrics.measures import UNITS, measured
from attnviz.metrics.over_texts import RoleTable
from attnviz.metrics.patterns import PATTERNS, PatternName, Scores, pattern_keys, score, scores
from attnviz.metrics.roles import HeadRole, Role, describe
from attnviz.metrics.table import HeadTable, head_table

__all__ = [
    "PATTERNS",
    "UNITS",
    "HeadRole",
    "HeadTable",
    "LayerWeights",
    "PatternName",
    "Role",
    "RoleTable",
    "Scores",
    "describe",
    "head_table",
    "measured",
    "pattern_keys",
    "score",
    "scores",
]
