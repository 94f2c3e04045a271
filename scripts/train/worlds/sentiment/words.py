"""The words of the `sentiment` world: what is reviewed, and what is said of it.

`TOPICS` has, for each kind of review, the things, their parts and the adjectives that fit only
there; the general adjectives, verbs and nouns fit everywhere. Every word that judges stands in a
pair of lists: 0 = those that blame, 1 = those that praise.
"""

from dataclasses import dataclass

Judging = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Topic:
    """A kind of review. `parts` are singular, `many` plural; `done` follows "i" or "we"."""

    things: tuple[str, ...]
    parts: tuple[str, ...]
    many: tuple[str, ...]
    adjectives: Judging
    done: tuple[str, ...]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ADJECTIVES: Judging = (
    _words(
        "bad terrible awful horrible dreadful poor disappointing weak annoying unpleasant mediocre"
        " silly ugly lousy dismal miserable pathetic ridiculous tiresome forgettable frustrating"
        " irritating painful pointless worthless useless atrocious appalling inferior flawed clumsy"
        " overrated depressing lame dire nasty rotten unbearable disgusting offensive hideous"
        " abysmal hopeless laughable embarrassing unsatisfying uninspired unimpressive second-rate"
        " shoddy sloppy careless grim sad upsetting infuriating insulting shameful deplorable"
        " wretched ghastly crummy awkward unremarkable tacky cheap underwhelming"
        " unacceptable horrendous horrid vile lacklustre lackluster meh gross stinky trashy"
    ),
    _words(
        "good great excellent wonderful fantastic superb brilliant amazing lovely delightful"
        " pleasant enjoyable splendid terrific marvellous outstanding impressive remarkable"
        " charming beautiful perfect fine nice satisfying memorable exciting fascinating"
        " interesting inspiring magnificent exceptional stunning pleasing rewarding refreshing"
        " admirable likeable worthwhile flawless glorious graceful elegant gorgeous awesome"
        " incredible fabulous superior first-rate tremendous phenomenal sublime adorable"
        " extraordinary favourable commendable praiseworthy sensational divine heavenly cool"
        " irresistible unforgettable masterful special fun happy spectacular neat"
        " thoughtful stylish polished lively marvelous favorite favourite lovable smart sweet solid"
    ),
)
# "the … ever", and "… than expected"
TOP: Judging = (
    ("worst", "ugliest", "saddest", "weakest"),
    ("best", "finest", "nicest", "greatest"),
)
MORE: Judging = (("worse", "weaker", "uglier", "poorer"), ("better", "nicer", "finer", "greater"))
# past tense, plain form
VERBS: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] = (
    (
        ("hated", "hate"),
        ("disliked", "dislike"),
        ("regretted", "regret"),
        ("despised", "despise"),
        ("detested", "detest"),
        ("loathed", "loathe"),
        ("resented", "resent"),
    ),
    (
        ("liked", "like"),
        ("loved", "love"),
        ("enjoyed", "enjoy"),
        ("admired", "admire"),
        ("adored", "adore"),
        ("appreciated", "appreciate"),
        ("recommended", "recommend"),
        ("treasured", "treasure"),
        ("praised", "praise"),
    ),
)
# what a thing does to one: past tense, plain form
EFFECTS: tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] = (
    (
        ("disappointed", "disappoint"),
        ("bored", "bore"),
        ("annoyed", "annoy"),
        ("irritated", "irritate"),
        ("disgusted", "disgust"),
        ("depressed", "depress"),
        ("frustrated", "frustrate"),
        ("upset", "upset"),
    ),
    (
        ("delighted", "delight"),
        ("pleased", "please"),
        ("impressed", "impress"),
        ("amused", "amuse"),
        ("charmed", "charm"),
        ("satisfied", "satisfy"),
        ("inspired", "inspire"),
        ("fascinated", "fascinate"),
        ("thrilled", "thrill"),
    ),
)
# "it was a …"
NOUNS: Judging = (
    _words(
        "disaster mess failure disgrace nightmare letdown shame flop insult disappointment joke"
        " torture catastrophe waste blunder fiasco pain bore travesty"
    ),
    _words(
        "joy delight pleasure triumph masterpiece gem treat success wonder miracle treasure"
        " surprise blessing winner classic thrill bargain jewel highlight"
    ),
)
# "it has …", "without …", "full of …"
QUALITIES: Judging = (
    _words(
        "flaws mistakes faults problems nonsense errors trouble dirt weaknesses defects rubbish"
        " complaints boredom frustration"
    ),
    _words(
        "charm wit warmth style grace humour depth flair energy imagination heart beauty quality"
        " passion elegance magic class merit appeal talent"
    ),
)

TOPICS: tuple[Topic, ...] = (
    Topic(
        _words("film movie show series documentary comedy drama thriller cartoon sequel"),
        _words("plot acting ending cast script story music dialogue camerawork opening"),
        _words("actors characters scenes jokes effects songs costumes twists"),
        (
            _words(
                "boring dull tedious predictable confusing shallow lifeless pretentious slow"
                " unfunny incoherent implausible wooden stale stupid corny"
            ),
            _words(
                "gripping moving touching funny clever original thrilling entertaining witty"
                " engaging convincing captivating heartwarming hilarious believable suspenseful"
            ),
        ),
        ("watched it", "saw it", "went to see it", "streamed it"),
    ),
    Topic(
        _words("book novel story poem biography essay comic thriller memoir collection"),
        _words("plot writing style ending prose language beginning translation hero pace"),
        _words("characters chapters dialogues pictures poems descriptions stories ideas"),
        (
            _words(
                "boring dull tedious predictable confusing shallow pretentious unreadable dry"
                " long-winded implausible lifeless repetitive stupid wordy"
            ),
            _words(
                "gripping moving touching funny clever original thrilling entertaining witty"
                " engaging convincing captivating readable wise profound poetic vivid"
            ),
        ),
        ("read it", "finished it", "bought it", "borrowed it"),
    ),
    Topic(
        _words("meal dinner lunch breakfast restaurant cafe pizza soup salad cake curry menu"),
        _words("food taste sauce bread coffee dessert service wine fish meat kitchen"),
        _words("dishes portions waiters vegetables desserts noodles drinks snacks"),
        (
            _words(
                "bland stale burnt greasy soggy undercooked overcooked cold salty overpriced sour"
                " bitter dry inedible flavourless rubbery tasteless"
            ),
            _words(
                "delicious tasty tender juicy flavourful crisp yummy mouthwatering appetising"
                " healthy hearty fresh scrumptious savoury well-cooked"
            ),
        ),
        ("ate there", "had dinner there", "tried it", "ordered it"),
    ),
    Topic(
        _words("hotel hostel room resort flat apartment guesthouse place inn campsite"),
        _words("bed bathroom lobby location view service breakfast pool garden shower"),
        _words("rooms beds towels employees neighbours windows chairs walls"),
        (
            _words(
                "dirty noisy cramped uncomfortable smelly shabby filthy damp overpriced run-down"
                " draughty stuffy dingy unsafe gloomy crowded"
            ),
            _words(
                "comfortable clean spacious quiet cosy welcoming tidy bright peaceful safe"
                " luxurious relaxing homely spotless airy convenient"
            ),
        ),
        ("stayed there", "slept there", "booked it", "spent a week there"),
    ),
    Topic(
        _words("phone laptop camera vacuum printer tablet headset watch lamp kettle chair toy"),
        _words("battery screen sound design quality display manual price keyboard handle"),
        _words("buttons speakers instructions features materials colours controls cables"),
        (
            _words(
                "unreliable flimsy broken defective slow overpriced fragile outdated impractical"
                " faulty noisy wobbly scratchy buggy inaccurate"
            ),
            _words(
                "reliable sturdy handy useful durable fast practical affordable accurate powerful"
                " well-made easy solid robust efficient versatile"
            ),
        ),
        ("bought it", "ordered it", "used it", "tested it"),
    ),
    Topic(
        _words("concert album song band singer opera musical festival record performance"),
        _words("voice sound rhythm melody stage atmosphere playing crowd orchestra guitar"),
        _words("songs lyrics musicians melodies drums solos lights voices"),
        (
            _words(
                "boring dull shrill monotonous noisy tuneless repetitive tedious lifeless"
                " predictable off-key deafening soulless tired"
            ),
            _words(
                "catchy melodious moving powerful uplifting soulful energetic thrilling original"
                " haunting joyful entertaining rousing harmonious"
            ),
        ),
        ("heard it", "went there", "listened to it", "saw them"),
    ),
    Topic(
        _words("shop company store bank clinic airline doctor hairdresser teacher course school"),
        _words("service staff advice support help delivery treatment communication website team"),
        _words("employees assistants prices lessons answers people teachers drivers"),
        (
            _words(
                "rude slow unfriendly unhelpful arrogant incompetent impolite unprofessional"
                " dishonest chaotic unreliable expensive lazy ignorant inefficient"
            ),
            _words(
                "friendly helpful polite attentive kind competent professional honest patient"
                " reliable quick efficient courteous caring fair generous"
            ),
        ),
        ("went there", "called them", "asked them", "visited them"),
    ),
    Topic(
        _words("game app puzzle museum exhibition park zoo trip tour holiday party match"),
        _words("idea design level entrance guide weather atmosphere organisation price layout"),
        _words("graphics levels rules exhibits rides guides paintings animals"),
        (
            _words(
                "boring dull confusing repetitive tedious overpriced crowded exhausting buggy"
                " unfair stressful chaotic dirty slow stupid"
            ),
            _words(
                "entertaining addictive relaxing educational thrilling playful clever original"
                " colourful adventurous funny engaging fresh creative"
            ),
        ),
        ("played it", "visited it", "tried it", "went there"),
    ),
)

PERSONS = _words(
    "wife husband son daughter mother father sister brother friend aunt uncle grandmother"
    " colleague boss neighbour family friends children parents partner cousin"
)
DAYS = _words(
    "monday tuesday wednesday thursday friday saturday sunday yesterday today recently january"
    " february march april may june july august september october november december"
)
