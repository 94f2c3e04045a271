"""Adapters and quantisers, one by one and drawn at random: nothing that is shown is false.

Classes of the shape of those in use run always, the libraries themselves where they are installed;
the table of docs/guide/adapted-models.md has a row for each kind.
"""

import random
import warnings
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
import torch
from torch import nn
from transformers import LlamaForCausalLM

import attnviz
from tests.oracle.test_kept_heads import require_same_head
from tests.support.adapted_layers import KINDS
from tests.support.adapted_llama import IDS, LAYERS, attentions, llama, shown, with_layers

# of the libraries themselves
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")

N_FAST, N_SLOW, N_PART = 30, 3_000, 300
EXACT, ABSENT = (dict.fromkeys(LAYERS, state) for state in ("exact", "absent"))
needs_peft = pytest.mark.skipif(find_spec("peft") is None, reason="needs peft")
needs_bitsandbytes = pytest.mark.skipif(
    find_spec("bitsandbytes") is None, reason="needs bitsandbytes"
)
needs_torchao = pytest.mark.skipif(find_spec("torchao") is None, reason="needs torchao")
needs_quanto = pytest.mark.skipif(find_spec("optimum") is None, reason="needs optimum-quanto")
needs_accelerate = pytest.mark.skipif(find_spec("accelerate") is None, reason="needs accelerate")


def lora(model: nn.Module, *targets: str, **options: Any) -> Any:
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=4, lora_alpha=8, target_modules=[*(targets or LAYERS.values())],
        init_lora_weights=False, **options,
    )  # fmt: skip
    made = get_peft_model(model, config).eval()
    with torch.no_grad():
        for name, weight in made.named_parameters():
            if "lora_" in name and weight.dim() == 2:
                weight.normal_(0, 0.1)
    return made


def merged(model: nn.Module, **options: Any) -> Any:
    made = lora(model, **options)
    made.merge_adapter()
    return made


def disabled(model: nn.Module) -> Any:
    made = lora(model)
    made.base_model.disable_adapter_layers()
    return made


def ia3(model: nn.Module) -> Any:
    from peft import IA3Config, get_peft_model

    config = IA3Config(
        target_modules=["k_proj", "v_proj"], feedforward_modules=[], init_ia3_weights=False
    )
    return get_peft_model(model, config).eval()


def bits(four: bool, kind: str = "nf4") -> Callable[[LlamaForCausalLM], LlamaForCausalLM]:
    def quantised(layer: nn.Linear) -> nn.Module:
        import bitsandbytes

        sizes = layer.in_features, layer.out_features
        made: nn.Module
        if four:
            made = bitsandbytes.nn.Linear4bit(*sizes, compute_dtype=torch.float32, quant_type=kind)
        else:
            made = bitsandbytes.nn.Linear8bitLt(*sizes, has_fp16_weights=False)
        made.load_state_dict({"weight": layer.weight.data, "bias": layer.bias.data}, strict=False)
        return made.to("cpu")

    return lambda model: with_layers(model, quantised)


def torchao(config: str, **options: Any) -> Callable[[LlamaForCausalLM], LlamaForCausalLM]:
    def make(model: LlamaForCausalLM) -> LlamaForCausalLM:
        from torchao import quantization

        chosen = {name: getattr(quantization, cls)(32) for name, cls in options.items()}
        if "granularity" in chosen:
            chosen["weight_dtype"] = torch.int4
        quantization.quantize_(
            model,
            getattr(quantization, config)(**chosen),
            filter_fn=lambda module, name: isinstance(module, nn.Linear) and "self_attn" in name,
        )
        return model

    return make


def quanto(weights: str, activations: str | None = None) -> Callable[[nn.Module], nn.Module]:
    def make(model: nn.Module) -> nn.Module:
        from optimum import quanto as library

        kinds = {"activations": getattr(library, activations)} if activations else {}
        library.quantize(model, weights=getattr(library, weights), include="*self_attn*", **kinds)
        library.freeze(model)
        return model

    return make


def dynamic(model: nn.Module) -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made: nn.Module = torch.ao.quantization.quantize_dynamic(
            model, {nn.Linear}, dtype=torch.qint8
        )
    return made


def offloaded(model: nn.Module) -> nn.Module:
    from accelerate import cpu_offload

    made: nn.Module = cpu_offload(model)
    return made


Made = Callable[[LlamaForCausalLM], nn.Module]
LIBRARIES = {
    "lora": (needs_peft, lora, EXACT),
    "lora of o": (needs_peft, lambda model: lora(model, "o_proj"), EXACT),
    "rslora": (needs_peft, lambda model: lora(model, use_rslora=True), EXACT),
    "lora, merged in place": (needs_peft, merged, EXACT),
    "lora, merged and unloaded": (needs_peft, lambda m: lora(m).merge_and_unload(), EXACT),
    "lora, disabled": (needs_peft, disabled, EXACT),
    "dora": (needs_peft, lambda model: lora(model, use_dora=True), EXACT),
    "dora, merged in place": (needs_peft, lambda m: merged(m, use_dora=True), EXACT),
    "ia3": (needs_peft, ia3, EXACT),
    "bitsandbytes, 4 bits": (needs_bitsandbytes, bits(True), EXACT),
    "bitsandbytes, fp4": (needs_bitsandbytes, bits(True, "fp4"), EXACT),
    "bitsandbytes, 8 bits": (needs_bitsandbytes, bits(False), ABSENT),
    "torchao, 8 bits": (needs_torchao, torchao("Int8WeightOnlyConfig"), EXACT),
    "torchao, 4 bits": (
        needs_torchao, torchao("IntxWeightOnlyConfig", granularity="PerGroup"), EXACT,
    ),
    "torchao, 8 bits of activations": (
        needs_torchao, torchao("Int8DynamicActivationInt8WeightConfig"), ABSENT,
    ),
    "quanto, 8 bits": (needs_quanto, quanto("qint8"), EXACT),
    "quanto, 4 bits": (needs_quanto, quanto("qint4"), EXACT),
    "accelerate, weights elsewhere": (needs_accelerate, offloaded, EXACT),
}  # fmt: skip


@pytest.mark.parametrize(
    ("make", "wanted"),
    [pytest.param(m, w, id=name, marks=needs) for name, (needs, m, w) in LIBRARIES.items()],
)
def test_a_librarys_layers_are_exact_or_absent(make: Made, wanted: dict[str, str]) -> None:
    assert shown(make(llama()), rounds=wanted is ABSENT) == wanted


@needs_peft
@needs_bitsandbytes
def test_lora_on_four_bits_is_exact() -> None:
    assert shown(lora(bits(True)(llama()))) == EXACT


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_classes_of_the_same_shape_in_a_library_model(kind: str) -> None:
    wanted = ABSENT if kind == "rounding" else EXACT
    model = with_layers(llama(), KINDS[kind])
    assert shown(model, coarse=kind == "lora_bfloat16") == wanted


def test_dynamic_eight_bits_are_absent() -> None:
    assert shown(dynamic(llama()), rounds=True) == ABSENT


# --- some heads ---------------------------------------------------------------------------------

KEPT = ("L0.H1", "L1.H0", "L1.H3")


def require_kept(model: nn.Module) -> None:
    """The heads that are kept alone are those of the whole capture, layers and all."""
    lm = attnviz.load(model)
    whole, kept = (
        attnviz.capture(lm, inputs={"input_ids": IDS}, keep=keep) for keep in (None, KEPT)
    )
    assert [list(call.kept_heads) for call in kept.calls] == [[1], [0, 3]]
    for call in kept.calls:
        for head in call.kept_heads:
            require_same_head(call, whole.call(call.layer), head)
    kept.verify().require()
    assert kept.nbytes < whole.nbytes


@needs_peft
@pytest.mark.parametrize("name", ["lora", "lora of o", "dora", "ia3"])
def test_heads_of_layers_with_an_adapter_are_kept_alone(name: str) -> None:
    require_kept(LIBRARIES[name][1](llama()))


@pytest.mark.some(3)
@pytest.mark.parametrize("kind", KINDS)
def test_heads_of_unusual_layers_are_kept_alone(kind: str) -> None:
    require_kept(with_layers(llama(), KINDS[kind]))


# --- drawn at random ----------------------------------------------------------------------------


def drawn(seed: int) -> tuple[LlamaForCausalLM, list[str]]:
    """A model in which every layer of every attention is of a kind of its own, and the kinds."""
    draw, kinds = random.Random(seed), []
    model = llama(seed)
    for attention in attentions(model):
        for name in LAYERS.values():
            kinds.append("plain" if draw.random() < 0.3 else draw.choice(list(KINDS)))
            setattr(attention, name, KINDS[kinds[-1]](attention.get_submodule(name)).eval())
    return model, kinds


def require_right(seeds: range) -> None:
    """Every stage of these seeds exact or absent, and the share of both as it should be."""
    states: Counter[str] = Counter()
    for seed in seeds:
        model, kinds = drawn(seed)
        found = shown(model, coarse="lora_bfloat16" in kinds)
        assert set(found) == set(LAYERS), (seed, kinds, found)
        assert set(found.values()) <= {"exact", "absent"}, (seed, kinds, found)
        states.update(found.values())
    assert states["exact"] >= 0.8 * sum(states.values()), states


@pytest.mark.some(1)
@pytest.mark.parametrize("start", range(0, N_FAST, N_FAST // 6))
def test_layers_of_random_kinds_are_exact_or_absent(start: int) -> None:
    require_right(range(start, start + N_FAST // 6))


def test_a_difference_of_kernels_may_turn_a_step_of_bfloat16() -> None:
    """6e-8 behind layer 0 moves a query of layer 1 by 0.004, so that eager's weights are others."""
    require_right(range(3889, 3890))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(N_FAST, N_FAST + N_SLOW, N_PART))
def test_more_layers_of_random_kinds_are_exact_or_absent(start: int) -> None:
    require_right(range(start, start + N_PART))


def of_libraries(seed: int) -> tuple[nn.Module, tuple[object, ...]]:
    """A quantised or plain model under a random adapter of peft, and what was drawn."""
    draw = random.Random(seed)
    bases: dict[str, Made] = {
        "plain": lambda model: model,
        "4 bits": bits(True),
        "8 bits": bits(False),
        "packed": lambda model: with_layers(model, KINDS["packed_linear"]),
    }
    base = draw.choice([*bases])
    targets = draw.sample([*LAYERS.values()], draw.randint(1, 4))
    is_dora = base == "plain" and draw.random() < 0.3
    then = draw.choice(("as it is", "as it is", "merged", "disabled"))
    if base != "plain" and then == "merged":
        then = "as it is"
    if base == "packed":  # no class that peft knows
        return bases[base](llama(seed)), (base,)
    model = lora(bases[base](llama(seed)), *targets, use_dora=is_dora)
    if then == "merged":
        model.merge_adapter()
    elif then == "disabled":
        model.base_model.disable_adapter_layers()
    return model, (base, targets, is_dora, then)


def require_right_of_libraries(seeds: range) -> None:
    for seed in seeds:
        model, made = of_libraries(seed)
        found = shown(model, rounds=made[0] == "8 bits")
        assert set(found.values()) <= {"exact", "absent"}, (seed, made, found)
        assert made[0] == "8 bits" or "absent" not in found.values(), (seed, made, found)


@needs_peft
@needs_bitsandbytes
def test_random_adapters_on_quantised_layers() -> None:
    require_right_of_libraries(range(12))


@pytest.mark.slow
@needs_peft
@needs_bitsandbytes
@pytest.mark.parametrize("start", range(12, 512, 100))
def test_more_random_adapters_on_quantised_layers(start: int) -> None:
    require_right_of_libraries(range(start, start + 100))
