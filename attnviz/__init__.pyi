# Written by `python -m scripts.write_stub` from attnviz/__init__.py.

from attnviz import compare as compare
from attnviz import figures as figures
from attnviz import masks as masks
from attnviz import metrics as metrics
from attnviz import tiles as tiles
from attnviz.attention.capture import Capture as Capture
from attnviz.attention.steps import derive as derive
from attnviz.audio.sound import Sound as Sound
from attnviz.capture.changed.run import changed as changed
from attnviz.capture.generation.settings import Generation as Generation
from attnviz.capture.record.recorder import record as record
from attnviz.capture.run import capture as capture
from attnviz.changes.make import ablate as ablate
from attnviz.changes.make import cut as cut
from attnviz.changes.make import edit as edit
from attnviz.changes.make import mask as mask
from attnviz.changes.make import patch as patch
from attnviz.changes.make import pattern as pattern
from attnviz.corpus.embed import embed as embed
from attnviz.corpus.survey import survey as survey
from attnviz.errors import AttnVizError as AttnVizError
from attnviz.errors import BadInput as BadInput
from attnviz.experiment.answer_measures import Class as Class
from attnviz.experiment.answer_measures import Cosine as Cosine
from attnviz.experiment.answer_measures import Divergence as Divergence
from attnviz.experiment.answer_measures import NextToken as NextToken
from attnviz.experiment.answer_measures import Target as Target
from attnviz.experiment.start import experiment as experiment
from attnviz.experiment.weights_alone.circuits import circuits as circuits
from attnviz.files.from_tools.attentions import from_attentions as from_attentions
from attnviz.files.save import read as read
from attnviz.files.save import save as save
from attnviz.models.loaded_model import LoadedModel as LoadedModel
from attnviz.models.loader import load as load
from attnviz.models.registry import models as models
from attnviz.notebook.show import show as show

__version__: str
