"""The shipped weights of `translator`: what its card claims, sentences by hand, any text at all."""

import pytest

import attnviz
from attnviz import checks
from attnviz.checks import encoder_decoders
from attnviz.checks.encoder_decoders import greedy_answers
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.registry import TRANSLATOR
from attnviz.worlds import french
from attnviz.worlds.cases import AlignedPair
from scripts.train.worlds.french.spelling import word_spans
from tests.support.hostile import TOKENS

# written by hand, none of them drawn from the generator
WANTED = {
    "The little white cat sees a green apple.": "Le petit chat blanc voit une pomme verte.",
    "The old man sleeps.": "Le vieil homme dort.",
    "I love this beautiful tree.": "J'aime ce bel arbre.",
    "She does not like the old red car.": "Elle n'aime pas la vieille voiture rouge.",
    "We saw her yesterday.": "Nous l'avons vue hier.",
    "My sister is happy.": "Ma sœur est heureuse.",
    "The horses are black.": "Les chevaux sont noirs.",
    "He never eats meat.": "Il ne mange jamais de viande.",
    "They don't have a dog.": "Ils n'ont pas de chien.",
    "Is the house big?": "Est-ce que la maison est grande ?",
    "Where is the school?": "Où est l'école ?",
    "There are three birds in the garden.": "Il y a trois oiseaux dans le jardin.",
    "The king's daughter is sick.": "La fille du roi est malade.",
    "Anna gives an apple to the doctor.": "Anna donne une pomme au médecin.",
    "You want to buy some bread.": "Tu veux acheter du pain.",
    "The woman who lives in Paris knows my brother.": "La femme qui vit à Paris connaît mon frère.",
    "This man is a painter.": "Cet homme est peintre.",
    "I'm going to the market.": "Je vais au marché.",
    "The children will find the treasure.": "Les enfants trouveront le trésor.",
    "He can't open the door.": "Il ne peut pas ouvrir la porte.",
}


@pytest.fixture(scope="module")
def translator() -> LoadedModel:
    return attnviz.load("translator")


@pytest.mark.slow
def test_its_figures_stand_on_its_card(translator: LoadedModel) -> None:
    card = checks.card("translator")
    assert card is not None
    found = checks.check("translator")
    exact, aligned = found
    # short of its target of 0.99, and its card says so; a worse model than that would be seen
    assert exact.value >= 0.98 and aligned.reached, found
    assert [figure.name for figure in found] == [figure.name for figure in card.figures]
    for measured, written in zip(found, card.figures, strict=True):
        assert measured.value == pytest.approx(written.value, abs=0.004)
        assert (measured.target, measured.cases) == (written.target, written.cases)


def test_sentences_by_hand(translator: LoadedModel) -> None:
    found = dict(zip(WANTED, greedy_answers(translator, list(WANTED)), strict=True))
    wrong = {english: said for english, said in found.items() if said != WANTED[english]}
    assert not wrong


def test_its_named_head_crosses_where_french_does(translator: LoadedModel) -> None:
    """In "le petit chat blanc" the head goes cat, then back to white."""
    english, target = "The little white cat sleeps.", "Le petit chat blanc dort."
    source, to = word_spans(english), word_spans(target)
    pairs = ((1, 1), (3, 2), (2, 3), (4, 4))  # little petit, cat chat, white blanc, sleeps dort
    links = tuple((source[en], to[fr]) for en, fr in pairs)
    found = encoder_decoders.accuracy(translator, [AlignedPair(english, target, links)])
    card = checks.card("translator")
    assert card is not None
    layer, head = (int(part[1:]) for part in card.description.heads[0].head.split("."))
    assert found.heads[layer, head] == 1.0


def test_words_of_the_lexicon_are_single_tokens(translator: LoadedModel) -> None:
    tokenizer = translator.text_tokenizer()
    for text in (*WANTED, *WANTED.values()):
        assert len(tokenizer(text)["input_ids"]) == len(word_spans(text)) + 1  # and the end
        assert tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True) == text


def test_its_card_of_the_registry_is_counted(translator: LoadedModel) -> None:
    n_parameters = sum(parameter.numel() for parameter in translator.model.parameters())
    assert translator.card.parameters == n_parameters
    size = (TRANSLATOR.folder / "model.safetensors").stat().st_size
    assert translator.card.size_mib == round(size / 2**20, 1)


@pytest.mark.some(1)
@pytest.mark.parametrize("text", TOKENS)
def test_any_text_is_read(translator: LoadedModel, text: str) -> None:
    attnviz.capture(translator, text, generate=4, cut=True).verify().require()


def test_the_examples_are_translated(translator: LoadedModel) -> None:
    for answer in greedy_answers(translator, french.EXAMPLES):
        assert answer[-1] in ".?" and answer[0].isupper()


def test_keys_from_the_cache_keep_their_layers(translator: LoadedModel) -> None:
    """Cross-attention makes its keys once; while the model writes they come from the cache."""
    cap = attnviz.capture(translator, "The little white cat sleeps.", generate=4)
    for call in [call for call in cap.calls if call.kind == "cross"]:
        assert {"q", "k", "v"} <= call.projections.keys() and not {"k", "v"} & call.absent.keys()
        assert call.projections["k"].input.shape[1] == call.n_key
        assert all(part.ok for part in attnviz.derive(call, 1).comparisons.values())
    inputs = translator.tokenize(["The cat sleeps."], return_tensors="pt")
    with attnviz.record(translator.model) as calls:
        translator.model.generate(**inputs, max_new_tokens=3)
    later = [call for call in calls if call.kind == "cross" and call.index > 0]
    assert later and all({"k", "v"} <= call.projections.keys() for call in later)
