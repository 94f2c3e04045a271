"""One clean pass of a model, and every question on it: what its heads do to the answer.

`start` has `experiment`, `run` its `Experiment`; a question is a module with its result. By
intervening: `effects` takes each head away in turn, `edges` cuts single edges of a head, `cuts`
of many, `patching` brings heads from another text, `switches` reads whole answers before and
after changes; exact, in batches (`rows`), one number each. By data flow: `direct` splits the
answer into what each head, MLP and embedding wrote and `by_token` what a head wrote into the
tokens that it read, `lens` reads the stream after each layer, `why` splits a score into writers ×
writers, `paths` finds which head moves which later one and `cut_path` cuts one such path,
`tokens` follows the answer back to the tokens and holds that against hiding each. `circuit` cuts
all edges of the stream but a few (`edgewise`). `sets` asks the same of many texts or pairs
(`groups` share a batch, `set_results` have their intervals). A share is not a cause: each stands
beside an intervention. `answer_measures` name what is measured and `readouts` read it; `outputs`
is what the model itself says; `dataflow` knows no models; `weights_alone` reads no text. The names
below are looked up on first use: importing the package loads no torch.
"""

from attnviz.lazy import names

_HOMES = {
    "attnviz.experiment.answer_measures": ("AnswerMeasure",),
    "attnviz.experiment.answers": ("Answer",),
    "attnviz.experiment.by_token": ("DirectByToken",),
    "attnviz.experiment.circuit": ("Circuit",),
    "attnviz.experiment.components": ("Component",),
    "attnviz.experiment.cut_path": ("CutPath",),
    "attnviz.experiment.cuts": ("Cuts",),
    "attnviz.experiment.direct": ("Direct",),
    "attnviz.experiment.edges": ("Edges",),
    "attnviz.experiment.effects": ("Effects",),
    "attnviz.experiment.lens": ("Lens",),
    "attnviz.experiment.patching": ("Patching",),
    "attnviz.experiment.paths": ("Path", "Paths"),
    "attnviz.experiment.run": ("Experiment",),
    "attnviz.experiment.set_results": ("SetResult",),
    "attnviz.experiment.sets": ("ExperimentSet",),
    "attnviz.experiment.slots": ("DifferenceSlot", "WordSlot"),
    "attnviz.experiment.changed_run": ("ChangedRun",),
    "attnviz.experiment.tokens": ("TokenScores",),
    "attnviz.experiment.weights_alone.circuits": ("Circuits",),
    "attnviz.experiment.weights_alone.results": (
        "BesideOthers",
        "ByDistance",
        "Candidate",
        "Composition",
        "Folded",
        "TokenCircuit",
        "TopTokens",
    ),
    "attnviz.experiment.why": ("Why",),
}

__getattr__, __dir__, __all__ = names(__name__, _HOMES)
