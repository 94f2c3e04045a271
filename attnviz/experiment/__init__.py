"""One clean pass of a model, and every question on it: what its heads do to the answer.

`run` has `experiment` and its `Experiment`; a question is a module with its result. By intervening:
`effects` takes each head away in turn, `edges` cuts single edges, `patching` brings heads from
another text, `switches` reads whole answers before and after changes; exact, in batches (`rows`),
one number each. By data flow: `direct` splits the answer into what each head, MLP and embedding
wrote and `by_token` what a head wrote into the tokens that it read, `lens` reads the stream after
each layer, `why` splits a score into writers × writers, `paths` finds which head moves which later
one and `cut_path` cuts one such path, `tokens` follows the answer back to the tokens and holds that
against hiding each. A share is not a cause: each stands beside an intervention. `answer_measures`
name what is measured and `readouts` read it; `outputs` is what the model itself says; `dataflow`
knows no models. The names below are looked up on first use: importing the package loads no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attnviz.experiment.answer_measures import AnswerMeasure
    from attnviz.experiment.answers import Answer
    from attnviz.experiment.by_token import DirectByToken
    from attnviz.experiment.components import Component
    from attnviz.experiment.cut_path import CutPath
    from attnviz.experiment.direct import Direct
    from attnviz.experiment.edges import Edges
    from attnviz.experiment.effects import Effects
    from attnviz.experiment.lens import Lens
    from attnviz.experiment.patching import Patching
    from attnviz.experiment.paths import Path, Paths
    from attnviz.experiment.run import Experiment
    from attnviz.experiment.switches import ChangedRun
    from attnviz.experiment.tokens import TokenScores
    from attnviz.experiment.why import Why

__all__ = [
    "Answer",
    "AnswerMeasure",
    "ChangedRun",
    "Component",
    "CutPath",
    "Direct",
    "DirectByToken",
    "Edges",
    "Effects",
    "Experiment",
    "Lens",
    "Patching",
    "Path",
    "Paths",
    "TokenScores",
    "Why",
]
_HOME = {
    "AnswerMeasure": "answer_measures",
    "Answer": "answers",
    "DirectByToken": "by_token",
    "Component": "components",
    "CutPath": "cut_path",
    "Direct": "direct",
    "Edges": "edges",
    "Effects": "effects",
    "Lens": "lens",
    "Patching": "patching",
    "Path": "paths",
    "Paths": "paths",
    "Experiment": "run",
    "ChangedRun": "switches",
    "TokenScores": "tokens",
    "Why": "why",
}


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'attnviz.experiment' has no attribute {name!r}")
    value: object = getattr(import_module(f"attnviz.experiment.{home}"), name)
    return value
