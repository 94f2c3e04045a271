"""What attnviz says of a model in parts on two processes, beside the same model in one.

Run by torchrun; the first process writes its findings as JSON into the file that it is given.
"""

import json
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from transformers import (
    DynamicCache,
    GptOssConfig,
    GptOssForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    Qwen3Config,
    Qwen3ForCausalLM,
    StaticCache,
)
from transformers.distributed.tensor_parallel import apply_tensor_parallelism

import attnviz
from attnviz.attention.capture import Capture
from attnviz.capture.record.recorder import Recorder
from attnviz.capture.request import Request
from attnviz.capture.run import capture_request
from attnviz.models.loaded_model import LoadedModel

SIZES = {"vocab_size": 60, "hidden_size": 36, "intermediate_size": 40, "num_hidden_layers": 2}
HEADS = {"num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 10}
EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1}
MODELS: dict[str, Callable[[], PreTrainedModel]] = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SIZES, **HEADS, attention_bias=True)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SIZES, **HEADS)),
    "gpt-oss": lambda: GptOssForCausalLM(GptOssConfig(**SIZES, **HEADS, **EXPERTS)),
}
STAGES = ("q", "k", "v", "weights", "mixed", "projected", "w_q", "w_k", "w_v", "w_o")
IDS = torch.tensor([[5, 7, 11, 13, 17, 19, 23, 29], [31, 37, 41, 43, 47, 1, 1, 1]])
MASK = torch.tensor([[1] * 8, [1] * 5 + [0] * 3])
INPUTS = {"input_ids": IDS, "attention_mask": MASK}
ONE, OTHER = {"input_ids": IDS[:1]}, {"input_ids": IDS[:1].flip(1)}


def made(kind: str) -> PreTrainedModel:
    torch.manual_seed(3)
    model = MODELS[kind]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def spread(kind: str) -> LoadedModel:
    """The model in parts, held by all processes of torchrun."""
    model = made(kind)
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
    apply_tensor_parallelism(model, mesh, model._expand_parallel_plan(model.tp_plan))
    return attnviz.load(model, tensor_parallel=True)


def difference(left: Tensor | None, right: Tensor | None) -> float:
    """The largest difference; 0 where both are missing, infinite where one is."""
    if left is None or right is None:
        return 0.0 if left is right else float("inf")
    return float((torch.as_tensor(left) - torch.as_tensor(right)).abs().max())


ALL_HEADS = tuple(f"L{layer}.H{head}" for layer in range(2) for head in range(6))
SOME_HEADS = ("L0.H4", "L1.H1", "L1.H5")  # of the first process and of the second


def stages(ours: Capture, theirs: Capture, heads: Sequence[str] = ALL_HEADS) -> dict[str, float]:
    """The largest difference of each stage of some heads, both texts."""
    found = {"logits": difference(ours.logits, theirs.logits)}
    for stage in STAGES:
        found[stage] = max(
            difference(
                getattr(ours.head(head, batch=row), stage, None),
                getattr(theirs.head(head, batch=row), stage, None),
            )
            for head in heads
            for row in range(theirs.n_batch)
        )
    return found


def refusal(run: Callable[[], object]) -> str:
    """The code of the error that a call raises, or its class; "" without one."""
    try:
        run()
    except Exception as error:
        return str(getattr(error, "code", type(error).__name__))
    return ""


def changes(source: Capture) -> dict[str, list[attnviz.changes.kinds.Change]]:
    patched = attnviz.patch("L1.H3", source, "v")
    return {
        "first rank": [attnviz.ablate("L1.H1", to="zero")],
        "second rank": [attnviz.ablate("L1.H4", to="zero")],
        "both": [attnviz.ablate("L0.H2", to="zero"), attnviz.ablate("L1.H5", to="zero")],
        "layer": [attnviz.ablate("L1", to="zero")],
        "even": [attnviz.pattern("L0.H3", to="even")],
        "temperature": [attnviz.pattern("L0.H5", temperature=3)],
        "cut": [attnviz.cut("L1.H4", query=4, key=2)],
        "mask": [attnviz.mask("L0.H4", "causal+window:2")],
        "patch v": [patched],
        "patch weights": [attnviz.patch("L0.H4", source, "weights")],
        "patch mixed": [attnviz.patch("L0.H1", source, "mixed")],
    }


def of_model(lm: LoadedModel, own: LoadedModel) -> dict[str, object]:
    """A capture, its check, and every kind of change."""
    ours, theirs = (attnviz.capture(model, inputs=INPUTS) for model in (lm, own))
    found: dict[str, object] = {
        "stages": stages(ours, theirs),
        "verified": ours.verify().ok,
        "uncovered": sorted(ours.verify().uncovered) == sorted(theirs.verify().uncovered),
        "heads": [call.n_heads for call in ours.calls],
        "changes": {},
    }
    source = attnviz.capture(own, inputs=OTHER)
    for name, some in changes(source).items():
        texts = ONE if name.startswith("patch") else INPUTS
        clean, in_one, with_parts = (
            attnviz.capture(model, inputs=texts, changes=made).logits
            for model, made in ((own, []), (own, some), (lm, some))
        )
        effect = difference(in_one, clean)
        found["changes"][name] = [difference(with_parts, in_one), effect]  # type: ignore[index]
    some, alone = (attnviz.capture(model, inputs=INPUTS, keep=SOME_HEADS) for model in (lm, own))
    found["kept"] = {
        "heads": [[call.layer, list(call.kept_heads), call.n_heads] for call in some.calls],
        "stages": stages(some, alone, SOME_HEADS),
        "verified": some.verify().ok and some.nbytes < ours.nbytes,
    }
    written, alone = (attnviz.capture(model, inputs=ONE, generate=4) for model in (lm, own))
    found["written"] = difference(written.weights("L1.H4"), alone.weights("L1.H4"))
    return found


def works(lm: LoadedModel) -> bool:
    return attnviz.capture(lm, inputs=INPUTS).verify().ok


def break_off(lm: LoadedModel) -> None:
    """A capture that fails where it records the second layer."""
    take, kept = Recorder.take, []

    def break_off(self: Recorder, *args: object) -> None:
        kept.append(1)
        if len(kept) == 2:
            raise MemoryError("in the second layer")
        take(self, *args)  # type: ignore[arg-type]

    Recorder.take = break_off  # type: ignore[method-assign, assignment]
    try:
        attnviz.capture(lm, inputs=INPUTS)
    finally:
        Recorder.take = take  # type: ignore[method-assign]


def give_up(lm: LoadedModel) -> None:
    """A capture that nobody wants any longer when its second layer runs."""
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        if len(asked) == 2:
            raise TimeoutError

    capture_request(lm, Request.of(inputs=INPUTS), check=check)


@torch.no_grad()
def call(lm: LoadedModel, **inputs: object) -> None:
    lm.model(**inputs)


def of_requests(lm: LoadedModel) -> dict[str, object]:
    """The refusal of each bad request, and whether the next one works."""
    no_head, part = [attnviz.ablate("L1.H6")], lm.model.get_submodule("model.layers.0.self_attn")
    cache = StaticCache(lm.model.config, 20)  # type: ignore[arg-type]
    bad: dict[str, Callable[[], object]] = {
        "id": lambda: attnviz.capture(lm, inputs={"input_ids": [[10**6]]}),
        "head": lambda: attnviz.capture(lm, inputs=INPUTS, changes=no_head),
        "in the second layer": lambda: break_off(lm),
        "given up": lambda: give_up(lm),
        "the model's own": lambda: call(lm, input_ids=IDS, position_ids=torch.zeros(3, 3).long()),
        "gradient": lambda: lm.model(**INPUTS),
        "one layer alone": lambda: part.q_proj(torch.ones(1, 2, 36)),
        "experiment": lambda: attnviz.experiment(lm, inputs=INPUTS),
        "circuits": lambda: attnviz.circuits(lm),
        "static cache": lambda: call(lm, input_ids=IDS, past_key_values=cache),
    }
    return {name: [refusal(run), works(lm)] for name, run in bad.items()}


def of_passes(lm: LoadedModel, folder: Path) -> dict[str, object]:
    """Whatever else runs the model: caches, records, changes by hand, threads; a saved capture."""
    found: dict[str, object] = {}
    with torch.no_grad():
        cache = DynamicCache(config=lm.model.config)  # type: ignore[arg-type]
        lm.model(input_ids=IDS[:1, :6], past_key_values=cache)
        last = lm.model(input_ids=IDS[:1, 6:], past_key_values=cache).logits[:, -1]
        whole = lm.model(input_ids=IDS[:1]).logits[:, -1]
        first = lm.model(input_ids=IDS[:1, :6])  # whose cache the model makes itself
        again = lm.model(input_ids=IDS[:1, 6:], past_key_values=first.past_key_values).logits[:, -1]
    found["cache"] = max(difference(last, whole), difference(again, whole))
    with torch.no_grad(), attnviz.record(lm.model) as calls:
        lm.model(**OTHER)
    found["recorded"] = [call.n_heads for call in calls]
    with torch.no_grad(), attnviz.changed(lm, attnviz.ablate("L1.H4", to="zero")):
        by_hand = lm.model(**INPUTS).logits
    ablated = attnviz.capture(lm, inputs=INPUTS, changes=[attnviz.ablate("L1.H4", to="zero")])
    found["changed"] = difference(by_hand, ablated.logits)
    right: list[bool] = []
    threads = [threading.Thread(target=lambda: right.append(works(lm))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found["threads"] = right
    cap = attnviz.capture(lm, inputs=INPUTS)
    attnviz.save(cap, folder / "parts.safetensors", with_weights=True)
    read = attnviz.read(folder / "parts.safetensors")
    assert isinstance(read, Capture)
    found["saved"] = [
        difference(read.head("L1.H5")["projected"], cap.head("L1.H5")["projected"]),
        read.verify().ok,
    ]
    return found


def main() -> None:
    torch.set_num_threads(1)
    kind, path = sys.argv[1], Path(sys.argv[2])
    lm = spread(kind)  # the second process does not come back from here
    found = of_model(lm, attnviz.load(made(kind)))
    if kind == "llama":
        found |= of_requests(lm) | of_passes(lm, path.parent)
    path.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
