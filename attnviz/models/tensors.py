"""Single tensors of an embedded model, read from its file without loading the model.

In: the model's name and the name of the tensor. Out: the tensor in float32. The file's sha256 is
checked first, as when the model is loaded.
"""

import numpy as np
from jaxtyping import Float32
from safetensors import safe_open

from attnviz.errors import ModelNotFound
from attnviz.models import files
from attnviz.models.loader import check_weights
from attnviz.models.registry import EmbeddedModel, find


def embedded_tensor(model: str, name: str) -> Float32[np.ndarray, "..."]:
    """The tensor `name` of an embedded model; raises `ModelNotFound` if there is none."""
    entry = find(model)
    if not isinstance(entry, EmbeddedModel):
        raise ModelNotFound(
            f"{model} has no weights file here; only embedded models do",
            code="no_weights",
            folder=model,
        )
    path = entry.folder / files.WEIGHTS
    check_weights(path, entry)
    with safe_open(path, framework="numpy") as tensors:
        known = sorted(tensors.keys())
        if name not in known:
            raise ModelNotFound(
                f"{model} has no tensor {name!r}; it has {', '.join(known)}",
                code="no_weights",
                folder=model,
            )
        values: np.ndarray = tensors.get_tensor(name).astype(np.float32)
    return values
