"""What `stories` and `stories-llama` claim: copying, indirect objects, "it", and which heads do it.

`check` measures on prompts from seeds and pairs of words that the training text does not have;
`describe` is the rest of the card, with the heads found and ten continuations. Both take either
model. How the heads are scored: attnviz.checks.decoders.
"""

from random import Random

import numpy as np

from attnviz.capture.generation.settings import Generation
from attnviz.checks import decoders
from attnviz.checks.cards import Description, HeadNote
from attnviz.checks.decoders import Copying, Looking
from attnviz.checks.figure import Figure
from attnviz.models.loaded import LoadedModel
from attnviz.worlds.stories import probes, stories
from attnviz.worlds.stories.probes import Choice

# training draws its text from small seeds and measures its curve with 77,000
SEED = 910_000
N_PROMPTS = 200
N_LOOKED_AT = 100
N_RANDOM_TEXTS = 200
# random tokens that come twice: so many texts, so many tokens each time
N_REPEATED, LENGTH_REPEATED = 20, 25
# texts that a tokenizer could lose something of: spaces, scripts, marks, controls, joined emoji
HOSTILE = (
    "",
    " ",
    "  two  spaces  ",
    "tab\tnew\nline\r\nend\n",
    "Once upon a time",
    "東京は日本の首都です。",
    "나는 학교에 갑니다.",
    "我喜欢苹果。",
    "שלום עולם",
    "مرحبا بالعالم",
    "हिन्दी में",
    "ไทย",
    "👩‍👩‍👧 🏳️‍🌈 🇯🇵",
    "e\u0301 é ﬁ ½ ①",
    "\u200b\u200d\u2060\ufeff\u202eabc\u202c",
    "\u0000\u0001\u001f\u007f\u0085\u2028\u2029",
    "\ufffd\uffff\U0010ffff\U0001f600",
    "</script><img onerror=x> %{x} {{y}} \\n &amp;",
    "<|endoftext|> <s> [CLS] Ġ Ċ",
    "don't , isn 't . ! ?",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "Zażółć gęślą jaźń",
)
STARTS = (
    "Once upon a time there was a",
    "One day, Lily and Tom went to the",
    "The animal didn't cross the street because it",
    "When Mary and John went to the store, John",
    "The little dog was hungry, so",
    '"Where is my red ball?" asked',
    "Anna had three apples.",
    "There was once a clever boy",
    "The queen looked at the lion and said,",
    "What is the capital of",
)
N_WRITTEN = 40
# how many of the ten continuations on the shipped card a reader found grammatical
FOUND_GRAMMATICAL = {"stories": 9, "stories-llama": 10}


def check(lm: LoadedModel) -> tuple[Figure, ...]:
    """The card's figures, measured now."""
    giving, candidates = _choices()
    looking = decoders.looking(lm, candidates[:N_LOOKED_AT])
    it_head, _ = decoders.best(looking.preference)
    facts = probes.facts()
    texts = list(stories.documents(SEED, 100))
    return (
        Figure(
            "text that comes back from the tokenizer unchanged",
            came_back(lm),
            1.0,
            cases=len(HOSTILE) + N_RANDOM_TEXTS,
        ),
        *_copying_figures(_copying(lm)),
        Figure("indirect object", decoders.share_right(lm, giving), 0.95, cases=N_PROMPTS),
        Figure("what it is", decoders.share_right(lm, candidates), 0.9, cases=N_PROMPTS),
        Figure(
            f"{it_head} looks at what it is (chance 0.5)",
            looking.share_right(it_head),
            0.8,
            cases=N_LOOKED_AT,
        ),
        Figure("facts of its world", decoders.share_on_top(lm, facts), 0.9, cases=len(facts)),
        Figure(
            "held-out loss, nats per token",
            decoders.mean_loss(lm, texts),
            1.2,
            at_least=False,
            cases=len(texts),
        ),
    )


def _copying_figures(copied: Copying) -> tuple[Figure, ...]:
    induction, induction_score = decoders.best(copied.induction)
    previous, previous_score = decoders.best(copied.previous)
    n_guessed = N_REPEATED * (LENGTH_REPEATED - 1)
    return (
        Figure("repeated random tokens copied", copied.accuracy, 0.98, cases=n_guessed),
        Figure(
            f"{induction} attends to what came after this token earlier",
            induction_score,
            0.9,
            cases=n_guessed,
        ),
        Figure(
            f"{previous} attends to the token before",
            previous_score,
            0.7,
            cases=N_REPEATED * (2 * LENGTH_REPEATED - 1),
        ),
    )


def describe(lm: LoadedModel) -> Description:
    """What the card says beside the figures."""
    giving, candidates = _choices()
    grouped = getattr(lm.model.config, "model_type", None) == "llama"
    name = "stories-llama" if grouped else "stories"
    shape = (
        "Llama's shape: rotary positions, six query heads on two key and value heads, gated MLPs"
        if grouped
        else "GPT-2's shape: a learned position table, four heads a layer"
    )
    read = FOUND_GRAMMATICAL.get(name)
    judged = "" if read is None else f" A reader found {read} of the ten samples grammatical."
    return Description(
        what=f"A decoder that continues simple English stories, in {shape}.",
        data=(
            "120,000 texts that attnviz.worlds.stories generates: stories, facts, sentences whose"
            " 'it' has two candidates; two fifths of each batch repeat random tokens. 2,048 tokens"
            " a step. No outside text."
        ),
        languages=("en",),
        heads=_notes(lm, giving, candidates),
        limits=(
            "It knows a few hundred English words; any other text is spelled in bytes and goes on"
            f" at random. It was taught no fact outside attnviz.worlds.stories.facts.{judged}"
        ),
        samples=samples(lm),
    )


def samples(lm: LoadedModel) -> tuple[str, ...]:
    """Ten continuations, one of each seed from 0 to 9."""
    return tuple(
        decoders.continued(lm, start, Generation(N_WRITTEN, temperature=0.8, top_p=0.9, seed=seed))
        for seed, start in enumerate(STARTS)
    )


def came_back(lm: LoadedModel) -> float:
    """The share of texts, hostile and random ones, that the tokenizer gives back unchanged."""
    tokenizer = lm.text_tokenizer()
    r = Random(SEED)
    texts = [*HOSTILE, *(_any_text(r) for _ in range(200))]
    back = [
        tokenizer.decode(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts
    ]
    return float(np.mean([ours == text for ours, text in zip(back, texts, strict=True)]))


def _any_text(r: Random) -> str:
    """Random code points of all planes, surrogates aside: no text can hold them."""
    planes = (range(0x80), range(0x3000), range(0xE000, 0x10000), range(0x10000, 0x110000))
    points = (r.choice(r.choice(planes)) for _ in range(r.randint(1, 30)))
    return "".join(map(chr, points))


def _choices() -> tuple[list[Choice], list[Choice]]:
    r = Random(SEED)
    giving = [probes.indirect_object(r) for _ in range(N_PROMPTS)]
    return giving, [probes.what_it_is(r) for _ in range(N_PROMPTS)]


def _copying(lm: LoadedModel) -> Copying:
    draws, n_vocab = np.random.default_rng(SEED), len(lm.text_tokenizer())
    return decoders.copying(
        lm, probes.repeated(draws, n_vocab, n_texts=N_REPEATED, length=LENGTH_REPEATED)
    )


def _notes(lm: LoadedModel, giving: list[Choice], candidates: list[Choice]) -> tuple[HeadNote, ...]:
    """The heads worth a visit, each with its score and what chance would give."""
    copied, looking = _copying(lm), decoders.looking(lm, candidates[:N_LOOKED_AT])
    previous, previous_score = decoders.best(copied.previous)
    induction, induction_score = decoders.best(copied.induction)
    it_head, _ = decoders.best(looking.preference)
    return (
        HeadNote(str(previous), "attends to the token before", round(previous_score, 3), 0.05),
        HeadNote(
            str(induction),
            "attends to the token that came after this one earlier (induction)",
            round(induction_score, 3),
            0.03,
        ),
        _note_on_names(decoders.looking(lm, giving[:N_LOOKED_AT])),
        HeadNote(
            str(it_head),
            "from the answer's 'The' attends to what 'it' stands for, not the other candidate",
            round(looking.share_right(it_head), 3),
            0.5,
        ),
    )


def _note_on_names(names: Looking) -> HeadNote:
    """The head that tells the two names apart most clearly, whichever of them it looks at."""
    head, _ = decoders.best(np.abs(names.preference))
    to_taker = names.share_right(head)
    if names.preference[head.layer, head.head] > 0:
        does = "from 'gave a book to' attends to the one who gets it rather than the giver"
        return HeadNote(str(head), does, round(to_taker, 3), 0.5)
    does = "from 'gave a book to' attends to the giver, who is ruled out as the one who gets it"
    return HeadNote(str(head), does, round(1 - to_taker, 3), 0.5)
