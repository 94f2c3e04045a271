"""What a model is called on screen.

In: a language and the name that was typed or stands in the address. Out: a title for people.
"""

import re

from attnviz.i18n import Language, text
from attnviz.models.registry import HUB_ID, REGISTRY


def model_title(lang: Language, name: str) -> str:
    """What a model is called on screen: its title, its hub id, or its folder's own name."""
    if name in REGISTRY:
        return text(lang, f"model.{name}.label")
    return name if HUB_ID.fullmatch(name) else re.split(r"[\\/]", name.rstrip("\\/"))[-1]
