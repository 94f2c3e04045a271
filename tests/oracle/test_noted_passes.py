"""Short passes that are noted while they run and read afterwards, beside recorded ones."""

import gc
import threading
from collections.abc import Callable, Iterator
from typing import Any
from weakref import ref

import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook
from torch.nn.utils import prune
from transformers import (
    Qwen3Config,
    Qwen3ForCausalLM,
)

import attnviz
from attnviz.attention import memory
from attnviz.attention.capture import Capture
from attnviz.capture.locate.modules import modules_by_name
from attnviz.capture.record import pass_log
from attnviz.capture.record.pass_log import PassBefore, PassLog
from attnviz.models.loaded_model import LoadedModel
from tests.support.tiny.check import tiny_case
from tests.support.tiny.noted import (
    SIZES,
    bert,
    ids,
    llama,
    require_same_call,
    require_same_capture,
    was_noted,
)

# own kernels, fused q k v, shared keys turned by their places, float masks, two stacks, sinks, a
# softcap, a bias, one module for all layers, own code, pictures
TYPES = (
    "bert", "gpt2", "llama", "roberta", "distilbert", "bart", "t5", "gpt_oss", "gemma2", "bloom",
    "albert", "qwen3", "phi3", "opt", "deberta-v2", "vit", "clip", "diffllama", "mixtral", "cohere",
)  # fmt: skip
NOTED = {"bert", "gpt2", "llama", "roberta", "distilbert", "bart", "phi3", "opt", "qwen3", "cohere"}


@pytest.mark.some(6)
@pytest.mark.filterwarnings("ignore")  # transformers' own, of tiny configs
@pytest.mark.parametrize("name", TYPES)
def test_a_noted_pass_is_the_recorded_one(name: str) -> None:
    model, inputs, _ = tiny_case(name)
    lm = attnviz.load(model)
    recorded, again = (attnviz.capture(lm, inputs=inputs) for _ in range(2))
    assert not was_noted(recorded) and was_noted(again) == (name in NOTED)
    require_same_capture(again, recorded)


@pytest.mark.parametrize("name", ["minilm", "stories", "stories-llama", "translator"])
def test_texts_are_noted_with_their_tokens(name: str) -> None:
    lm = attnviz.load(name)
    more: Any = {"target": ["j' aime les voitures", "le chat"]} if name == "translator" else {}
    texts = ["I like red cars.", "The cat"]
    recorded = attnviz.capture(lm, texts, **more, offload=True)
    attnviz.capture(lm, texts, **more)
    again = attnviz.capture(lm, texts, **more)
    assert was_noted(again)
    for one, other in zip(again.calls, recorded.calls, strict=True):
        require_same_call(one, other)
    assert again.tokens_of(1).labels == recorded.tokens_of(1).labels
    again.verify().require()


# --- what cannot be noted -----------------------------------------------------------------------


def runs(lm: LoadedModel, capture: Callable[[], Capture]) -> tuple[Capture, int]:
    """A capture, and how often the model ran for it."""
    ran: list[int] = []
    handle = lm.model.register_forward_pre_hook(lambda *_: ran.append(1))
    cap = capture()
    handle.remove()
    return cap, len(ran)


def fresh(lm: LoadedModel) -> Capture:
    """A capture that is recorded as it runs."""
    modules_by_name(lm.model).remember(PassBefore(0, may_be_noted=False))
    cap = attnviz.capture(lm, **ids())
    assert not was_noted(cap)
    modules_by_name(lm.model).remember(PassBefore(1))
    return cap


def adds_in_place(lm: LoadedModel) -> None:
    """`x += attention(x)`, on the very tensor that the layers read."""
    attention = lm.model.model.layers[1].self_attn
    forward = attention.forward

    def changed(hidden_states: Tensor, **kwargs: Any) -> Any:
        output, weights = forward(hidden_states, **kwargs)
        hidden_states.mul_(2)
        return output, weights

    attention.forward = changed


def scales_queries(lm: LoadedModel) -> None:
    forward = lm.model.model.layers[0].self_attn.q_proj.forward
    lm.model.model.layers[0].self_attn.q_proj.forward = lambda x: forward(x) * 2


def hooks_a_layer(lm: LoadedModel) -> None:
    layer = lm.model.model.layers[0].self_attn.o_proj
    layer.register_forward_hook(lambda _module, _args, output: output * 2)


def leaves_attention_out(lm: LoadedModel) -> None:
    lm.model.model.layers[1].self_attn.forward = lambda hidden_states, **_: (hidden_states, None)


def runs_twice(lm: LoadedModel) -> None:
    attention = lm.model.model.layers[1].self_attn
    forward = attention.forward

    def changed(hidden_states: Tensor, **kwargs: Any) -> Any:
        forward(hidden_states * 0.5, **kwargs)
        return forward(hidden_states, **kwargs)

    attention.forward = changed


def runs_in_inference_mode(lm: LoadedModel) -> None:
    """Where changes in place are not counted."""
    layer = lm.model.model.layers[1]
    layer.forward = torch.inference_mode()(layer.forward)


@pytest.mark.parametrize(
    ("change", "n_runs"),
    [
        (adds_in_place, 2),
        (runs_in_inference_mode, 2),
        (scales_queries, 1),
        (hooks_a_layer, 1),
        (leaves_attention_out, 2),
        (runs_twice, 2),
    ],
)
def test_what_a_model_does_otherwise_than_before_is_recorded(
    change: Callable[[LoadedModel], None], n_runs: int
) -> None:
    lm = llama()
    attnviz.capture(lm, **ids())
    change(lm)
    again, n = runs(lm, lambda: attnviz.capture(lm, **ids()))
    assert not was_noted(again) and n == n_runs
    assert runs(lm, lambda: attnviz.capture(lm, **ids()))[1] == 1
    require_same_capture(again, fresh(lm))


def test_a_graph_of_gradients_inside_the_model_is_not_kept() -> None:
    lm = llama()
    attnviz.capture(lm, **ids())
    layer = lm.model.model.layers[1]
    layer.forward = torch.enable_grad()(layer.forward)
    again = attnviz.capture(lm, **ids())
    assert was_noted(again)
    assert not any(t.requires_grad for call in again.calls for t in memory.tensors(call))
    require_same_capture(again, fresh(lm))


def test_where_a_hook_of_all_modules_may_change_a_layer_it_is_recorded() -> None:
    lm = llama()
    attnviz.capture(lm, **ids())
    layer = lm.model.model.layers[0].self_attn.o_proj
    hook = register_module_forward_hook(
        lambda module, _args, output: output * 1.5 if module is layer else None
    )
    try:
        again = attnviz.capture(lm, **ids())
    finally:
        hook.remove()
    assert not was_noted(again)
    assert not again.verify().ok, "what W_O gives is not what was added to the stream"


def test_a_layer_whose_weight_is_made_by_a_hook_is_read_as_it_is_now() -> None:
    lm = llama()
    for _ in range(2):  # the second pass is noted, and knows the layer
        attnviz.capture(lm, **ids())
    prune.l1_unstructured(lm.model.model.layers[0].self_attn.q_proj, "weight", 0.5)
    require_same_capture(attnviz.capture(lm, **ids()), fresh(lm))


def test_a_module_that_may_stand_in_a_layers_place_is_recorded() -> None:
    lm = bert()
    attnviz.capture(lm, **ids())
    output = lm.model.encoder.layer[1].attention.output
    output.forward = lambda hidden_states, input_tensor: 2 * output.dense(hidden_states)
    assert not was_noted(attnviz.capture(lm, **ids()))  # its forward is its own
    del output.forward
    assert was_noted(attnviz.capture(lm, **ids()))
    around = lm.model.encoder.layer[1].attention
    kept = type(output).forward

    def forward(self: nn.Module, hidden_states: Tensor, input_tensor: Any = None) -> Tensor:
        return 2 * self.dense(hidden_states)

    try:
        type(output).forward = forward
        call = type(output).__call__
        type(output).__call__ = lambda self, hidden, _=None: call(self, hidden)
        again = attnviz.capture(lm, **ids())
        assert not was_noted(again)
        assert again.call(1).projections["out"].module == "encoder.layer.1.attention.output"
    finally:
        type(output).forward = kept
        del type(output).__call__
    assert around.output is output


def test_changes_and_other_arguments_are_not_noted() -> None:
    lm = llama()
    plain = attnviz.capture(lm, **ids())
    change = [attnviz.ablate("L1.H1", to="zero")]
    changed = attnviz.capture(lm, **ids(), changes=change)
    with attnviz.changed(lm, *change):
        inside = attnviz.capture(lm, **ids())
    for cap in (changed, inside):
        assert not was_noted(cap) and cap.call(1).changes
    assert not was_noted(attnviz.capture(lm, **ids(), keep="L1"))
    assert not was_noted(attnviz.capture(lm, **ids(), store="float16"))
    long, n = runs(lm, lambda: attnviz.capture(lm, **ids(600)))
    assert not was_noted(long) and n == 1
    with torch.inference_mode():
        assert not was_noted(attnviz.capture(lm, **ids()))
    again = attnviz.capture(lm, **ids())
    assert was_noted(again)
    require_same_capture(again, plain)


def test_a_pass_that_is_large_is_recorded() -> None:
    lm = llama()
    attnviz.capture(lm, **ids())
    modules_by_name(lm.model).remember(PassBefore(token_bytes=1 << 26))
    assert not was_noted(attnviz.capture(lm, **ids()))


def test_a_note_that_takes_more_than_a_capture_may_is_read_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the layers of q and k wrote before they were normed is in no call."""
    torch.manual_seed(0)
    config = Qwen3Config(**SIZES, num_key_value_heads=2, head_dim=96)
    lm = attnviz.load(Qwen3ForCausalLM(config).eval())
    monkeypatch.setattr(pass_log, "FEW_BYTES", 0)
    texts = {"inputs": {"input_ids": torch.ones(4, 100, dtype=torch.long)}}
    expected = attnviz.capture(lm, **texts)
    logs: list[Any] = []
    count = PassLog.counts
    monkeypatch.setattr(PassLog, "counts", lambda log, *a: logs.append(ref(log)) or count(log, *a))
    for most, is_held in ((expected.nbytes, False), (2 * expected.nbytes, True)):
        monkeypatch.setattr(pass_log, "MOST_BYTES", most)
        cap = attnviz.capture(lm, **texts)
        gc.collect()
        assert was_noted(cap) and (logs.pop()() is not None) == is_held
        require_same_capture(cap, expected)


# --- beside others ------------------------------------------------------------------------------


@pytest.fixture
def waiting() -> Iterator[tuple[LoadedModel, threading.Event, threading.Event]]:
    """A model whose second layer waits in the thread that captures."""
    lm, reached, go_on = llama(), threading.Event(), threading.Event()
    attnviz.capture(lm, **ids())
    yield lm, reached, go_on
    go_on.set()


def test_what_others_run_meanwhile_is_not_noted(
    waiting: tuple[LoadedModel, threading.Event, threading.Event],
) -> None:
    lm, reached, go_on = waiting
    expected = fresh(lm)
    thread = threading.current_thread()

    def wait(*_: object) -> None:
        if threading.current_thread() is not thread:
            reached.set()
            assert go_on.wait(20)

    lm.model.model.layers[1].register_forward_pre_hook(wait)
    caps: list[Capture] = []
    other = threading.Thread(target=lambda: caps.append(attnviz.capture(lm, **ids())))
    other.start()
    assert reached.wait(20)
    with torch.no_grad():
        lm.model(torch.tensor([[1, 2, 3]]))
    go_on.set()
    other.join()
    assert was_noted(caps[0])
    require_same_capture(caps[0], expected)


def test_several_threads_ask_once() -> None:
    lm = llama()
    attnviz.capture(lm, **ids())
    cap = attnviz.capture(lm, **ids())
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(cap.calls)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(calls is found[0] for calls in found)


def test_an_error_leaves_the_model_as_it_was() -> None:
    lm = llama()
    attnviz.capture(lm, **ids())
    before = {name: dict(vars(module)) for name, module in lm.model.named_modules()}
    lm.model.model.layers[1].mlp.register_forward_pre_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        attnviz.capture(lm, **ids())
    assert {name: vars(m).keys() for name, m in lm.model.named_modules()} == {
        name: known.keys() for name, known in before.items()
    }
    assert lm.model.config._attn_implementation != "attnviz"


def test_an_interrupt_while_layers_are_exchanged_leaves_the_model_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lm = llama()
    attnviz.capture(lm, **ids())
    note = PassLog._note_layer

    def interrupted(self: PassLog, name: str, module: nn.Module) -> Callable[..., Any]:
        if "v_proj" in name:
            raise KeyboardInterrupt
        return note(self, name, module)

    monkeypatch.setattr(PassLog, "_note_layer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        attnviz.capture(lm, **ids())
    assert not [name for name, m in lm.model.named_modules() if "forward" in vars(m)]
