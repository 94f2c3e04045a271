"""The generated English: its grammar, its truth, its seeds, and the right answers of the probes."""

import itertools
import re
from functools import cache
from random import Random

import pytest

from scripts.train.worlds.stories import facts as stories_facts
from scripts.train.worlds.stories import probes, pronouns, stories
from scripts.train.worlds.stories import words as lexicon
from scripts.train.worlds.stories.events import PATTERNS, Cast, because_of, cast, event
from scripts.train.worlds.stories.pronouns import FRAMES, Antecedent, antecedent, explained, plain
from scripts.train.worlds.stories.words import person

NUMBER = {word: value for value, word in enumerate(lexicon.NUMBERS, start=1)}
SINGULAR = (*lexicon.ANIMALS, *lexicon.THINGS)
PLURAL = {lexicon.plural(word) for word in SINGULAR} - {"sheep"}


@cache
def documents() -> list[str]:
    return list(stories.documents(seed=5, number=1_200))


@cache
def told() -> list[str]:
    return [part for seed in range(500) for part in stories.story(Random(seed))]


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.?!])\"? ", text)


# --- seeds -------------------------------------------------------------------------------------


def test_a_seed_gives_the_same_texts_however_many_are_asked_for() -> None:
    assert list(stories.documents(5, 50)) == documents()[:50]
    assert list(stories.documents(6, 50)) != documents()[:50]


def test_texts_are_of_every_kind_and_seldom_alike() -> None:
    assert len(set(documents())) > 0.95 * len(documents())
    for words in ("Once upon a time", "capital of", " + ", "because it was", "opposite", " who "):
        assert sum(words in text for text in documents()) > 20, words


# --- grammar -----------------------------------------------------------------------------------


def test_articles_fit_the_word_that_follows() -> None:
    for text in documents():
        assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiou]", text), text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A owl saw a apple and a red apple.", "An owl saw an apple and a red apple."),
        ("The sofa is a old one.", "The sofa is an old one."),
        ("a b c d e", "a b c d e"),
    ],
)
def test_an_stands_before_vowels_only(before: str, after: str) -> None:
    assert lexicon.with_articles(before) == after


def test_every_part_of_a_story_is_made_of_whole_sentences() -> None:
    for part in told():
        assert re.fullmatch(r"[\"A-Z].*[.?!]\"?", part), part
        assert "{" not in part and "  " not in part and " ." not in part
        assert part.count('"') % 2 == 0, part
        for sentence in sentences(part):
            assert re.match(r"[\"A-Z]|(asked|said) ", sentence), part


@pytest.mark.parametrize(
    ("noun", "plural"),
    [("cat", "cats"), ("mouse", "mice"), ("wolf", "wolves"), ("sheep", "sheep"), ("box", "boxes")],
)
def test_plurals(noun: str, plural: str) -> None:
    assert lexicon.plural(noun) == plural


def test_verbs_agree_with_their_subject_across_what_stands_between() -> None:
    clause = r"(?: that (?:lived near|\w+ (?:saw|bought|found)|chased)[\w ]*?| near the \w+)?"
    subject = re.compile(rf"^The (\w+){clause} (was|were|is|are) ")
    n_checked = {"was": 0, "were": 0}
    for part in told():
        for sentence in sentences(part):
            found = subject.match(sentence)
            if found is None or found[1] not in {*SINGULAR, *PLURAL} - {"sheep"}:
                continue
            assert (found[1] in PLURAL) == (found[2] in ("were", "are")), sentence
            n_checked[found[2]] += 1
    assert min(n_checked.values()) > 30


def test_pronouns_are_those_of_the_children() -> None:
    for names, forbidden in (
        (("Lily", "Mary"), r"\b(he|He|his|His|him|boy)\b"),
        (("Tom", "John"), r"\b(she|She|her|Her|girl)\b"),
    ):
        for seed in range(8):
            r = Random(seed)
            who = Cast(person(names[0]), person(names[1]), cast(r).nouns)
            for text in (*PATTERNS, *stories.OPENINGS, *stories.MORE, *stories.ENDINGS):
                told = text.format(**who.words(r))
                assert not re.search(forbidden, told), told
            assert not re.search(forbidden, event(r, who).replace("grandmother", ""))


def test_a_pronoun_in_a_reason_says_whose_it_is() -> None:
    told = {because_of(Random(seed), _mixed_cast(seed)) for seed in range(60)}
    for text in told:
        found = re.search(r"because (she|he) was (\w+)\. Who was \2\? (\w+) was \2\.", text)
        assert found is not None, text
        assert person(found[3]).she == found[1]


def _mixed_cast(seed: int) -> Cast:
    return Cast(person("Lily"), person("Tom"), cast(Random(seed)).nouns)


# --- truth -------------------------------------------------------------------------------------


def test_sums_are_right() -> None:
    text = "\n".join(documents())
    written = re.findall(r"(\d+) \+ (\d+) = (\d+)", text)
    spoken = re.findall(r"(\w+) plus (\w+) is (\w+)", text)
    assert len(written) > 30 and len(spoken) > 15
    assert all(int(x) + int(y) == int(total) for x, y, total in written)
    for x, y, total in spoken:
        assert NUMBER[x.lower()] + NUMBER[y] == NUMBER[total]


def test_things_are_counted_right() -> None:
    had = re.compile(r"had (\w+) (\w+)\. (.+?)\. Now (\w+) had (\w+) \2\.")
    found = [match for part in told() if (match := had.search(part))]
    assert len(found) > 15
    for match in found:
        change = next(NUMBER[word] for word in match[3].split() if word in NUMBER)
        sign = -1 if "of them" in match[3] else 1
        assert NUMBER[match[1]] + sign * change == NUMBER[match[5]], match[0]


def test_facts_are_those_of_the_world() -> None:
    text = "\n".join(documents())
    assert "The capital of Japan is Tokyo." in text
    for land, city in re.findall(r"The capital of (\w+) is (\w+)\.", text):
        assert stories_facts.CAPITALS[land][0] == city
    for word, other in re.findall(r"The opposite of (\w+) is (\w+)\.", text):
        assert stories_facts.OPPOSITES[word] == other
    assert all(
        stories_facts.OPPOSITES[other] == word for word, other in stories_facts.OPPOSITES.items()
    )


def test_sequences_go_on_as_they_should() -> None:
    for seed in range(300):
        text = stories_facts.sequence(Random(seed))
        words = re.findall(r"\w+", text.replace("After", "").replace("comes", ""))
        steps = set(itertools.pairwise(words))
        known = {step for one in stories_facts.SEQUENCES for step in itertools.pairwise(one)}
        assert all(step in known or step[0] == step[1] for step in steps), text


# --- who gave what to whom, and what "it" is ----------------------------------------------------


def test_the_giver_and_the_taker_are_the_two_who_went() -> None:
    given = re.compile(
        r"(\w+) and (\w+) (?:went to|were at|came to|played at|met at) the \w+[,.] (\w+) \w+"
        r" (?:a|an|the) \w+ to (\w+)\."
    )
    found = [match for text in documents() for match in given.finditer(text)]
    assert len(found) > 200
    assert all({match[1], match[2]} == {match[3], match[4]} for match in found)


def test_names_that_probes_put_together_share_no_sentence_of_the_text() -> None:
    n_pairs = 0
    for text in documents():
        for sentence in sentences(text):
            named = sorted(set(re.findall(r"\w+", sentence)) & set(lexicon.NAMES))
            n_pairs += len(named) > 1
            assert not any(lexicon.strangers(*pair) for pair in itertools.combinations(named, 2))
    assert n_pairs > 400


def test_candidates_that_probes_put_together_share_no_sentence_of_the_text() -> None:
    verbs = "|".join({frame.verb for frame in FRAMES})
    told = re.compile(rf"[Tt]he (\w+) (?:did not|didn't|could not) (?:{verbs}) the (\w+)")
    pairs = {match.groups() for text in documents() for match in told.finditer(text)}
    assert len(pairs) > 100
    assert not any(lexicon.kept_back(*pair) for pair in pairs)


def test_an_adjective_is_about_one_of_the_two_candidates_only() -> None:
    for frame in FRAMES:
        assert not set(frame.about_first) & set(frame.about_second)


@pytest.mark.parametrize("held_out", [False, True])
def test_the_right_candidate_is_the_one_that_the_adjective_is_about(held_out: bool) -> None:
    r = Random(3)
    cases = [antecedent(r, held_out=held_out) for _ in range(400)]
    for case in cases:
        adjective = case.reason.removeprefix("too ")
        about = case.frame.about_first if case.right == case.first else case.frame.about_second
        assert adjective in about
        assert {case.right, case.wrong} == {case.first, case.second}
        assert lexicon.kept_back(case.first, case.second) == held_out
    assert 150 < sum(case.right == case.first for case in cases) < 250


TIRED = Antecedent(FRAMES[0], "didn't", "animal", "street", "animal", "too tired")
WIDE = Antecedent(FRAMES[0], "did not", "animal", "street", "street", "too wide")


def test_a_sentence_with_two_candidates_by_hand() -> None:
    sentence = "The animal didn't cross the street because it was too tired."
    assert TIRED.sentence == sentence
    assert (TIRED.right, TIRED.wrong) == ("animal", "street")
    assert (WIDE.right, WIDE.wrong) == ("street", "animal")
    assert probes.asked(TIRED) == f"{sentence} What was too tired? The"
    assert plain(WIDE) == "The street was too wide, so the animal did not cross the street."


def test_every_explanation_names_the_right_candidate_first() -> None:
    for case, never in ((TIRED, "The street was too tired"), (WIDE, "The animal was too wide")):
        told = {explained(Random(seed), case) for seed in range(80)}
        assert len(told) == 6  # the sentence alone, and five ways to make it clear
        for text in told:
            assert text.startswith(case.sentence) and never not in text
            rest = text.removeprefix(case.sentence)
            assert not rest or re.search(rf"[Tt]he {case.right}", rest) is not None
            assert not re.search(rf"(It was the|^ The) {case.wrong}", rest)
    assert "The street was too wide for the animal." in " ".join(
        explained(Random(seed), WIDE) for seed in range(80)
    )


def test_the_examples_of_the_app_are_of_the_kind_that_was_learned() -> None:
    assert not lexicon.strangers("Mary", "John")
    assert not lexicon.kept_back("animal", "street")
    assert {"Mary", "John"} <= set(lexicon.NAMES)
    assert "animal" in FRAMES[0].firsts and "street" in FRAMES[0].seconds


# --- probes ------------------------------------------------------------------------------------


def test_indirect_object_prompts_ask_for_the_other_name() -> None:
    r = Random(11)
    for _ in range(200):
        choice = probes.indirect_object(r)
        one, other, giver = re.match(
            r"When (\w+) and (\w+) .*, (\w+) (?:gave|handed|sent) an? \w+ to$", choice.prompt
        ).groups()
        assert choice.wrong == f" {giver}"
        assert {one, other} == {choice.right.strip(), giver} and one != other
        assert lexicon.strangers(one, other)


def test_it_prompts_name_both_candidates_once() -> None:
    r = Random(12)
    for _ in range(200):
        choice = probes.what_it_is(r)
        assert choice.prompt.endswith("? The")
        for word in (choice.right, choice.wrong):
            assert len(re.findall(rf"{word}\b", choice.prompt)) == 1, choice


def test_probes_follow_their_seed() -> None:
    for make in (probes.indirect_object, probes.what_it_is):
        assert make(Random(1)) == make(Random(1))
        assert len({make(Random(seed)) for seed in range(30)}) > 25


def test_fact_prompts_by_hand() -> None:
    facts = dict(probes.facts())
    assert facts["The capital of France is"] == " Paris"
    assert facts["The opposite of cold is"] == " hot"
    assert facts["People in Egypt speak"] == " Arabic"
    assert facts["The dog says"] == " woof"
    assert facts["2 + 2 ="] == " 4"
    assert len(facts) == len(probes.facts())


def test_words_of_the_frames_are_spelled_for_articles_and_matching() -> None:
    words = {word for frame in pronouns.FRAMES for word in (*frame.firsts, *frame.seconds)} | {
        *lexicon.ANIMALS,
        *lexicon.GIFTS,
        *lexicon.ADJECTIVES,
        *lexicon.COLOURS,
    }
    assert all(re.fullmatch(r"[a-z]+", word) for word in words)
    # written with a vowel and spoken without, or the other way round: "an" would be wrong
    assert not {word for word in words if word.startswith(("uni", "use", "one", "hour", "hon"))} - {
        "honey"
    }
