"""What an attack alters in a model: before its pass, around it, and before the capture is asked.

In: a `Subject`, a small model of one of the `FAMILIES`, whose layers its seed draws. `ALTERATIONS`
change what the model does or how its layers are made; `BETWEEN` has what happens after the pass;
`AROUND_A_PASS` and `AROUND` have modes of PyTorch around the pass and around the question.
"""

import contextlib
import gc
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import torch
import transformers
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules import module as hooks_of_all
from torch.nn.utils import parametrizations, parametrize, prune
from torch.nn.utils.stateless import _reparametrize_module

import attnviz
from attnviz.attention.capture import Capture
from attnviz.models.loaded_model import LoadedModel
from tests.support.pass_truth import Truth
from tests.support.tiny.noted import SIZES

# --- the models ---------------------------------------------------------------------------------

SHARED_KEYS = {**SIZES, "num_key_value_heads": 2}


def gpt2() -> nn.Module:
    sizes = {"n_embd": 24, "n_layer": 2, "n_head": 4, "n_positions": 64}
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=50, **sizes))


def distilbert() -> nn.Module:
    config = transformers.DistilBertConfig(
        vocab_size=50, dim=24, hidden_dim=20, n_layers=2, n_heads=4
    )
    return transformers.DistilBertModel(config)


def roberta() -> nn.Module:
    config = transformers.RobertaConfig(**SIZES, max_position_embeddings=40, pad_token_id=1)
    return transformers.RobertaModel(config, add_pooling_layer=False)


def opt() -> nn.Module:
    sizes = {"vocab_size": 50, "hidden_size": 24, "word_embed_proj_dim": 24, "ffn_dim": 20}
    config = transformers.OPTConfig(
        **sizes, num_hidden_layers=2, num_attention_heads=4, attention_dropout=0.3
    )
    return transformers.OPTModel(config)


def bart() -> nn.Module:
    stacks: dict[str, int] = {}
    for stack in ("encoder", "decoder"):
        stacks |= {f"{stack}_layers": 1, f"{stack}_attention_heads": 4, f"{stack}_ffn_dim": 20}
    sizes = {"vocab_size": 50, "d_model": 24, "max_position_embeddings": 64}
    config = transformers.BartConfig(**sizes, **stacks)
    return transformers.BartModel(config)


FAMILIES: dict[str, Callable[[], nn.Module]] = {
    "llama": lambda: transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**SHARED_KEYS, attention_dropout=0.3)
    ),
    "qwen3": lambda: transformers.Qwen3ForCausalLM(
        transformers.Qwen3Config(**SHARED_KEYS, head_dim=6)
    ),
    "phi3": lambda: transformers.Phi3ForCausalLM(
        transformers.Phi3Config(**SHARED_KEYS, pad_token_id=0)
    ),
    "cohere": lambda: transformers.CohereForCausalLM(transformers.CohereConfig(**SHARED_KEYS)),
    "bert": lambda: transformers.BertModel(
        transformers.BertConfig(**SIZES), add_pooling_layer=False
    ),
    **{model.__name__: model for model in (gpt2, distilbert, roberta, opt, bart)},
}
TAKE_SQUARE_MASKS = {"llama", "qwen3", "phi3", "cohere"}
LAYERS = set(
    "q_proj k_proj v_proj o_proj out_proj qkv_proj q_lin k_lin v_lin out_lin query key value dense"
    " c_attn c_proj".split()
)


# --- what is attacked ---------------------------------------------------------------------------


@dataclass
class Subject:
    """A model under attack, what draws parts of it, and what is undone at the end."""

    model: Any
    lm: LoadedModel | Any
    draw: random.Random
    truth: Truth
    undo: ExitStack
    inputs: dict[str, Any] = field(default_factory=dict)

    def layers(self) -> dict[str, nn.Module]:
        """The linear layers of its attention modules."""
        modules = self.model.named_modules()
        return {
            name: module
            for name, module in modules
            if "att" in name
            and name.rpartition(".")[2] in LAYERS
            and isinstance(module, nn.Linear | transformers.pytorch_utils.Conv1D)
        }

    def layer(self) -> Any:
        """One of them."""
        return self.layers()[self.layer_name()]

    def layer_name(self) -> str:
        return self.draw.choice(list(self.layers()))

    def attentions(self) -> list[nn.Module]:
        """The modules that call the attention function."""
        found = [m for m in self.model.modules() if type(m).__name__.endswith("Attention")]
        return [m for m in found if not any(part in found for part in list(m.modules())[1:])]

    def attention(self) -> Any:
        return self.draw.choice(self.attentions())


def exchange(model: nn.Module, name: str, module: nn.Module) -> None:
    """Put a module in the place of another one."""
    place, _, last = name.rpartition(".")
    setattr(model.get_submodule(place), last, module)


def change_forward(module: nn.Module, changed: Callable[..., Any]) -> None:
    """Give one module a forward of its own: `changed`, which is handed the former one first."""
    forward = module.forward
    module.forward = lambda *args, **kwargs: changed(forward, *args, **kwargs)


def linear_sizes(layer: Any) -> tuple[int, int]:
    """d_in and d_out."""
    rows, columns = layer.weight.shape
    return (columns, rows) if isinstance(layer, nn.Linear) else (rows, columns)


# --- what is altered before or after the first pass ---------------------------------------------


def nothing(*_: Any) -> None:
    """Leave everything as it is."""


def scales_a_forward(subject: Subject) -> None:
    change_forward(subject.layer(), lambda forward, x: forward(x) * 1.5)


def scales_in_a_subclass(subject: Subject) -> None:
    layer = subject.layer()
    kind: Any = type(layer)
    scaled = {"forward": lambda self, x: kind.forward(self, x) * 1.1}
    layer.__class__ = type("Scaled", (kind,), scaled)


def scales_in_the_class(subject: Subject) -> None:
    kind: Any = type(subject.layer())
    forward = kind.forward
    changed = patch.object(kind, "forward", lambda self, x: forward(self, x) * 1.1)
    subject.undo.enter_context(changed)


def hooks_what_a_layer_writes(subject: Subject) -> None:
    subject.layer().register_forward_hook(lambda _module, _args, wrote: wrote * 1.5)


def hooks_what_a_layer_reads(subject: Subject) -> None:
    subject.layer().register_forward_pre_hook(lambda _module, args: (args[0] * 1.5,))


def hooks_all_modules(subject: Subject) -> None:
    layer = subject.layer()
    hook = hooks_of_all.register_module_forward_hook(
        lambda module, _args, wrote: wrote * 1.5 if module is layer else None
    )
    subject.undo.callback(hook.remove)


def hooks_before_all_modules(subject: Subject) -> None:
    layer = subject.layer()
    hook = hooks_of_all.register_module_forward_pre_hook(
        lambda module, args: (args[0] * 1.5,) if module is layer else None
    )
    subject.undo.callback(hook.remove)


def copies_before_a_layer(subject: Subject) -> None:
    """No tensor that the layer reads was written by another module."""
    subject.layer().register_forward_pre_hook(lambda _module, args: (args[0].clone(),))


def reads_a_part(subject: Subject) -> None:
    def part(_module: nn.Module, args: tuple[Tensor]) -> tuple[Tensor]:
        return (torch.cat([args[0], args[0]], 1)[:, : args[0].shape[1]],)

    subject.layer().register_forward_pre_hook(part)


def multiplies_a_weight_at_each_run(subject: Subject) -> None:
    def multiplied(module: Any, _args: object) -> None:
        module.weight.data.mul_(1.1)

    subject.layer().register_forward_pre_hook(multiplied)


def exchanges_data_at_each_run(subject: Subject) -> None:
    def exchanged(module: Any, _args: object) -> None:
        module.weight.data = module.weight.data * 1.2

    subject.layer().register_forward_pre_hook(exchanged)


def exchanges_a_parameter_at_each_run(subject: Subject) -> None:
    def exchanged(module: Any, _args: object) -> None:
        module.weight = nn.Parameter(module.weight.detach() * 1.2)

    subject.layer().register_forward_pre_hook(exchanged)


def prunes(subject: Subject) -> None:
    prune.l1_unstructured(subject.layer(), "weight", 0.5)


def norms_a_weight(subject: Subject) -> None:
    parametrizations.weight_norm(subject.layer())


def norms_a_weight_in_a_hook(subject: Subject) -> None:
    nn.utils.weight_norm(subject.layer())


class Larger(nn.Module):
    """A weight that is computed from another one."""

    def forward(self, weight: Tensor) -> Tensor:
        return weight * 1.2


def parametrizes(subject: Subject) -> None:
    parametrize.register_parametrization(subject.layer(), "weight", Larger())


def ties_two_layers(subject: Subject) -> None:
    layer, other = subject.layer(), subject.layer()
    if layer.weight.shape == other.weight.shape:
        layer.weight = other.weight


def has_a_weight_of_inference_mode(subject: Subject) -> None:
    layer = subject.layer()
    with torch.inference_mode():
        weight = layer.weight.detach() * 1.1
    layer.weight = nn.Parameter(weight, requires_grad=False)


def is_in_training(subject: Subject) -> None:
    subject.model.train()


def is_of_half_precision(subject: Subject) -> None:
    subject.model.to(subject.draw.choice([torch.bfloat16, torch.float16]))


def is_of_float64(subject: Subject) -> None:
    subject.model.double()


def is_quantized(subject: Subject) -> None:
    torch.ao.quantization.quantize_dynamic(
        subject.model, {nn.Linear}, dtype=torch.qint8, inplace=True
    )


def adds_noise(subject: Subject) -> None:
    """A second run gives other numbers."""
    change_forward(subject.layer(), lambda forward, x: forward(x) + torch.randn_like(forward(x)))


def counts_its_runs(subject: Subject) -> None:
    runs: list[None] = []

    def counted(forward: Callable[..., Any], *args: Tensor, **kwargs: Any) -> Any:
        runs.append(None)
        factor = 1 + len(runs) % 2
        if args:
            return forward(args[0] * factor, *args[1:], **kwargs)
        return forward(**kwargs | {"hidden_states": kwargs["hidden_states"] * factor})

    change_forward(subject.attention(), counted)


def attends_twice_in_odd_runs(subject: Subject) -> None:
    runs: list[None] = []

    def repeated(forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        runs.append(None)
        output = forward(*args, **kwargs)
        return forward(*args, **kwargs) if len(runs) % 2 else output

    change_forward(subject.attention(), repeated)


def calls_a_layer_twice(subject: Subject) -> None:
    change_forward(subject.layer(), lambda forward, x: (forward(x * 2), forward(x))[1])


def runs_a_layer_in_a_thread(subject: Subject) -> None:
    def elsewhere(forward: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
        with ThreadPoolExecutor(1) as threads:
            return threads.submit(lambda: forward(x.detach()).detach()).result()

    change_forward(subject.layer(), elsewhere)


def multiplies_without_its_class(subject: Subject) -> None:
    layer = subject.layer()
    is_linear = isinstance(layer, nn.Linear)
    layer.forward = lambda x: functional.linear(
        x, layer.weight if is_linear else layer.weight.T, layer.bias
    )


def runs_in(context: Callable[[], Any]) -> Callable[[Subject], None]:
    """An attention that runs in a mode of its own."""

    def alteration(subject: Subject) -> None:
        def changed(forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            with context():
                return forward(*args, **kwargs)

        change_forward(subject.attention(), changed)

    return alteration


class Adapted(nn.Module):
    """A layer with a summand of low rank."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        d_in, d_out = linear_sizes(layer)
        self.layer, self.down = layer, nn.Linear(d_in, 2, bias=False)
        self.up = nn.Linear(2, d_out, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        adapted: Tensor = self.layer(x) + self.up(self.down(x))
        return adapted


class Wrapped(nn.Module):
    """A layer to which something is added that is no linear function of one token."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.inner = layer

    def forward(self, x: Tensor) -> Tensor:
        wrapped: Tensor = self.inner(x) + 0.1 * x.mean()
        return wrapped


def exchanges_a_layer(made: Callable[[nn.Module], nn.Module]) -> Callable[[Subject], None]:
    """Another module in the place of a layer."""

    def alteration(subject: Subject) -> None:
        name = subject.layer_name()
        exchange(subject.model, name, made(subject.model.get_submodule(name)))

    return alteration


OVERWRITE: dict[str, Callable[[Tensor], object]] = {
    "counted": lambda tensor: tensor.mul_(1.3),
    "through data": lambda tensor: tensor.data.mul_(1.3),
    "through numpy": lambda tensor: tensor.detach().numpy().__imul__(1.3),
}


def overwrites_in_the_pass(way: str) -> Callable[[Subject], None]:
    """What a layer read or wrote, or what was mixed, is changed when its attention has run."""

    def alteration(subject: Subject) -> None:
        attention, truth = subject.attention(), subject.truth
        part = subject.draw.choice(["read", "wrote", "mixed"])
        truth.keeps_tensors = True
        layers = [layer for layer in attention.modules() if layer in subject.layers().values()]
        parameter = None if part == "mixed" else subject.draw.choice(layers).weight

        def overwritten(*_: object) -> None:
            tensors = [seen[part] for owner, seen in truth.live if owner is parameter]
            if tensors:  # none are kept of the first pass
                OVERWRITE[way](tensors[-1])

        attention.register_forward_hook(overwritten)

    return alteration


ALTERATIONS: dict[str, Callable[[Subject], None]] = {
    alteration.__name__.replace("_", " "): alteration
    for alteration in (
        nothing, scales_a_forward, scales_in_a_subclass, scales_in_the_class,
        hooks_what_a_layer_writes, hooks_what_a_layer_reads, hooks_all_modules,
        hooks_before_all_modules, copies_before_a_layer, reads_a_part,
        multiplies_a_weight_at_each_run, exchanges_data_at_each_run,
        exchanges_a_parameter_at_each_run, prunes, norms_a_weight, norms_a_weight_in_a_hook,
        parametrizes, ties_two_layers, has_a_weight_of_inference_mode, is_in_training,
        is_of_half_precision, is_of_float64, is_quantized, adds_noise, counts_its_runs,
        attends_twice_in_odd_runs, calls_a_layer_twice, runs_a_layer_in_a_thread,
        multiplies_without_its_class,
    )
}  # fmt: skip
ALTERATIONS |= {
    "runs in inference mode": runs_in(torch.inference_mode),
    "runs with gradients": runs_in(torch.enable_grad),
    "runs in autocast": runs_in(lambda: torch.autocast("cpu", torch.bfloat16)),
    "adapts a layer": exchanges_a_layer(Adapted),
    "wraps a layer": exchanges_a_layer(Wrapped),
    "has a new layer": exchanges_a_layer(lambda layer: nn.Linear(*linear_sizes(layer))),
}
ALTERATIONS |= {f"overwrites in the pass, {way}": overwrites_in_the_pass(way) for way in OVERWRITE}


# --- what happens between the pass and the question ---------------------------------------------
# other factors than above: a weight and what its layer wrote would fit again


def multiplies_all_weights(subject: Subject, _cap: Capture) -> None:
    with torch.no_grad():
        for parameter in subject.model.parameters():
            parameter.mul_(1.7)


def multiplies_a_weight(subject: Subject, _cap: Capture) -> None:
    with torch.no_grad():
        subject.layer().weight.mul_(1.7)


def exchanges_data(subject: Subject, _cap: Capture) -> None:
    for parameter in subject.model.parameters():
        parameter.data = parameter.data * 1.7


def loads_other_weights(subject: Subject, _cap: Capture) -> None:
    state = {
        name: value * 1.7 if value.is_floating_point() else value
        for name, value in subject.model.state_dict().items()
        if isinstance(value, Tensor)
    }
    subject.model.load_state_dict(state, strict=False)


def turns_to_half_precision(subject: Subject, _cap: Capture) -> None:
    subject.model.half()


def begins_to_train(subject: Subject, _cap: Capture) -> None:
    subject.model.train()


def hooks_all_layers(subject: Subject, _cap: Capture) -> None:
    for layer in subject.layers().values():
        layer.register_forward_hook(lambda _module, _args, wrote: wrote * 3)


def takes_layers_away(subject: Subject, _cap: Capture) -> None:
    for name in subject.layers():
        exchange(subject.model, name, nn.Identity())


def changes_attributes(subject: Subject, _cap: Capture) -> None:
    for attention in subject.attentions():
        vars(attention).update(is_causal=False, scaling=9.0, num_heads=1, is_cross_attention=True)


def changes_the_config(subject: Subject, _cap: Capture) -> None:
    config = subject.model.config
    config._attn_implementation = "eager"
    for name in ("num_attention_heads", "num_key_value_heads"):
        if name in vars(config):
            setattr(config, name, 1)


def zeroes_the_inputs(subject: Subject, _cap: Capture) -> None:
    for value in subject.inputs.values():
        value[:] = 0


def multiplies_hidden_states(_subject: Subject, cap: Capture) -> None:
    for tensor in (cap.hidden, cap.logits):
        if tensor is not None:
            tensor.mul_(2)


def lets_the_model_go(subject: Subject, _cap: Capture) -> None:
    subject.lm = subject.model = None
    gc.collect()


def captures_again(subject: Subject, _cap: Capture) -> None:
    attnviz.capture(subject.lm, inputs={"input_ids": torch.randint(2, 50, (1, 9))})


def runs_again(subject: Subject, _cap: Capture) -> None:
    with torch.no_grad():
        subject.model(input_ids=torch.randint(2, 50, (1, 6)))


def captures_changed(subject: Subject, _cap: Capture) -> None:
    head = "encoder.L0.H1" if subject.model.config.is_encoder_decoder else "L0.H1"
    with attnviz.changed(subject.lm, attnviz.ablate(head, to="zero")):
        attnviz.capture(subject.lm, inputs={"input_ids": torch.randint(2, 50, (1, 6))})


def overwrites_tensors(subject: Subject, _cap: Capture) -> None:
    """All that the layers read and wrote, and what was mixed, if PyTorch counts it."""
    for _, tensors in subject.truth.live:
        for tensor in tensors.values():
            if not tensor.is_inference():
                tensor.detach().mul_(1.5)


# they leave the weights and tensors that a capture may share
HARMLESS: tuple[Callable[[Subject, Capture], None], ...] = (
    nothing, begins_to_train, changes_attributes, changes_the_config, zeroes_the_inputs,
    multiplies_hidden_states, lets_the_model_go, captures_again, runs_again, captures_changed,
    hooks_all_layers, takes_layers_away,
)  # fmt: skip
BETWEEN: dict[str, Callable[[Subject, Capture], None]] = {
    action.__name__.replace("_", " "): action
    for action in (
        *HARMLESS, multiplies_all_weights, multiplies_a_weight, exchanges_data,
        loads_other_weights, turns_to_half_precision, overwrites_tensors,
    )
}  # fmt: skip


# --- what is around the pass and the question ---------------------------------------------------


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def other_parameters(subject: Subject) -> AbstractContextManager[None]:
    """As `torch.func.functional_call` has it."""
    parameters = {name: p.detach() * 1.1 for name, p in subject.model.named_parameters()}
    return _reparametrize_module(subject.model, parameters)


Around = Callable[[Subject], AbstractContextManager[Any]]
AROUND: dict[str, Around] = {
    "nothing": lambda _: contextlib.nullcontext(),
    "autocast": lambda _: torch.autocast("cpu", torch.bfloat16),
    "inference mode": lambda _: torch.inference_mode(),
    "gradients": lambda _: torch.enable_grad(),
    "float64": lambda _: default_dtype(torch.float64),
    "bfloat16": lambda _: default_dtype(torch.bfloat16),
}
AROUND_A_PASS: dict[str, Around] = {**AROUND, "other parameters": other_parameters}
