"""A tiny Llama whose layers are adapted or quantised, and what is shown of it beside its own hooks.

In: a model, changed by classes of our own (`adapted_layers`) or by the libraries that are in use.
Out: for each stage "exact", "absent", or what is wrong with it. The truth is what the modules that
the attention calls return, and eager attention's weights.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

import attnviz
from attnviz.attention.call import AttentionCall
from attnviz.attention.steps import derive

LAYERS = {"q": "q_proj", "k": "k_proj", "v": "v_proj", "projected": "o_proj"}
N_LAYER, N_TOKEN = 2, 7
COARSE = 8e-3  # of the largest number, in bfloat16
IDS = torch.arange(N_TOKEN)[None] * 5 % 47


def llama(seed: int = 0) -> LlamaForCausalLM:
    """A Llama with biases, four heads and two key–value heads; 64 wide, as a library's blocks."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=47, hidden_size=64, intermediate_size=32, num_hidden_layers=N_LAYER,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
        attention_bias=True,
    )  # fmt: skip
    model = LlamaForCausalLM(config).eval()
    with torch.no_grad():  # so that attention is not even
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(3)
    return model


def attentions(model: nn.Module) -> list[nn.Module]:
    """The attention of each layer, wherever a library put the model."""
    (inner,) = (part for part in model.modules() if isinstance(part, LlamaForCausalLM))
    return [layer.self_attn for layer in inner.model.layers]


def with_layers(
    model: LlamaForCausalLM, make: Callable[[nn.Linear], nn.Module], *names: str
) -> LlamaForCausalLM:
    """The model with the layers of each attention replaced."""
    for attention in attentions(model):
        for name in names or LAYERS.values():
            setattr(attention, name, make(getattr(attention, name)).eval())
    return model


def shown(model: nn.Module, *, coarse: bool = False, rounds: bool = False) -> dict[str, str]:
    """What is shown at each stage: "exact", "absent", or the fault; the worst of all layers.

    Where a layer `rounds` what it reads, or is `coarse` (bfloat16), eager attention's 1e-7 may turn
    a whole step of it.
    """
    wrote, weights = _truth(model)
    cap = attnviz.capture(attnviz.load(model), inputs={"input_ids": IDS})
    found = {stage: "absent" for stage in LAYERS}
    if not cap.verify().ok:
        found["verify"] = str(cap.verify())
    if cap.missing or len(cap.calls) != N_LAYER:
        found["calls"] = f"{len(cap.calls)} calls, {cap.missing}"
    for call in cap.calls:
        if float((call.weights() - weights[call.layer][0]).abs().max()) > (
            1e-2 if rounds or coarse else 1e-5
        ):
            found["weights"] = f"wrong in layer {call.layer}"
        for stage, name in LAYERS.items():
            layer = attentions(model)[call.layer].get_submodule(name)
            state = _state(call, stage, layer, wrote[call.layer, name], coarse)
            if found[stage] in ("absent", "exact"):
                found[stage] = state
    return found


def _state(call: AttentionCall, stage: str, layer: nn.Module, wrote: Tensor, coarse: bool) -> str:
    """The state of one stage of one layer."""
    name = "out" if stage == "projected" else stage
    if name not in call.projections:
        return "absent" if call.absent.get(stage) else "missing without a reason"
    limit = (COARSE if coarse else 1e-5) * float(wrote.abs().max())
    if stage != "projected":
        same = torch.equal(call.projections[name].output, wrote)
        return "exact" if same else "what the layer wrote is another"
    for head in range(call.n_heads):
        steps = derive(call, head)
        assert steps.projected is not None and steps.w_o is not None
        if not float((steps.projected - wrote[0].float()).abs().max()) <= limit:
            return "projected is another"
        if not all(comparison.ok for comparison in steps.comparisons.values()):
            return f"not ok: {steps.comparisons}"
        units = torch.zeros(1, 64, 64)
        units[0, steps.head_columns, steps.head_columns] = torch.eye(16)
        dtype = call.output.dtype
        with torch.no_grad():
            zero = layer(torch.zeros(1, 1, 64, dtype=dtype))
            w_o = (layer(units.to(dtype)) - zero)[0, steps.head_columns].float()
        if not float((steps.w_o - w_o).abs().max()) <= limit:
            return "W_O is another"
    return "exact"


def _truth(model: nn.Module) -> tuple[dict[tuple[int, str], Tensor], tuple[Tensor, ...]]:
    """What the layers return in a plain pass, and eager attention's weights."""
    wrote: dict[tuple[int, str], Tensor] = {}
    handles = []
    for number, attention in enumerate(attentions(model)):
        for name in LAYERS.values():

            def keep(
                _m: nn.Module, _a: object, output: Tensor, key: tuple[int, str] = (number, name)
            ) -> None:
                wrote[key] = output.detach().clone()

            handles.append(attention.get_submodule(name).register_forward_hook(keep))
    (inner,) = (part for part in model.modules() if isinstance(part, LlamaForCausalLM))
    with torch.no_grad():
        model(input_ids=IDS)
        for handle in handles:
            handle.remove()
        before = inner.config._attn_implementation
        inner.set_attn_implementation("eager")
        weights = model(input_ids=IDS, output_attentions=True).attentions
        inner.set_attn_implementation(before)
    return wrote, weights
