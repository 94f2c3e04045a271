"""The plan for inputs that are ready: tensors by the name of the model's argument, or an example.

In: a model and a request with `inputs`, or the example that comes with a model. Out: a `Plan` in
which ids are known to be in the vocabulary and tokens are named as far as the model has names.
"""

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from attnviz import masks
from attnviz.capture.arguments import bad_inputs
from attnviz.capture.plan.encoding import id_tokens
from attnviz.capture.plan.plan import Plan, TokensByStack
from attnviz.capture.request import Request
from attnviz.errors import BadInput
from attnviz.models import architecture
from attnviz.models.loaded_model import LoadedModel
from attnviz.types import named_tokens

IDS, DECODER_IDS = "input_ids", "decoder_input_ids"


def plan_inputs(lm: LoadedModel, request: Request) -> Plan:
    """The plan for ready inputs.

    Raises `BadInput` for names that the model has no argument for, ids outside the vocabulary or
    not [batch, token], a mask of another length, inputs on another device, and for letting the
    model write without `input_ids` to go on from.
    """
    assert request.inputs is not None
    inputs = {name: _placed(lm, value) for name, value in request.inputs.items()}
    _require_device(lm, inputs)
    _require_arguments(lm, request, inputs)
    tokens: TokensByStack = {}
    has_two_stacks = architecture.has_decoder(lm.model)
    for name in (IDS, DECODER_IDS):
        ids = inputs.get(name)
        if not isinstance(ids, Tensor):
            continue
        _require_ids(lm, name, ids)
        attended = _attended(inputs, name, ids)
        if not has_two_stacks:
            tokens[None] = id_tokens(lm, ids, attended)
        else:
            tokens["encoder" if name == IDS else "decoder"] = id_tokens(lm, ids, attended)
    return Plan(inputs, tokens)


def plan_example(lm: LoadedModel, _request: Request) -> Plan:
    """The plan for the inputs that come with a model, under the labels that they have.

    Raises `BadInput` for a model that comes with none.
    """
    if lm.example is None:
        raise BadInput(
            f"capture() was given nothing to read, and {lm.name} comes with no inputs of its own;"
            " give one of text=, image=, sound= and inputs=",
            code="nothing_to_read",
            name=lm.name,
        )
    n_batch = len(next(iter(lm.example.inputs.values())))
    return Plan(lm.example.inputs, {None: (named_tokens(lm.example.labels),) * n_batch})


def _placed(lm: LoadedModel, value: object) -> object:
    """An array as a tensor of the model's device and float type, a tensor as it is; both copied.

    The caller may use their memory again, and a mask stays in the capture. Anything else unchanged.
    """
    if isinstance(value, Tensor):
        return value.detach().clone()
    if not isinstance(value, np.ndarray):
        return value
    tensor = torch.from_numpy(np.array(value))
    if tensor.is_floating_point():
        tensor = tensor.to(getattr(torch, lm.key.dtype))
    elif value.dtype.kind == "i":
        tensor = tensor.long()
    return tensor.to(lm.key.device)


def _require_device(lm: LoadedModel, inputs: dict[str, object]) -> None:
    device = torch.device(lm.key.device).type
    elsewhere = {
        name: str(tensor.device)
        for name, tensor in inputs.items()
        if isinstance(tensor, Tensor) and tensor.device.type != device
    }
    if elsewhere:
        raise BadInput(
            f"the inputs {elsewhere} are on another device than the model, {lm.key.device};"
            " move them with .to()",
            code="wrong_device",
            found=str(elsewhere),
            wanted=lm.key.device,
        )


def _require_arguments(lm: LoadedModel, request: Request, inputs: dict[str, object]) -> None:
    """Raise `BadInput` unless the forward pass can be called with these names."""
    is_whole = request.generation is None
    reason = architecture.refusal_of_arguments(lm.model, tuple(inputs), is_whole=is_whole)
    if reason:
        known = architecture.forward_arguments(lm.model)
        raise bad_inputs(
            f"{lm.name} cannot be called with the inputs {', '.join(inputs)}: {reason}; its"
            f" arguments are {', '.join(known)}"
        )
    if request.generation is not None and not isinstance(inputs.get(IDS), Tensor):
        raise bad_inputs(
            f"generate= continues ids, and the inputs {', '.join(inputs)} have no {IDS}; give"
            f" {IDS}, or leave generate= out"
        )


def _require_ids(lm: LoadedModel, name: str, ids: Tensor) -> None:
    """Raise `BadInput` unless ids are whole numbers [batch, token] of the model's vocabulary."""
    if ids.is_floating_point() or ids.dtype == torch.bool or ids.dim() != 2:
        raise bad_inputs(
            f"inputs['{name}'] is {ids.dtype} with shape {tuple(ids.shape)}; give whole numbers"
            " [batch, token], for one text a batch of one"
        )
    n_ids = architecture.n_ids(lm.model, decoder=name == DECODER_IDS)
    if n_ids is not None and ids.numel():
        least, most = map(int, ids.aminmax())
        if 0 <= least and most < n_ids:
            return
        unknown = set(ids[(ids < 0) | (ids >= n_ids)].tolist())
        unknown -= architecture.placeholder_ids(lm.model)
        if unknown:
            raise bad_inputs(
                f"inputs['{name}'] has {min(unknown)}, and {lm.name} knows the ids 0 to {n_ids - 1}"
            )


def _attended(
    inputs: dict[str, object], name: str, ids: Int[Tensor, "batch token"]
) -> Int[Tensor, "batch token"] | None:
    """1 for each token that is not padding, by the mask among the inputs; None without a mask.

    Of a mask [batch, head, query, key], or [batch, query, key], padding are the keys that no query
    may attend to.
    """
    mask_name = name.replace(IDS, "attention_mask")
    mask = inputs.get(mask_name)
    if not isinstance(mask, Tensor):
        return None
    if mask.shape[-1] != ids.shape[1] or mask.shape[0] not in (1, ids.shape[0]):
        raise bad_inputs(
            f"inputs['{mask_name}'] has shape {tuple(mask.shape)} and inputs['{name}']"
            f" {tuple(ids.shape)}; give a mask for the same tokens"
        )
    may_attend = mask != 0
    if mask.dim() == 4 and mask.is_floating_point():  # added to the scores: 0 leaves them as is
        kept, _ = masks.from_model(mask)
        may_attend = torch.ones_like(mask, dtype=torch.bool) if kept is None else kept
    for_keys = may_attend.flatten(1, -2).any(dim=1) if mask.dim() > 2 else may_attend
    return for_keys.expand_as(ids).long()
