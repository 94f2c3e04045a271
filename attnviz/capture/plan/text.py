"""What goes into the model, decided and checked before it runs.

In: a model and what the caller gave: texts, a target, pictures, or inputs that are ready. Out: a
`Plan`, the model's inputs and the tokens of each stack. Nothing has run when an error is raised.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from transformers import BatchEncoding

from attnviz.capture.plan.chat import messages
from attnviz.errors import BadInput, TooLarge
from attnviz.models.loaded import LoadedModel
from attnviz.models.seeded import Example
from attnviz.tokens.labels import without_surrogates
from attnviz.types import Stack, Tokens, named_tokens

TokensByStack = dict[Stack | None, tuple[Tokens, ...]]


@dataclass(frozen=True)
class Plan:
    """The model's inputs on its device, and the tokens that are known before it runs.

    `seconds` is how long a model hears that listens, silence included that was added after
    `sound_s`; `steps_s` is how far its frames may be apart; `n_written` of the decoder's tokens
    are its own.
    """

    inputs: dict[str, Tensor]
    tokens: TokensByStack
    seconds: float | None = None
    sound_s: float = math.inf
    steps_s: tuple[float, ...] = ()
    n_written: int = 0


def plan_text(
    lm: LoadedModel,
    text: object,
    text_pair: object,
    target: object,
    *,
    generates: bool,
    cut: bool,
    chat: bool = False,
    n_piece: int | None = None,
) -> Plan:
    """The plan for one text, or several as one padded batch; with a target for the decoder.

    With `chat` each text is a message inside the model's own template. `n_piece` is given where a
    picture goes with the text: the tokens that it will have there, for which `cut` leaves room.
    """
    room = lm.max_tokens - (n_piece or 0)
    texts = as_texts(text, "text")
    if chat:
        texts = messages(lm, texts, room if cut else None, pictured=n_piece is not None)
    pairs = _matching(text_pair, "text_pair", texts)
    targets = _matching(target, "target", texts)
    two_stacks = lm.kind == "encoder-decoder"
    _require_target_fits(lm, two_stacks, targets is not None, generates)
    # a decoder continues at its right end, so padding goes to the left there
    side = "left" if generates and lm.kind == "decoder" else "right"
    encoded = _encode(lm, texts, pairs, room if cut and not chat else None, side, added=not chat)
    names = set(lm.text_tokenizer().model_input_names)
    inputs = {name: encoded[name].to(lm.key.device) for name in names & set(encoded)}
    rows = text_tokens(lm, encoded, texts, pairs, lm.special_ids if chat else frozenset())
    if not two_stacks:
        return Plan(inputs, {None: rows})
    if targets is None:
        return Plan(inputs, {"encoder": rows})
    decoder, decoder_rows = _plan_target(lm, targets, cut)
    return Plan(inputs | decoder, {"encoder": rows, "decoder": decoder_rows})


def plan_inputs(lm: LoadedModel, inputs: Mapping[str, Tensor]) -> Plan:
    """The plan for inputs that are ready; tokens are named as far as the model has names."""
    wrong = {name: str(of.device) for name, of in inputs.items() if of.device.type != _device(lm)}
    if wrong:
        raise BadInput(
            f"the inputs {wrong} are on another device than the model, {lm.key.device};"
            " move them with .to()",
            code="wrong_device",
            found=str(wrong),
            wanted=lm.key.device,
        )
    tokens: TokensByStack = {}
    two_stacks = lm.kind == "encoder-decoder"
    for name, stack in (("input_ids", "encoder"), ("decoder_input_ids", "decoder")):
        if name in inputs:
            key: Stack | None = stack if two_stacks else None  # type: ignore[assignment]
            mask = inputs.get(name.replace("input_ids", "attention_mask"))
            tokens[key] = id_tokens(lm, inputs[name], mask)
    return Plan(dict(inputs), tokens)


def plan_example(example: Example) -> Plan:
    """The plan for the inputs that come with a model, under the names that they have."""
    n_batch = len(next(iter(example.inputs.values())))
    return Plan(dict(example.inputs), {None: (named_tokens(example.labels),) * n_batch})


def as_texts(value: object, name: str) -> list[str]:
    """A text, or each of several, checked; lone surrogates become U+FFFD."""
    texts = _strings(value)
    if texts is None:
        raise BadInput(
            f"{name} is {type(value).__name__}; give a string, or a list of strings for a batch",
            code="not_a_string",
            name=name,
            found=type(value).__name__,
        )
    if not texts or not all(text.strip() for text in texts):
        raise BadInput(
            f"{name} is empty; give at least one character that is not white space",
            code="empty_text",
            name=name,
        )
    return [without_surrogates(text) for text in texts]


def _strings(value: object) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Sequence) or isinstance(value, bytes):
        return None
    return list(value) if all(isinstance(text, str) for text in value) else None


def _matching(value: object, name: str, texts: list[str]) -> list[str] | None:
    if value is None:
        return None
    found = as_texts(value, name)
    if len(found) != len(texts):
        raise BadInput(
            f"text has {len(texts)} entries and {name} {len(found)}; give one for each",
            code="pair_count",
            name=name,
            texts=len(texts),
            pairs=len(found),
        )
    return found


def _require_target_fits(lm: LoadedModel, two_stacks: bool, has: bool, generates: bool) -> None:
    if has and not two_stacks:
        raise BadInput(
            f"{lm.name} is a {lm.kind} model: only an encoder-decoder takes a target",
            code="no_decoder",
            name=lm.name,
            kind=lm.kind,
        )
    if two_stacks and not has and not generates:
        raise BadInput(
            f"{lm.name} is an encoder-decoder: give target=, or generate=N to let it write one",
            code="no_target",
            name=lm.name,
        )


def _encode(
    lm: LoadedModel,
    texts: list[str],
    pairs: list[str] | None,
    room: int | None,
    side: str,
    *,
    added: bool,
) -> BatchEncoding:
    """The ids of a batch, each row cut to `room` tokens where that is given."""
    tokenizer = lm.text_tokenizer()
    if tokenizer.pad_token is None and len(texts) > 1:
        tokenizer.pad_token = tokenizer.eos_token
    encoded: BatchEncoding = tokenizer(
        texts,
        pairs,
        add_special_tokens=added,
        padding=len(texts) > 1,
        padding_side=side,
        truncation=room is not None,
        max_length=None if room is None else max(1, room),
        return_tensors="pt",
        verbose=False,
    )
    length = int(encoded["attention_mask"].sum(dim=1).max())
    require_length(lm, length)
    return encoded


def require_length(lm: LoadedModel, length: int, most: int | None = None) -> None:
    """Raise `TooLarge` for more tokens than the model, or its decoder, takes."""
    limit = lm.max_tokens if most is None else most
    if length > limit:
        raise TooLarge(
            f"the text has {length} tokens and {lm.name} takes at most {limit};"
            " shorten it, or pass cut=True to keep its beginning",
            code="too_many_tokens",
            found=length,
            limit=limit,
            unit="tokens",
        )


def _plan_target(
    lm: LoadedModel, targets: list[str], cut: bool
) -> tuple[dict[str, Tensor], tuple[Tokens, ...]]:
    """The decoder's inputs: the target shifted right behind the start token, as in training."""
    encoded = lm.text_tokenizer()(
        text_target=targets,
        padding=len(targets) > 1,
        truncation=cut,
        max_length=lm.max_tokens if cut else None,
        return_tensors="pt",
    )
    ids, attended = encoded["input_ids"], encoded["attention_mask"]
    start = torch.full_like(ids[:, :1], start_token(lm.model))
    shifted = torch.cat([start, ids[:, :-1]], dim=1).to(lm.key.device)
    mask = torch.cat([torch.ones_like(start), attended[:, :-1]], dim=1).to(lm.key.device)
    rows = id_tokens(lm, shifted, mask)
    return {"decoder_input_ids": shifted, "decoder_attention_mask": mask}, rows


def start_token(model: nn.Module) -> int:
    """The token that a decoder starts from."""
    for config in (getattr(model, "generation_config", None), model.config):
        for name in ("decoder_start_token_id", "bos_token_id", "pad_token_id"):
            found = getattr(config, name, None)
            if isinstance(found, int):
                return found
    return 0


def text_tokens(
    lm: LoadedModel,
    encoded: BatchEncoding,
    texts: list[str],
    pairs: list[str] | None,
    control: frozenset[int] = frozenset(),
) -> tuple[Tokens, ...]:
    """The tokens of each row of a tokenised batch, with the characters they stand for.

    Special are those that the tokenizer added, and those of `control`, which a template wrote.
    """
    if encoded.encodings is None:  # a tokenizer in Python keeps no offsets
        return id_tokens(lm, encoded["input_ids"], encoded["attention_mask"])
    rows = zip(texts, pairs or [""] * len(texts), encoded.encodings, strict=True)
    return tuple(
        lm.tokens(
            text=f"{text}\n{pair}" if pairs else text,
            ids=row.ids,
            offsets=_offsets(row.offsets, row.sequence_ids, second_starts=len(text) + 1),
            special=[
                int(added or token in control)
                for added, token in zip(row.special_tokens_mask, row.ids, strict=True)
            ],
            attended=row.attention_mask,
        )
        for text, pair, row in rows
    )


def id_tokens(lm: LoadedModel, ids: Tensor, attended: Tensor | None) -> tuple[Tokens, ...]:
    """The tokens of each row of a tensor of ids; their pieces are their labels."""
    mask = torch.ones_like(ids) if attended is None else attended
    special = lm.special_ids
    return tuple(
        lm.tokens(
            text="",
            ids=row.tolist(),
            offsets=[(0, 0)] * len(row),
            special=[int(token in special) for token in row.tolist()],
            attended=keep.tolist(),
        )
        for row, keep in zip(ids, mask, strict=True)
    )


def _offsets(
    offsets: list[tuple[int, int]], sentence_of: list[int | None], second_starts: int
) -> list[tuple[int, int]]:
    """Character offsets of each token; those of the second sentence count from its start."""
    return [
        (start + second_starts, end + second_starts) if sentence == 1 else (start, end)
        for (start, end), sentence in zip(offsets, sentence_of, strict=True)
    ]


def _device(lm: LoadedModel) -> str:
    return torch.device(lm.key.device).type
