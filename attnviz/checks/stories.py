"""The claims of `stories` and `stories-llama`: copying, indirect objects, "it", and their heads.

`check` measures on prompts whose pairs of words the training text does not have
(`attnviz.worlds.cases`); `describe` gives the rest of the card, with the heads and ten
continuations. Both take either model. How heads are scored: `attnviz.checks.decoders`.
"""

from random import Random

import numpy as np

from attnviz.capture.generation.settings import Generation
from attnviz.checks import decoders
from attnviz.checks.cards import Description, Figure, HeadNote
from attnviz.checks.decoders import CandidateWeights, CopyScores
from attnviz.models.loaded_model import LoadedModel
from attnviz.worlds import cases
from attnviz.worlds.cases import Choice

SEED = 910_000  # of random texts and random tokens
N_CAPTURED = 100  # prompts whose attention is captured
N_RANDOM_TEXTS = 200
N_REPEATED, LENGTH_REPEATED = 20, 25  # texts of random tokens twice over, tokens of one copy
# texts of which a tokenizer could lose something: spaces, scripts, marks, controls, joined emoji
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
N_GENERATED = 40  # tokens of each continuation
# model → how many of the ten continuations on its card a reader judged grammatical
JUDGED_GRAMMATICAL = {"stories": 9, "stories-llama": 10}


def check(lm: LoadedModel) -> tuple[Figure, ...]:
    """The card's figures, measured now."""
    giving, antecedents = _choices()
    candidates = decoders.candidate_weights(lm, antecedents[:N_CAPTURED])
    it_head, _ = decoders.best_head(candidates.preference)
    facts = cases.continuations("stories/facts")
    documents = cases.texts("stories/documents")
    return (
        Figure(
            "text that comes back from the tokenizer unchanged",
            round_trip_fraction(lm),
            1.0,
            cases=len(HOSTILE) + N_RANDOM_TEXTS,
        ),
        *_copy_figures(_copy_scores(lm)),
        Figure("indirect object", decoders.choice_accuracy(lm, giving), 0.95, cases=len(giving)),
        Figure(
            "what it is", decoders.choice_accuracy(lm, antecedents), 0.9, cases=len(antecedents)
        ),
        Figure(
            f"{it_head} looks at what it is (chance 0.5)",
            candidates.accuracy(it_head),
            0.8,
            cases=N_CAPTURED,
        ),
        Figure("facts of its world", decoders.greedy_accuracy(lm, facts), 0.9, cases=len(facts)),
        Figure(
            "held-out loss, nats per token",
            decoders.mean_loss(lm, documents),
            1.2,
            at_least=False,
            cases=len(documents),
        ),
    )


def _copy_figures(scores: CopyScores) -> tuple[Figure, ...]:
    induction, induction_score = decoders.best_head(scores.induction)
    previous, previous_score = decoders.best_head(scores.previous)
    n_predicted = N_REPEATED * (LENGTH_REPEATED - 1)
    return (
        Figure("repeated random tokens copied", scores.accuracy, 0.98, cases=n_predicted),
        Figure(
            f"{induction} attends to what came after this token earlier",
            induction_score,
            0.9,
            cases=n_predicted,
        ),
        Figure(
            f"{previous} attends to the token before",
            previous_score,
            0.7,
            cases=N_REPEATED * (2 * LENGTH_REPEATED - 1),
        ),
    )


def describe(lm: LoadedModel) -> Description:
    """The rest of the card."""
    giving, antecedents = _choices()
    is_llama = getattr(lm.model.config, "model_type", None) == "llama"
    name = "stories-llama" if is_llama else "stories"
    shape = (
        "Llama's shape: rotary positions, six query heads on two key and value heads, gated MLPs"
        if is_llama
        else "GPT-2's shape: a learned position table, four heads a layer"
    )
    n_grammatical = JUDGED_GRAMMATICAL.get(name)
    judged = (
        ""
        if n_grammatical is None
        else f" A reader found {n_grammatical} of the ten samples grammatical."
    )
    return Description(
        what=f"A decoder that continues simple English stories, in {shape}.",
        data=(
            "120,000 texts that scripts/train/worlds/stories generates: stories, facts, sentences"
            " whose 'it' has two candidates; two fifths of each batch repeat random tokens. 2,048"
            " tokens a step. No outside text."
        ),
        languages=("en",),
        heads=_notes(lm, giving, antecedents),
        limits=(
            "It knows a few hundred English words; any other text is spelled in bytes and goes on"
            f" at random. It was taught no fact outside scripts/train/worlds/stories/facts.{judged}"
        ),
        samples=samples(lm),
    )


def samples(lm: LoadedModel) -> tuple[str, ...]:
    """Ten continuations, sampled with the seeds 0 to 9."""
    return tuple(
        decoders.continue_prompt(
            lm, start, Generation(N_GENERATED, temperature=0.8, top_p=0.9, seed=seed)
        )
        for seed, start in enumerate(STARTS)
    )


def round_trip_fraction(lm: LoadedModel) -> float:
    """The fraction of texts, hostile and random ones, that the tokenizer gives back unchanged."""
    tokenizer = lm.text_tokenizer()
    rng = Random(SEED)
    texts = [*HOSTILE, *(_random_text(rng) for _ in range(N_RANDOM_TEXTS))]
    decoded = [
        tokenizer.decode(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts
    ]
    return float(np.mean([back == text for back, text in zip(decoded, texts, strict=True)]))


def _random_text(rng: Random) -> str:
    """Random code points of all planes but surrogates, which no text can hold."""
    planes = (range(0x80), range(0x3000), range(0xE000, 0x10000), range(0x10000, 0x110000))
    points = (rng.choice(rng.choice(planes)) for _ in range(rng.randint(1, 30)))
    return "".join(map(chr, points))


def _choices() -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
    """The prompts about an indirect object, and those about what "it" is."""
    return cases.choices("stories/giving"), cases.choices("stories/antecedents")


def _copy_scores(lm: LoadedModel) -> CopyScores:
    rng, n_vocab = np.random.default_rng(SEED), len(lm.text_tokenizer())
    ids = decoders.repeated_tokens(rng, n_vocab, n_texts=N_REPEATED, length=LENGTH_REPEATED)
    return decoders.copy_scores(lm, ids)


def _notes(
    lm: LoadedModel, giving: tuple[Choice, ...], antecedents: tuple[Choice, ...]
) -> tuple[HeadNote, ...]:
    """The heads worth a visit, each with its score and its score by chance."""
    copying = _copy_scores(lm)
    candidates = decoders.candidate_weights(lm, antecedents[:N_CAPTURED])
    previous, previous_score = decoders.best_head(copying.previous)
    induction, induction_score = decoders.best_head(copying.induction)
    it_head, _ = decoders.best_head(candidates.preference)
    return (
        HeadNote(str(previous), "attends to the token before", round(previous_score, 3), 0.05),
        HeadNote(
            str(induction),
            "attends to the token that came after this one earlier (induction)",
            round(induction_score, 3),
            0.03,
        ),
        _note_on_names(decoders.candidate_weights(lm, giving[:N_CAPTURED])),
        HeadNote(
            str(it_head),
            "from the answer's 'The' attends to what 'it' stands for, not the other candidate",
            round(candidates.accuracy(it_head), 3),
            0.5,
        ),
    )


def _note_on_names(names: CandidateWeights) -> HeadNote:
    """The head that tells the two names apart most clearly, whichever of them it attends to."""
    head, _ = decoders.best_head(np.abs(names.preference))
    to_taker = names.accuracy(head)
    if names.preference[head.layer, head.head] > 0:
        does = "from 'gave a book to' attends to the one who gets it rather than the giver"
        return HeadNote(str(head), does, round(to_taker, 3), 0.5)
    does = "from 'gave a book to' attends to the giver, who is ruled out as the one who gets it"
    return HeadNote(str(head), does, round(1 - to_taker, 3), 0.5)
