"""The mathematics of one attention call.

`formula` has the equations, `inputs` the tensors of a call and every stage derived from them,
`call` one recorded call, `steps` all stages of one head, `capture` all calls of a forward pass.
`tolerance` and `verification` compare derived numbers with the model's own. Nothing here knows who
recorded a call. The names below are looked up on first use: importing the package loads no torch.
"""

from attnviz.lazy import names

_HOMES = {
    "attnviz.attention.call": ("AttentionCall",),
    "attnviz.attention.capture": ("Capture",),
    "attnviz.attention.steps": ("Steps",),
    "attnviz.attention.verification": ("Verification",),
}

__getattr__, __dir__, __all__ = names(__name__, _HOMES)
