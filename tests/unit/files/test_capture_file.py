"""`save` and `read` of a capture file: every kind comes back bit for bit, derived steps too."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

import attnviz
from attnviz.attention import memory
from attnviz.attention.capture import Capture
from attnviz.attention.inputs import AttentionInputs
from attnviz.errors import BadInput, TooLarge, UnsupportedAttention
from attnviz.files.capture_file.calls import WITHOUT_W
from attnviz.files.capture_file.read import opened, read
from attnviz.files.save import content, save
from tests.support import captures

KINDS = captures.every_kind() | captures.of_heads()
to_bytes = partial(content, ending=".safetensors")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_as_it_was_saved(kind: str, tmp_path: Path) -> None:
    cap = KINDS[kind]
    path = save(cap, tmp_path / "x.safetensors", with_weights=True, with_outputs=True)
    again = read(path)
    if "heads" not in kind:  # of which the file has the columns of W, not all of it
        captures.assert_same(cap, again)
    captures.assert_same(again, read(path.read_bytes()))


@pytest.mark.some(6)
@pytest.mark.parametrize("kind", [name for name in KINDS if "weights alone" not in name])
def test_what_is_derived_is_the_same(kind: str) -> None:
    cap = KINDS[kind]
    again = read(to_bytes(cap, with_weights=True))
    # of some heads the file has the columns of W side by side, which are multiplied in one piece:
    # rounding differs then, and with it which of the heads is the worst
    rounding = 2e-6 if "heads" in kind else 0.0
    for one, two in zip(again.verify().comparisons, cap.verify().comparisons, strict=True):
        assert (one.call, one.stage, one.ok) == (two.call, two.stage, two.ok)
        assert one.error == pytest.approx(two.error, abs=rounding, rel=0)
        assert rounding or one.tolerance == two.tolerance
    for mine, other in zip(cap.calls, again.calls, strict=True):
        if not isinstance(mine.inputs, AttentionInputs):
            head = mine.kept_heads[1]
            assert torch.equal(mine.weights(head, 1), other.weights(head, 1))
            continue
        views = (attnviz.derive(call, mine.kept_heads[-1], 1).views() for call in (mine, other))
        for saved, loaded in zip(*views, strict=True):
            assert (saved.error or 0) == pytest.approx(loaded.error or 0, abs=rounding, rel=0)
            captures.assert_same(replace(saved, error=None), replace(loaded, error=None))


def test_without_its_layers_a_capture_says_why_steps_are_missing() -> None:
    cap = KINDS["projections"]
    again = read(to_bytes(cap))
    (call,) = again.calls
    assert not call.projections
    assert call.absent == {"x": WITHOUT_W, "projected": WITHOUT_W}
    assert attnviz.derive(call, 0).absent["x"] == WITHOUT_W
    captures.assert_same(cap.calls[0].inputs, call.inputs)
    again.verify().require()


def test_shared_memory_is_written_once() -> None:
    """q, k and v of a fused layer are views of what it wrote: the file has that once."""
    cap = KINDS["projections"]
    written = len(to_bytes(cap, with_weights=True))
    tensors = [tensor for call in cap.calls for tensor in memory.tensors(call)]
    weights = [part for layer in cap.calls[0].projections.values() for part in (layer.weight,)]
    apart = sum(tensor.nbytes for tensor in [*tensors, *weights])
    assert cap.nbytes + sum(weight.nbytes for weight in weights) < written < 0.8 * apart
    again = read(to_bytes(cap, with_weights=True))
    layer = again.calls[0].projections["q"]
    assert again.calls[0].inputs.query.data_ptr() == layer.output.data_ptr()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", torch.float16])
def test_half_precision_halves_the_file(dtype: str | torch.dtype) -> None:
    cap = KINDS["bias"]
    whole, half = (read(to_bytes(cap, dtype=of)) for of in (None, dtype))
    assert half.calls[0].inputs.dtype in (torch.float16, torch.bfloat16)
    assert half.calls[0].inputs.bias.dtype == torch.float32
    assert half.calls[0].inputs.query.nbytes * 2 == whole.calls[0].inputs.query.nbytes
    difference = (half.calls[0].weights() - whole.calls[0].weights()).abs().max()
    assert 0 < difference < 0.02
    half.verify().require()


def test_half_precision_refuses_what_it_cannot_hold() -> None:
    cap = captures.capture(captures.call(captures.qkv(scaling=1e-9)))
    cap.calls[0].inputs.value.mul_(1e6)
    with pytest.raises(BadInput, match="too large for torch.float16.*bfloat16"):
        to_bytes(cap, dtype="float16")
    assert read(to_bytes(cap, dtype="bfloat16"))
    with pytest.raises(BadInput, match="float16 or bfloat16; not as 'int8'"):
        to_bytes(cap, dtype=torch.int8)


def test_outputs_are_kept_on_request() -> None:
    cap = KINDS["outputs"]
    assert read(to_bytes(cap)).logits is None
    kept = read(to_bytes(cap, with_outputs=True))
    assert torch.equal(kept.logits, cap.logits) and torch.equal(kept.hidden, cap.hidden)


def test_a_file_says_how_it_was_made() -> None:
    _, about = opened(to_bytes(KINDS["grouped"], dtype="float16"))
    assert about.versions["attnviz"] == attnviz.__version__
    assert about.versions["torch"] == torch.__version__
    assert about.error is not None and about.error <= 1e-5 <= about.tolerance
    _, alone = opened(to_bytes(KINDS["weights alone"]))
    assert alone.error is None


def test_equal_captures_give_equal_files() -> None:
    assert to_bytes(captures.every_kind()["cross"]) == to_bytes(captures.every_kind()["cross"])


def test_a_capture_can_replace_the_file_that_it_was_read_from(tmp_path: Path) -> None:
    path = save(KINDS["grouped"], tmp_path / "x.safetensors")
    first = read(path)
    save(KINDS["causal"], path)
    captures.assert_same(first, KINDS["grouped"])
    captures.assert_same(read(path), KINDS["causal"])
    save(read(path), path)
    captures.assert_same(read(path), KINDS["causal"])
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.safetensors"]


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot write .*gone") as raised:
        save(KINDS["grouped"], tmp_path / "gone" / "x.safetensors")
    assert raised.value.code == "cannot_write"


def test_keys_that_were_overwritten_are_not_saved() -> None:
    inputs = captures.qkv()
    inputs = AttentionInputs(
        **{name: getattr(inputs, name) for name in ("query", "key", "value", "mask", "causal")},
        scaling=1.0,
    ).watched(inputs.mask)
    cap = captures.capture(captures.call(inputs))
    assert read(to_bytes(cap)).calls[0].inputs.versions is None
    inputs.key.mul_(2)
    with pytest.raises(UnsupportedAttention, match="overwritten"):
        to_bytes(cap)


@pytest.mark.parametrize("source", ["path", "bytes"])
def test_a_file_over_the_limit_is_refused(source: str, tmp_path: Path) -> None:
    path = save(KINDS["grouped"], tmp_path / "x.safetensors")
    with pytest.raises(TooLarge, match="the limit is 1,000") as raised:
        read(path if source == "path" else path.read_bytes(), max_bytes=1000)
    assert raised.value.found == path.stat().st_size


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.safetensors", tmp_path):
        with pytest.raises(BadInput, match=str(path)) as raised:
            read(path)
        assert raised.value.code == "no_file"


def test_tokens_that_do_not_name_an_axis_stay_as_they_are() -> None:
    """Some captures know no tokens for an axis; the file says so, and keeps them."""
    cap: Capture = captures.capture(captures.call(captures.qkv(n_key=11)))
    again = read(to_bytes(cap))
    captures.assert_same(cap, again)
    assert len(again.key_tokens(again.calls[0])) == 7
