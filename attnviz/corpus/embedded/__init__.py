"""The surveys that come with attnviz: 2,000 texts for each embedded model that reads plain texts.

In: a loaded model. Out: its `Survey`, or None where there is none. `weights.json` has the sha256 of
the weights that were counted. `python -m scripts.write_surveys` writes these files; a test counts
some of the texts again.
"""

import json
from pathlib import Path

from attnviz.corpus.archive import read_survey
from attnviz.corpus.result import Survey
from attnviz.models.loaded_model import LoadedModel

FOLDER = Path(__file__).parent
WEIGHTS = FOLDER / "weights.json"


def embedded_survey(lm: LoadedModel) -> Survey | None:
    """The survey of a model that comes with attnviz, on the same weights; else None."""
    if lm.name not in counted_weights():
        return None
    survey = read_survey(path_of(lm.name))
    known, key = survey.model, lm.key
    same = (known.id, known.revision, known.dtype) == (key.id, key.revision, key.dtype)
    return survey if same else None


def counted_weights() -> dict[str, str]:
    """The names of the models that have a survey here, with the sha256 of their weights."""
    content: dict[str, str] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return content


def path_of(name: str) -> Path:
    """The file of a model's survey."""
    return FOLDER / f"{name}.npz"
