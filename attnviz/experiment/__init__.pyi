# Written by `python -m scripts.write_stub` from attnviz/experiment/__init__.py.

from attnviz.experiment.answer_measures import AnswerMeasure as AnswerMeasure
from attnviz.experiment.answers import Answer as Answer
from attnviz.experiment.by_token import DirectByToken as DirectByToken
from attnviz.experiment.circuit import Circuit as Circuit
from attnviz.experiment.components import Component as Component
from attnviz.experiment.cut_path import CutPath as CutPath
from attnviz.experiment.cuts import Cuts as Cuts
from attnviz.experiment.direct import Direct as Direct
from attnviz.experiment.edges import Edges as Edges
from attnviz.experiment.effects import Effects as Effects
from attnviz.experiment.lens import Lens as Lens
from attnviz.experiment.patching import Patching as Patching
from attnviz.experiment.paths import Path as Path
from attnviz.experiment.paths import Paths as Paths
from attnviz.experiment.run import Experiment as Experiment
from attnviz.experiment.set_results import SetResult as SetResult
from attnviz.experiment.sets import ExperimentSet as ExperimentSet
from attnviz.experiment.slots import WordSlot as WordSlot
from attnviz.experiment.switches import ChangedRun as ChangedRun
from attnviz.experiment.tokens import TokenScores as TokenScores
from attnviz.experiment.why import Why as Why
