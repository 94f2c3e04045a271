"""`capture(inputs=…)`: every form of the same numbers gives one result, and bad ones are named."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from transformers import Wav2Vec2Config, Wav2Vec2Model

import attnviz
from attnviz import metrics
from attnviz.capture.run import capture
from attnviz.capture.storage import Storage
from attnviz.errors import BadInput, UnsupportedAttention
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from tests.support import folders
from tests.support.shapes import unchecked

IDS = [[7, 8, 9, 10, 6], [11, 12, 6, 7, 8]]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], LoadedModel]:
    """A tiny model by name, loaded once."""
    root, known = tmp_path_factory.mktemp("models"), dict[str, LoadedModel]()
    folder = partial(folders.saved, root)

    def model(name: str) -> LoadedModel:
        if name not in known:
            known[name] = load(folder(name))
        return known[name]

    return model


@pytest.mark.parametrize("ids", [IDS, tuple(map(tuple, IDS)), np.array(IDS, dtype=np.int32)])
def test_lists_and_arrays_are_taken_as_tensors(
    tiny: Callable[[str], LoadedModel], ids: object
) -> None:
    lm = tiny("gpt2")
    own = capture(lm, inputs={"input_ids": torch.tensor(IDS)})
    other = capture(lm, inputs={"input_ids": ids})
    np.testing.assert_array_equal(own.all_weights(batch=1), other.all_weights(batch=1))


def test_what_a_tokenizer_gives_is_taken_as_it_is(tiny: Callable[[str], LoadedModel]) -> None:
    lm = tiny("bert")
    for kind in ("pt", "np", None):
        encoded = lm.tokenize(["the cat sat on a mat"], return_tensors=kind)
        cap = capture(lm, inputs=encoded)
        np.testing.assert_array_equal(
            cap.all_weights(), capture(lm, "the cat sat on a mat").all_weights()
        )


def test_floats_take_the_type_of_the_model(tmp_path: Path) -> None:
    lm = load(folders.save(tmp_path, "bert"), dtype="bfloat16")
    embeds = np.random.default_rng(3).normal(size=(1, 4, 24))
    wide = getattr(lm.model.config, "hidden_size", 24)
    cap = capture(lm, inputs={"inputs_embeds": embeds[..., :wide]})
    assert cap.call(0).inputs.dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"input_ids": [7, 8, 9]}, r"with shape \(3,\); give whole numbers \[batch, token\]"),
        ({"input_ids": [[0.5, 1.5]]}, "float32 with shape"),
        ({"input_ids": [[7, 99]]}, "has 99, and .* knows the ids 0 to"),
        ({"input_ids": [[7, -1]]}, "has -1, and"),
        (
            {"input_ids": IDS, "attention_mask": [[1, 1, 1]]},
            r"attention_mask'\] has shape \(1, 3\)",
        ),
        ({"input_ids": IDS, "attention_mask": [[1] * 5] * 3}, "give a mask for the same tokens"),
        ({"input_idz": IDS}, "cannot run on the inputs input_idz"),
        ({"attention_mask": [[1, 1]]}, "cannot run on the inputs attention_mask"),
        ({"inputs_embeds": np.ones((1, 3, 5))}, "cannot run on the inputs inputs_embeds"),
    ],
)
def test_inputs_that_a_model_cannot_read_are_named(
    tiny: Callable[[str], LoadedModel], inputs: dict[str, object], message: str
) -> None:
    for name in ("bert", "gpt2"):
        with pytest.raises(BadInput, match=message) as caught:
            capture(tiny(name), inputs=inputs)
        assert caught.value.code == "bad_inputs"


def test_ids_of_the_decoder_are_checked_too(tiny: Callable[[str], LoadedModel]) -> None:
    lm = tiny("marian")
    given = {"input_ids": IDS, "decoder_input_ids": [[6, 7], [8, 9]]}
    assert capture(lm, inputs=given).call(0, kind="cross").n_query == 2
    with pytest.raises(BadInput, match=r"inputs\['decoder_input_ids'\] has 999"):
        capture(lm, inputs={**given, "decoder_input_ids": [[6, 999], [8, 9]]})


def test_vectors_cannot_be_written_on(tiny: Callable[[str], LoadedModel]) -> None:
    vectors = torch.randn(1, 3, 30)
    with pytest.raises(BadInput, match="generate= continues ids, .* have no input_ids"):
        capture(tiny("gpt2"), inputs={"inputs_embeds": vectors}, generate=3)
    with pytest.raises(BadInput, match="cannot write text"):
        capture(tiny("bert"), inputs={"input_ids": IDS}, generate=3)


def test_a_model_without_inputs_of_its_own_needs_some(tiny: Callable[[str], LoadedModel]) -> None:
    with pytest.raises(BadInput, match="was given nothing to read") as caught:
        capture(tiny("bert"))
    assert caught.value.code == "nothing_to_read"


def test_a_module_that_lacks_an_argument_says_which() -> None:
    with pytest.raises(BadInput, match="missing a required argument: 'key'"):
        capture(nn.MultiheadAttention(4, 2).eval(), inputs={"query": torch.ones(1, 2, 4)})


@pytest.mark.parametrize("additive", [False, True])
def test_a_mask_of_queries_and_keys_gives_padding_one_value_each(
    tiny: Callable[[str], LoadedModel], additive: bool
) -> None:
    """The last two tokens of the second row are padding: no query may attend to them."""
    lm, n = tiny("gpt2"), 5
    may_attend = torch.ones(n, n, dtype=torch.bool).tril()[None, None].repeat(2, 1, 1, 1)
    may_attend[1, :, :, 3:] = False
    mask = may_attend
    if additive:
        mask = torch.zeros(may_attend.shape).masked_fill(~may_attend, torch.finfo().min)
    cap = capture(lm, inputs={"input_ids": IDS, "attention_mask": mask})
    assert cap.tokens_of(0).padding.tolist() == [False] * 5
    assert cap.tokens_of(1).padding.tolist() == [False] * 3 + [True] * 2
    metrics.score(cap)
    flat = capture(lm, inputs={"input_ids": IDS, "attention_mask": [[1] * 5, [1, 1, 1, 0, 0]]})
    assert flat.tokens_of(1).padding.tolist() == cap.tokens_of(1).padding.tolist()
    np.testing.assert_allclose(
        flat.weights(1, batch=1)[:, :3], cap.weights(1, batch=1)[:, :3], atol=1e-5
    )


def labels_of(lm: LoadedModel | nn.Module, inputs: dict[str, object]) -> tuple[str, ...]:
    cap = capture(lm, inputs=inputs)
    assert not cap.tokens.special.any() and cap.grid is None
    metrics.score(cap)
    return cap.tokens.labels


def test_vectors_are_numbered_and_not_named_as_patches(
    tiny: Callable[[str], LoadedModel],
) -> None:
    numbers = tuple("01234567")
    stories = load("stories")
    width = stories.model.config.n_embd
    assert labels_of(stories, {"inputs_embeds": torch.randn(1, 8, width)}) == numbers
    layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()
    assert labels_of(encoder, {"src": torch.randn(1, 8, 8)}) == numbers
    config = Wav2Vec2Config(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=12,
        conv_dim=(8,),
        conv_stride=(20,),
        conv_kernel=(20,),
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
    )
    speech = Wav2Vec2Model(config).eval()
    assert labels_of(speech, {"input_values": torch.randn(1, 160)}) == numbers


def test_pixels_are_still_named_as_patches(tiny: Callable[[str], LoadedModel]) -> None:
    cap = capture(tiny("vit"), inputs={"pixel_values": torch.zeros(1, 3, 12, 12)})
    assert cap.grid == (3, 3)
    assert cap.tokens.labels[:3] == ("[CLS]", "r0c0", "r0c1")


def test_what_a_model_never_reads_alone_is_asked_for(
    tiny: Callable[[str], LoadedModel],
) -> None:
    picture = np.zeros((12, 12, 3), dtype=np.uint8)
    for name in ("clip", "blip"):
        with pytest.raises(BadInput, match="give image= with text="):
            capture(tiny(name), "the cat")
    for name in ("clip", "llava"):
        with pytest.raises(BadInput, match="give text= with image="):
            capture(tiny(name), image=picture)
    assert len(capture(tiny("llava"), "the cat").tokens_of()) == 2


@pytest.mark.parametrize("store", ["int8", "bfloat16", torch.float16])
def test_a_type_that_cannot_be_kept_is_refused(store: object) -> None:
    with unchecked(), pytest.raises(BadInput, match="store= is .* give 'float16'"):
        Storage(store)  # type: ignore[arg-type]


def test_capture_takes_a_name_or_a_module(tiny: Callable[[str], LoadedModel]) -> None:
    ours = capture("stories", "Once upon a time")
    theirs = capture(load("stories"), "Once upon a time")
    np.testing.assert_array_equal(ours.all_weights(), theirs.all_weights())
    cap = capture(tiny("gpt2").model, inputs={"input_ids": IDS})
    assert cap.model.revision == "live"


def test_attention_with_dropout_is_refused_by_its_name() -> None:
    model = folders.model("gpt2").train()
    with pytest.raises(UnsupportedAttention, match=r"training mode do; call \.eval\(\)") as caught:
        capture(model, inputs={"input_ids": IDS})
    assert caught.value.code == "training_mode"
    own = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.5, batch_first=True).train()
    with pytest.raises(UnsupportedAttention, match=r"training mode.*call \.eval\(\)"):
        capture(own, inputs={"src": torch.randn(1, 4, 8)})


def test_a_target_that_is_too_long_is_refused(tiny: Callable[[str], LoadedModel]) -> None:
    from attnviz.errors import TooLarge

    lm = tiny("marian")
    with pytest.raises(TooLarge, match="takes at most"):
        capture(lm, "the cat", target="a dog " * lm.max_tokens)
    cut = capture(lm, "the cat", target="a dog " * lm.max_tokens, cut=True)
    assert len(cut.tokens_of(stack="decoder")) == lm.max_tokens


def test_a_target_can_be_written_on(tiny: Callable[[str], LoadedModel]) -> None:
    lm = tiny("t5")
    given = capture(lm, "the cat sat", target="a dog")
    more = capture(lm, "the cat sat", target="a dog", generate=4)
    prompt = given.tokens_of(stack="decoder").ids.tolist()
    assert more.tokens_of(stack="decoder").ids.tolist()[: len(prompt)] == prompt
    assert more.n_generated == len(more.tokens_of(stack="decoder")) - len(prompt) == 3
    more.verify().require()


def test_what_only_asks_another_text_has_numbered_tokens() -> None:
    torch.manual_seed(0)
    lm = attnviz.load(torch.nn.MultiheadAttention(8, 2, batch_first=True).eval())
    asked = torch.randn(1, 5, 8)
    inputs = {"query": torch.randn(1, 3, 8), "key": asked, "value": asked}
    cap = attnviz.capture(lm, inputs=inputs)
    assert [call.kind for call in cap.calls] == ["cross"]
    assert cap.tokens.labels == ("0", "1", "2") and "3 tokens" in repr(cap)
    assert len(cap.table()["head"]) == 2
