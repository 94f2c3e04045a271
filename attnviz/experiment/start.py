"""`experiment`: the clean pass of one input, or of many texts, from which all questions start.

In: a model, what it reads, and a measure of its answer. Out: an `Experiment`, or an
`ExperimentSet` of several texts.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from torch import nn

from attnviz.audio.sound import Sound
from attnviz.capture.arguments import Picture
from attnviz.capture.request import ModelInputs, Request, Text
from attnviz.errors import bad_argument
from attnviz.experiment.answer_measures import AnswerMeasure, as_measure
from attnviz.experiment.clean_run import as_target, prepare_request
from attnviz.experiment.readouts import readout
from attnviz.experiment.run import Experiment
from attnviz.experiment.sets import ExperimentSet, experiment_set
from attnviz.models.loaded_model import LoadedModel
from attnviz.models.loader import load
from attnviz.models.ranks import require_whole


@overload
def experiment(
    lm: LoadedModel | nn.Module | str | Path,
    text: str | None = None,
    on: AnswerMeasure | None = None,
    *,
    text_pair: Text | None = None,
    target: Text | None = None,
    image: Picture | Sequence[Picture] | None = None,
    sound: Sound | str | Path | None = None,
    inputs: ModelInputs | None = None,
    cut: bool = False,
    chat: bool = False,
) -> Experiment: ...
@overload
def experiment(
    lm: LoadedModel | nn.Module | str | Path,
    text: list[str] | tuple[str, ...] | list[tuple[str, str]],
    on: AnswerMeasure | Sequence[AnswerMeasure],
) -> ExperimentSet: ...
def experiment(
    lm: LoadedModel | nn.Module | str | Path,
    text: Text | list[tuple[str, str]] | None = None,
    on: AnswerMeasure | Sequence[AnswerMeasure] | None = None,
    *,
    text_pair: Text | None = None,
    target: Text | None = None,
    image: Picture | Sequence[Picture] | None = None,
    sound: Sound | str | Path | None = None,
    inputs: ModelInputs | None = None,
    cut: bool = False,
    chat: bool = False,
) -> Experiment | ExperimentSet:
    """One clean pass of a model, kept for every question on it; or of many texts.

    A question after the first runs no second clean pass: `run.effects()`, `run.edges(head)`,
    `run.direct()`, `run.why(head, query, key)` and their like share it. Of a list of texts, or of
    pairs of a text and its partner, `effects`, `direct`, `lens` and `patching` by slot are asked
    of all at once, with intervals.

    Parameters:

    - `lm`: a loaded model; a module, or a name, hub id or folder, is loaded first.
    - `text`, `text_pair`, `target`, `image`, `sound`, `inputs`, `cut`, `chat`: what the model
      reads, one of it, as in `attnviz.capture`; or `text` alone as a list of texts or pairs.
    - `on`: the number of the answer that the questions are about: `attnviz.NextToken`, `Class`,
      `Cosine`, `Target` or `Divergence`, or a function of the model's output that gives a tensor of
      one number for each row: `output["logits"]` is [row, token, vocab]. Without it `effects` and
      `edges` measure how far the whole answer moves. Of several texts, one for all or a list.

    Returns an `Experiment`; of a list of texts or pairs an `ExperimentSet`.

    Raises what `attnviz.capture` raises, and `BadInput` for a measure that the model's answer does
    not have; of several texts with the number of the text.

    Example:

    >>> lm = attnviz.load("stories")
    >>> text = "When Mary and John went to the store, John gave a drink to"
    >>> run = attnviz.experiment(lm, text, on=attnviz.NextToken(" Mary", against=" John"))
    >>> run.answer.unit, run.answer.value > 5
    ('logit', True)
    >>> pairs = [(text, text.replace("John gave", "Mary gave"))]
    >>> attnviz.experiment(lm, pairs, on=attnviz.NextToken(" Mary", against=" John")).n_solved
    1
    """
    loaded = lm if isinstance(lm, LoadedModel) else load(lm)
    require_whole(loaded.model)
    if text is not None and not isinstance(text, str):
        others = (text_pair, target, image, sound, inputs, cut or None, chat or None)
        if any(other is not None for other in others):
            raise bad_argument(
                "a list of texts or pairs goes with on= alone",
                name="text",
                found="a list",
                allowed="one text",
            )
        return experiment_set(loaded, text, on)
    measure = None if on is None else as_measure(on)
    request = Request.of(
        text,
        text_pair,
        target=as_target(measure, target),
        image=image,
        sound=sound,
        inputs=inputs,
        cut=cut,
        chat=chat,
    )
    prepared = prepare_request(loaded, request, measure)
    if measure is not None:
        readout(prepared)  # refuses a measure that this answer does not have
    return Experiment(prepared)
