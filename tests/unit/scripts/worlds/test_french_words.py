"""Forms of French and English words, written by hand, against the rules and the lexicon."""

import pytest

from scripts.train.worlds.french import words
from scripts.train.worlds.french.spelling import (
    joined_english,
    joined_french,
    said,
    spelled,
    word_spans,
)

LEXICON = words.lexicon()
NOUNS = {noun.english: noun for some in LEXICON.nouns.values() for noun in some}
ADJECTIVES = {entry.english: entry for some in LEXICON.adjectives.values() for entry in some}
VERBS = {verb.english: verb for some in LEXICON.verbs.values() for verb in some}

# English, plural, French, plural, gender
NOUN_FORMS = """
cat cats chat chats m
horse horses cheval chevaux m
cake cakes gâteau gâteaux m
bird birds oiseau oiseaux m
mouse mice souris souris f
jewel jewels bijou bijoux m
nail nails clou clous m
owl owls hibou hiboux m
eye eyes œil yeux m
game games jeu jeux m
newspaper newspapers journal journaux m
knife knives couteau couteaux m
child children enfant enfants m
city cities ville villes f
nut nuts noix noix f
nose noses nez nez m
son sons fils fils m
grandmother grandmothers grand-mère grands-mères f
kite kites cerf-volant cerfs-volants m
woman women femme femmes f
"""
# English, the four French forms, and the masculine before a vowel
ADJECTIVE_FORMS = """
beautiful beau belle beaux belles bel
old vieux vieille vieux vieilles vieil
new nouveau nouvelle nouveaux nouvelles nouvel
good bon bonne bons bonnes bon
white blanc blanche blancs blanches blanc
happy heureux heureuse heureux heureuses heureux
kind gentil gentille gentils gentilles gentil
dry sec sèche secs sèches sec
fresh frais fraîche frais fraîches frais
light léger légère légers légères léger
national national nationale nationaux nationales national
royal royal royale royaux royales royal
Italian italien italienne italiens italiennes italien
red rouge rouge rouges rouges rouge
blue bleu bleue bleus bleues bleu
jealous jaloux jalouse jaloux jalouses jaloux
soft doux douce doux douces doux
long long longue longs longues long
"""
# infinitive; je, nous, ils in the present; participle; il in the imperfect; je in the future
VERB_FORMS = """
manger mange mangeons mangent mangé mangeait mangerai
acheter achète achetons achètent acheté achetait achèterai
appeler appelle appelons appellent appelé appelait appellerai
jeter jette jetons jettent jeté jetait jetterai
préférer préfère préférons préfèrent préféré préférait préférerai
nettoyer nettoie nettoyons nettoient nettoyé nettoyait nettoierai
envoyer envoie envoyons envoient envoyé envoyait enverrai
choisir choisis choisissons choisissent choisi choisissait choisirai
prendre prends prenons prennent pris prenait prendrai
voir vois voyons voient vu voyait verrai
boire bois buvons boivent bu buvait boirai
écrire écris écrivons écrivent écrit écrivait écrirai
venir viens venons viennent venu venait viendrai
tenir tiens tenons tiennent tenu tenait tiendrai
recevoir reçois recevons reçoivent reçu recevait recevrai
connaître connais connaissons connaissent connu connaissait connaîtrai
vouloir veux voulons veulent voulu voulait voudrai
pouvoir peux pouvons peuvent pu pouvait pourrai
devoir dois devons doivent dû devait devrai
être suis sommes sont été était serai
avoir ai avons ont eu avait aurai
aller vais allons vont allé allait irai
faire fais faisons font fait faisait ferai
mourir meurs mourons meurent mort mourait mourrai
courir cours courons courent couru courait courrai
peindre peins peignons peignent peint peignait peindrai
craindre crains craignons craignent craint craignait craindrai
vivre vis vivons vivent vécu vivait vivrai
croire crois croyons croient cru croyait croirai
protéger protège protégeons protègent protégé protégeait protégerai
"""
# English: base, after he, going on, past
ENGLISH_VERBS = """
carry carries carrying carried
watch watches watching watched
go goes going went
have has having had
run runs running ran
die dies dying died
make makes making made
play plays playing played
see sees seeing saw
cut cuts cutting cut
"""
# words apart → as they are written
SPELLINGS = {
    "je aime le ami": "j'aime l'ami",
    "le homme": "l'homme",
    "le héros": "le héros",
    "la hache": "la hache",
    "le huit": "le huit",
    "ce arbre": "cet arbre",
    "ce hibou": "ce hibou",
    "ma école": "mon école",
    "ma hache": "ma hache",
    "sa amie": "son amie",
    "de le roi": "du roi",
    "de les rois": "des rois",
    "de le homme": "de l'homme",
    "à le jardin": "au jardin",
    "à les rois": "aux rois",
    "à la école": "à l'école",
    "il ne a pas de argent": "il n'a pas d'argent",
    "il ne y a pas de eau": "il n'y a pas d'eau",
    "que est-ce que il voit ?": "qu'est-ce qu'il voit ?",
    "je la aime et je te attends .": "je l'aime et je t'attends.",
    "la honnête femme": "l'honnête femme",
    "le œil de Anna": "l'œil d'Anna",
}


def rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


@pytest.mark.parametrize("row", rows(NOUN_FORMS), ids=lambda row: row[0])
def test_a_noun_has_its_forms(row: list[str]) -> None:
    noun = NOUNS[row[0]]
    found = [noun.english, noun.plural, noun.french, noun.french_plural, "mf"[noun.feminine]]
    assert found == row


@pytest.mark.parametrize("row", rows(ADJECTIVE_FORMS), ids=lambda row: row[0])
def test_an_adjective_has_its_forms(row: list[str]) -> None:
    entry = ADJECTIVES[row[0]]
    assert [entry.english, *entry.forms, entry.liaison] == row


@pytest.mark.parametrize("row", rows(VERB_FORMS), ids=lambda row: row[0])
def test_a_verb_is_conjugated(row: list[str]) -> None:
    infinitive = row[0]
    present = [words.conjugated(infinitive, "present", person) for person in (0, 3, 5)]
    assert [
        infinitive,
        *present,
        words.participle(infinitive),
        words.conjugated(infinitive, "imperfect", 2),
        words.conjugated(infinitive, "future", 0),
    ] == row


@pytest.mark.parametrize("row", rows(ENGLISH_VERBS), ids=lambda row: row[0])
def test_an_english_verb_has_its_forms(row: list[str]) -> None:
    verb = VERBS[row[0]]
    assert [verb.english, verb.s_form, verb.ing, verb.past] == row


@pytest.mark.parametrize("apart", SPELLINGS)
def test_words_are_spelled_beside_each_other(apart: str) -> None:
    assert joined_french([word.text for word in spelled(said(apart))]) == SPELLINGS[apart]


def test_participles_agree() -> None:
    forms = [
        words.participle("prendre", feminine=f, plural=p)
        for f in (False, True)
        for p in (False, True)
    ]
    assert forms == ["pris", "pris", "prise", "prises"]


def test_signs_stand_where_each_language_wants_them() -> None:
    assert joined_english(["Is", "he", "Anna", "'s", "son", "?"]) == "Is he Anna's son?"
    assert joined_french(["Est-ce", "qu'", "il", "dort", "?"]) == "Est-ce qu'il dort ?"
    assert joined_french(["Il", "dort", "aujourd'hui", "."]) == "Il dort aujourd'hui."


@pytest.mark.parametrize(
    ("text", "parts"),
    {
        "He doesn't see Anna's dog!": ["He", "doesn't", "see", "Anna", "'s", "dog", "!"],
        "I'm in Rome.": ["I", "'m", "in", "Rome", "."],
        "L'ami d'Anna n'est pas là.": "L' ami d' Anna n' est pas là .".split(),
        "Qu'est-ce qu'il voit aujourd'hui ?": "Qu' est-ce qu' il voit aujourd'hui ?".split(),
        "ma grand-mère": ["ma", "grand-mère"],
    }.items(),
)
def test_a_text_falls_into_words(text: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in word_spans(text)] == parts


def test_no_word_has_two_translations() -> None:
    for group in (LEXICON.nouns, LEXICON.adjectives, LEXICON.verbs):
        english = [entry.english for some in group.values() for entry in some]
        assert len(english) == len(set(english))
    assert len(NOUNS) >= 350 and len(ADJECTIVES) >= 130 and len(VERBS) >= 110


def test_a_plural_is_another_word() -> None:
    """An English plural that looks like its singular would leave the French number open."""
    assert all(noun.plural != noun.english for noun in NOUNS.values())
