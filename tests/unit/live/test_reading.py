"""The worker's tokens, labels and words beside the library's, for texts of many scripts."""

import json
import random
import sys
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import attnviz
from attnviz import i18n
from attnviz.models.loaded_model import LoadedModel
from attnviz.tokens.labels import visible
from attnviz.tokens.words import _joins, words
from attnviz.types import Tokens
from tests.support.node import in_node, needs_node

pytestmark = needs_node

MODELS = ("minilm", "stories", "stories-llama", "translator", "dates", "sentiment")
N_QUICK, N_ALL = 150, 2000
WORDS = (
    "the cat sat on mat Anna gave ball to Tom was not good film Monday January 12 1948 black small"
    " birds do see une"
).split()
ODD = (
    "👩‍👩‍👧‍👦",
    "🏳️‍🌈",
    "👍🏽",
    "🇫🇷🇯🇵",
    "☕️",
    "é",
    "e\u0301",
    "ﬁne",
    "Straße",
    "İstanbul",
    "ΟΔΥΣΣΕΥΣ",
    "naïve café",
    "don’t",
    "l’homme",
    "aujourd'hui",
    "½ ² ①",
    "\u200bzero",
    "a\u00a0b",
    "tab\there",
    "line\nbreak",
    "  two  spaces ",
    "\u3000全角",
    "ﾊﾝｶｸ",
    "한글",
    "\u1100\u1161\u11a8",
    "नमस्ते",
    "สวัสดี",
    "שלום",
    "مرحبا",
    "x²+y²",
    "3.14159",
    "1,000",
    "https://a.b/c?d=e",
    "<|endoftext|>",
    "[MASK] word",
    "</s>",
    "[CLS]",
    "Mr. O'Neil's",
    "rock-n-roll",
    "\ufeffbom",
    "\u202eabc",
    "\x00nul",
    "\x07bell",
    "…",
    "—dash—",
    "\u00ad soft",
    "𝔘𝔫𝔦",
    "𠮷野家",
    "Ǆ",
    "ß",
    "ﷺ",
    "\ud7a3",
    "々時",
    "__proto__",
    "constructor",
)


def leaves(table: object) -> Iterator[str]:
    """Every text of a catalogue."""
    if isinstance(table, str):
        yield table
    elif isinstance(table, dict):
        for value in table.values():
            yield from leaves(value)


def texts(count: int) -> list[str]:
    """Texts of the interface in four languages, and odd ones among plain words."""
    draw = random.Random(5)
    folder = Path(i18n.__file__).parent
    pool = [*ODD, "", " ", "a" * 130]
    for lang in i18n.LANGUAGES:
        known = tomllib.loads((folder / f"{lang}.toml").read_text(encoding="utf-8"))
        pool += draw.sample(sorted(set(leaves(known))), count // 6)
    while len(pool) < count:
        parts = draw.choices(ODD, k=draw.randint(0, 4)) + draw.choices(WORDS, k=draw.randint(0, 8))
        draw.shuffle(parts)
        start = draw.choice(["", " ", "  ", "\n"])
        pool.append(start + draw.choice([" ", " ", "  ", "", "\t"]).join(parts))
    return pool[:count]


def file_of(lm: LoadedModel) -> str:
    """The tokenizer.json of a model."""
    written: str = lm.text_tokenizer().backend_tokenizer.to_str()
    return written


def by_library(lm: LoadedModel, text: str) -> Tokens:
    encoded = lm.tokenize(text, return_offsets_mapping=True, return_special_tokens_mask=True)
    return lm.tokens(
        text,
        encoded["input_ids"],
        encoded["offset_mapping"],
        encoded["special_tokens_mask"],
        encoded["attention_mask"],
    )


ENCODED = """async ({ file, texts }) => {
  const { Tokenizer } = await load("../live/reading/tokenizer.js");
  const { wordsOf } = await load("../live/reading/words.js");
  const tokenizer = new Tokenizer(JSON.parse(file));
  return texts.map((text) => {
    const tokens = tokenizer.encode(text);
    const words = wordsOf(tokens, [...text], (pieces) => tokenizer.join(pieces));
    return {
      ids: tokens.map(({ id }) => id),
      offsets: tokens.map(({ from, to }) => [from, to]),
      labels: tokens.map(({ label }) => label),
      special: tokens.map(({ special }) => special),
      words: words.map(({ text, start, stop, special }) => [text, start, stop, special]),
    };
  });
}"""


def as_node_has_it(lm: LoadedModel, tokens: Tokens) -> dict[str, Any]:
    join = lm.text_tokenizer().convert_tokens_to_string
    spelled = words(tokens, join) if tokens.text else ()
    return {
        "ids": tokens.ids.tolist(),
        "offsets": [list(offset) for offset in tokens.offsets],
        "labels": list(tokens.labels),
        "special": tokens.special.tolist(),
        "words": [[word.text, word.start, word.stop, word.special] for word in spelled],
    }


@pytest.mark.some(1)
@pytest.mark.parametrize(
    "count", [N_QUICK, pytest.param(N_ALL, marks=pytest.mark.slow)], ids=["quick", "all"]
)
@pytest.mark.parametrize("name", MODELS)
def test_encode_and_words_are_those_of_the_library(name: str, count: int) -> None:
    lm = attnviz.load(name)
    pool = [text for text in texts(count) if text]
    found = in_node(ENCODED, {"file": file_of(lm), "texts": pool})
    for text, ours in zip(pool, found, strict=True):
        assert ours == as_node_has_it(lm, by_library(lm, text)), repr(text)


# --- files of other models ------------------------------------------------------------------------

BERT_POST = {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}
GPT2_POST = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
CASED = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": False,
}
METASPACE = {
    "type": "Metaspace",
    "replacement": "▁",
    "prepend_scheme": "first",
    "split": True,
}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "as GPT-2": ("stories", {"post_processor": GPT2_POST}),
    "as GPT-2, untrimmed": ("stories", {"post_processor": GPT2_POST | {"trim_offsets": False}}),
    "as GPT-2, prefixed": ("stories", {"post_processor": GPT2_POST | {"add_prefix_space": True}}),
    "without a template": ("stories", {"post_processor": None}),
    "as BERT, cased": ("minilm", {"normalizer": CASED, "post_processor": BERT_POST}),
    "decomposed": ("stories", {"normalizer": {"type": "NFD"}}),
    "compatible": ("stories", {"normalizer": {"type": "NFKC"}}),
    "words by signs": ("translator", {"pre_tokenizer": METASPACE}),
}


@pytest.mark.some(1)
@pytest.mark.parametrize("case", VARIANTS)
def test_encode_reads_files_of_other_models(case: str) -> None:
    name, parts = VARIANTS[case]
    file = json.loads(file_of(attnviz.load(name))) | parts | {"truncation": None, "padding": None}
    library = tokenizers.Tokenizer.from_str(json.dumps(file))
    pool = [text for text in texts(N_QUICK) if text]
    found = in_node(ENCODED, {"file": json.dumps(file), "texts": pool})
    for text, ours in zip(pool, found, strict=True):
        wanted = library.encode(text)
        assert ours["ids"] == wanted.ids, repr(text)
        assert ours["offsets"] == [list(offset) for offset in wanted.offsets], repr(text)


# --- every character ------------------------------------------------------------------------------


@pytest.mark.slow
def test_visible_and_joins_are_those_of_the_library_for_every_character() -> None:
    """Characters that Python's older table of Unicode does not have are left out."""
    codes = [
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) not in ("Cn", "Cs")
    ]
    found = in_node(
        """async (codes) => {
          const { visible } = await load("../live/reading/labels.js");
          const { joins } = await load("../live/reading/words.js");
          const char = (code) => String.fromCodePoint(code);
          return [
            codes.filter((code) => visible(char(code)) !== char(code)),
            codes.filter((code) => joins(char(code))),
          ];
        }""",
        codes,
    )
    assert found[0] == [code for code in codes if visible(chr(code)) != chr(code)]
    assert found[1] == [code for code in codes if _joins(chr(code))]
