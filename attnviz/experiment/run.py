"""`Experiment`: one clean pass of one input, kept, and every question on it (made in `start`).

In: a model, what it reads, and a measure of its answer. Out: an `Experiment`. Its questions share
the clean pass, what is known of it (the traced pass, the slopes, the outputs of its modules), and
so its numbers: an effect and a share of one run are of the same answer. Interventions run changed
copies of the input; attributions split numbers of the pass. An attribution never stands alone:
`effects`, `edges` and `cut` show what happens where a head, an edge or a path is taken away.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, overload

from attnviz.changes.kinds import Change, CorpusTexts, PatchedStage
from attnviz.errors import require_type
from attnviz.experiment import (
    by_token,
    circuit,
    cut_path,
    cuts,
    edges,
    effects,
    lens,
    patching,
    paths,
    tokens,
    why,
)
from attnviz.experiment.answer_measures import AnswerMeasure, as_measure
from attnviz.experiment.answers import Answer, AnswerReader, answer_of
from attnviz.experiment.by_token import DirectByToken
from attnviz.experiment.changed_run import DRAWS, ChangedRun, changed_run
from attnviz.experiment.circuit import Circuit
from attnviz.experiment.clean_run import CleanRun
from attnviz.experiment.cut_path import CutPath
from attnviz.experiment.cuts import Cuts, Edge, HeadEdge
from attnviz.experiment.direct import Direct
from attnviz.experiment.edges import Cell, Edges
from attnviz.experiment.effects import Effects, ReplacementKind
from attnviz.experiment.lens import Lens
from attnviz.experiment.patching import Patching
from attnviz.experiment.paths import Between, FedSide, Paths
from attnviz.experiment.readouts import Read, readout
from attnviz.experiment.rows import PASS_ROWS
from attnviz.experiment.tokens import TokenScores
from attnviz.experiment.why import Side, Why
from attnviz.summary import counted
from attnviz.types import Kind, Stack, Where, ignore

Progress = Callable[[float], None]
OTHER_RUN = "give attnviz.experiment(lm, other_text)"


@dataclass(frozen=True, eq=False)
class Experiment:
    """One clean pass of a model, and every question on it; made by `attnviz.experiment`.

    `prepared` is the pass with its measure. A sentence encoder's answer is compared with `others`.

    Questions that intervene: `effects`, `edges`, `cuts`, `cut`, `patched_from`, `with_changes`.
    Questions on how the numbers of this pass came about, answered from it alone: `direct`, `why`,
    `lens`, `tokens`. `paths` does both.
    """

    prepared: CleanRun
    others: tuple[str, ...] = ()

    @cached_property
    def reader(self) -> AnswerReader:
        """The function that reads this model's answer from its output, with names of choices."""
        return answer_of(self.prepared, self.others)

    @cached_property
    def answer(self) -> Answer:
        """The model's answer without changes, and the measure's number.

        >>> run = attnviz.experiment("stories", "Lily gave the red ball to")
        >>> run.answer.top(1)[0][0]
        'Tom'
        """
        numbers = self.reader.clean.double().cpu().numpy()
        if self.prepared.on is None:
            return Answer(self.reader, numbers)
        resolved = readout(self.prepared)
        value = float(resolved.read(self.prepared.clean)[0])
        return Answer(self.reader, numbers, self.prepared.on, value, resolved.unit)

    def with_measure(self, on: AnswerMeasure) -> "Experiment":
        """The same pass with another measure.

        A pass is run again only where the measure reads what the first one did not compute: other
        rows of a language model's logits, or another target.
        """
        return Experiment(self.prepared.with_measure(as_measure(on)), self.others)

    @property
    def _moving(self) -> CleanRun:
        """The pass with its measure; without one with how far the whole answer moves, 0 to 1."""
        prepared = self.prepared
        return prepared if prepared.on is not None else replace(prepared, moved=self.reader.moved)

    # --- questions that intervene ---------------------------------------------------------------

    def effects(
        self,
        *,
        to: ReplacementKind = "mean",
        corpus: CorpusTexts | None = None,
        heads: Sequence[Where] | str | None = None,
        exact: bool = True,
        rows: int = PASS_ROWS,
        progress: Progress = ignore,
        cancel: threading.Event | None = None,
    ) -> Effects:
        """The answer's number with each head taken away alone (ablation, knock-out).

        Exact: every head is run, many at a time as rows of one batch. Without a measure the number
        is how far the whole answer moves, 0 to 1.

        Parameters:

        - `to`: "mean" sets a head's output to its mean over a corpus, "resample" to draws from it
          (the mean of four), "zero" to zero; "even" leaves its values and makes its attention
          uniform over the keys that it may see.
        - `corpus`: a list of texts, recorded once for each list and model. Without one it is 50
          examples that come with attnviz, whatever the model was trained on: of the world of an
          embedded model, else generated English stories or pictures. The result names it.
        - `heads`: the heads or layers that are taken away; all of them by default.
        - `exact`: False estimates from one backward pass (attribution patching, gradient × input).
        - `rows`: the most rows of one batch.
        - `progress`: a function that is told what fraction is done; `cancel` stops the work.

        Returns `Effects`: the number before and after, `changes`, `order`, `of(head)`, `grid()`.

        Raises `BadInput` for a head that the model does not have, or a corpus where none is used,
        and `Cancelled` soon after `cancel` was set.

        Example:

        >>> run = attnviz.experiment(
        ...     "stories",
        ...     "When Mary and John went to the store, John gave a drink to",
        ...     on=attnviz.NextToken(" Mary", against=" John"),
        ... )
        >>> str(run.effects().order[0])
        'L0.H0'
        """
        return effects.effects(
            self._moving,
            to=to,
            corpus=corpus,
            heads=heads,
            exact=exact,
            rows=rows,
            progress=progress,
            cancel=cancel,
        )

    def edges(
        self,
        head: Where,
        *,
        exact: int = edges.EXACT,
        cells: Sequence[Cell] | None = None,
        row: int | None = None,
        renormalise: bool = False,
    ) -> Edges:
        """The answer's number without each edge of one head (attention knockout).

        Every edge is estimated to first order (attribution patching); those that matter most are
        run, exactly, as rows of a batch.

        Parameters:

        - `head`: the head, such as "L2.H1".
        - `exact`: so many of the largest estimates are computed, and as many heavy edges at most
          that may do nothing.
        - `cells`: the (query, key) pairs that are computed instead.
        - `row`: a query whose heaviest edges are computed too.
        - `renormalise`: give the weight of a cut edge to the rest of its row, as if a mask had
          hidden the key.

        Returns `Edges`: weights, ‖α·f(x)‖, `estimate` and `exact` for every cell.

        Raises `BadInput` for a head or a cell that does not exist, and without `cells` or `row` for
        a measure that has no first order.

        Example:

        >>> on = attnviz.NextToken(" ball", against=" book")
        >>> text = "Lily gave the red ball to Tom. Tom gave the red"
        >>> run = attnviz.experiment("stories", text, on=on)
        >>> run.edges("L2.H1", cells=[(10, 4)]).cells
        ((10, 4),)
        """
        return edges.edges(
            self._moving, head, exact=exact, cells=cells, row=row, renormalise=renormalise
        )

    def cuts(
        self,
        edges: Sequence[Edge] | None = None,
        *,
        choices: Sequence[int] | None = None,
        renormalise: bool = True,
        rows: int = cuts.ROWS,
        progress: Progress = ignore,
        cancel: threading.Event | None = None,
    ) -> Cuts:
        """The whole answer without each of many edges, of any heads, beside their weights.

        Parameters:

        - `edges`: (head, query, key) each; by default all of the text, but those of rows with a
          single key. Each is run, exactly.
        - `choices`: the numbers of the answer that are kept for each cut; all by default.
        - `renormalise`: as in `edges`; `rows`, `progress`, `cancel`: as in `effects`.

        Returns `Cuts`: `weights`, `moved`, `winners`, `numbers`, and `flips`, the cuts after which
        the model says something else.

        Raises `BadInput` for a head or an edge that does not exist, `TooLarge` where the numbers
        would not fit, and `Cancelled` soon after `cancel` was set.

        Example:

        >>> text = "When Mary and John went to the store, John gave a book to"
        >>> run = attnviz.experiment("stories", text)
        >>> cuts = run.cuts([("L2.H1", 14, 2), ("L2.H3", 14, 2)])
        >>> cuts.to_dict()["winner"]
        ['John', 'Mary']
        """
        return cuts.cuts(
            self.prepared, self.reader, edges, choices, renormalise, rows, progress, cancel
        )

    def same_look(
        self, query: int, key: int, kind: Kind = "self", stack: Stack | None = None
    ) -> tuple[HeadEdge, ...]:
        """The look from a query at a key, of every head that has it: `cuts` of a look's control.

        A head whose mask hides the key, or all but it, is left out. Raises `BadInput` for a place
        that the text does not have, and where the model has no such attention.
        """
        return cuts.same_look(self.prepared, query, key, kind, stack)

    def patched_from(
        self,
        other: "Experiment",
        *,
        stages: Sequence[PatchedStage] = patching.STAGES,
        heads: Sequence[Where] | str | None = None,
        draws: int = patching.DRAWS,
        rows: int = PASS_ROWS,
        progress: Progress = ignore,
        cancel: threading.Event | None = None,
    ) -> Patching:
        """The share of the difference to another run that each head carries (activation patching).

        Each stage of every head comes from `other`, a run of the same model whose tokens stand at
        the same places. The control takes the same from runs with random tokens where both differ.

        Parameters:

        - `other`: the experiment that the heads are taken from.
        - `stages`: "mixed" (a head's output), "weights" (its pattern), "q", "k" or "v".
        - `heads`: the heads that are patched; all of them by default.
        - `draws`: controls of the strongest heads of each stage.
        - `rows`, `progress`, `cancel`: as in `effects`.

        Returns `Patching`: `shares`, `of(head, stage)`, `control_of(head, stage)`, `strongest()`.

        Raises `BadInput` if the tokens of the two do not stand at the same places, or if the
        measure does not tell the two answers apart; `Cancelled` soon after `cancel` was set.

        Example:

        >>> lm, on = attnviz.load("stories"), attnviz.NextToken(" Mary", against=" John")
        >>> mary = "When Mary and John went to the store, John gave a drink to"
        >>> john = "When Mary and John went to the store, Mary gave a drink to"
        >>> source = attnviz.experiment(lm, mary)
        >>> patched = attnviz.experiment(lm, john, on=on).patched_from(source, stages=["mixed"])
        >>> str(patched.strongest()[0])
        'L0.H0'
        """
        require_type("patched_from", "other", other, Experiment, OTHER_RUN)
        return patching.patching(
            self._moving,
            other.prepared,
            stages=stages,
            heads=heads,
            draws=draws,
            rows=rows,
            progress=progress,
            cancel=cancel,
        )

    def with_changes(self, *changes: Change, draws: int = DRAWS, seed: int = 0) -> ChangedRun:
        """The answer with some changes made to the heads, beside the same made to other heads.

        Parameters:

        - `changes`: what `attnviz.ablate`, `patch`, `cut`, `pattern`, `edit` and `mask` return; an
          ablation to "mean" (the default) or "resample" first runs the model on its corpus, once.
        - `draws`: so many times the same is done to other heads, drawn at random by `seed`.

        Returns `ChangedRun`: `answer`, `before`, `change`, `control_changes`, `writes(n_tokens)`.

        Raises `BadInput` for a missing head, `UnsupportedAttention` for a change it cannot take.

        Example:

        >>> on = attnviz.NextToken(" Mary", against=" John")
        >>> text = "When Mary and John went to the store, John gave a drink to"
        >>> run = attnviz.experiment("stories", text, on=on)
        >>> run.with_changes(attnviz.ablate("L0.H0")).change < -5
        True
        """
        return changed_run(self.prepared, self.answer, changes, draws=draws, seed=seed)

    # --- paths ------------------------------------------------------------------------------------

    def paths(
        self,
        *,
        between: Between = "nothing",
        answer: bool = False,
        to: ReplacementKind = "mean",
        corpus: CorpusTexts | None = None,
        senders: Sequence[Where] | str | None = None,
        rows: int = PASS_ROWS,
        progress: Progress = ignore,
        cancel: threading.Event | None = None,
    ) -> Paths:
        """The attention of every head that moves where an earlier head is taken away.

        By default each number is a total effect: the receiver's q, k or v comes from a whole run
        without the sender, later heads and MLPs that answer to it included. Direct paths hold what
        lies between the two as it was (path patching).

        Parameters:

        - `between`: "nothing" is held; the other "heads" are, MLPs and norms answer (Wang et al.
          2022); or "all", heads and MLPs, which leaves the residual stream. What goes through MLPs
          is the difference of the last two.
        - `answer`: cut each path too and read the measure's number, one row of a batch for each:
          much attention may move and nothing change.
        - `to`, `corpus`: what replaces a sender, as in `effects`; "resample" is one draw.
        - `senders`: the heads that are taken away; all of them by default.
        - `rows`, `progress`, `cancel`: as in `effects`.

        Returns `Paths`: `strongest(count)`, `of(sender, receiver, side)`, the tables `moved` and
        `answer`.

        Raises `BadInput` for a head that the model does not have, and with `answer` without a
        measure; `UnsupportedAttention` with "all" for a model of several stacks; `Cancelled` soon
        after `cancel` was set.

        Example:

        >>> run = attnviz.experiment("stories", "Lily gave the red ball to Tom. Tom gave the")
        >>> run.paths(to="zero", senders=["L0"]).strongest(1)[0].side in ("q", "k")
        True
        """
        return paths.paths(
            self.prepared,
            between=between,
            answer=answer,
            to=to,
            corpus=corpus,
            senders=senders,
            rows=rows,
            progress=progress,
            cancel=cancel,
        )

    def cut(
        self,
        sender: Where,
        receiver: Where,
        side: FedSide,
        *,
        between: Between = "nothing",
        to: ReplacementKind = "mean",
        corpus: CorpusTexts | None = None,
        seed: int = 0,
    ) -> CutPath:
        """One path of `paths` cut, and the same path from up to 23 other heads (path patching).

        The receiver's one input comes from a run without the sender, with what is `between` the
        two held as in `paths`; the answer is read with that input: the measure's number, or without
        a measure the whole answer.

        Parameters:

        - `sender`, `receiver`: two heads, the receiver in a later layer.
        - `side`: the receiver's input, "q", "k" or "v".
        - `to`, `corpus`: what replaces the sender, as in `effects`; "resample" is one draw.
        - `seed`: draws the other heads where there are more than 23.

        Returns `CutPath`: the receiver's weights before and after, `moved`, and `answer`.

        Raises `BadInput` for heads that the model does not have, or a receiver that does not run
        after the sender.

        Example:

        >>> run = attnviz.experiment("stories", "Lily gave the red ball to Tom. Tom gave the")
        >>> cut = run.cut("L0.H1", "L2.H0", "k", to="zero")
        >>> cut.after.shape == cut.before.shape
        True
        """
        read: Read = (self.reader if self.prepared.on is None else readout(self.prepared)).read
        return cut_path.cut_path(
            self.prepared,
            sender,
            receiver,
            side,
            read,
            between=between,
            to=to,
            corpus=corpus,
            seed=seed,
        )

    def circuit(
        self,
        other: "Experiment",
        *,
        exact: int | None = circuit.EXACT,
        steps: int = circuit.STEPS,
        progress: Progress = ignore,
        cancel: threading.Event | None = None,
    ) -> Circuit:
        """The edges of the residual stream that carry the difference to another run.

        Edge attribution patching with integrated gradients (EAP-IG) for all edges between heads
        (q, k, v), MLPs and the answer; the largest are run exactly. Then the circuit is kept and
        all else comes from the other run, and the other way round, beside as many random edges.

        Parameters:

        - `other`: the experiment on a text of the same length whose answer differs.
        - `exact`: so many of the largest estimates are run, one row of a batch each; None for all.
        - `steps`: points between the two runs at which the gradient is taken; 1 at the middle.
        - `progress`, `cancel`: as in `effects`.

        Returns `Circuit`: `order`, `estimate`, `exact`, the curves `faithful` and `complete` at
        `points`, `keep(n)`, `least`, `agreement`.

        Raises `UnsupportedAttention` for a model whose layers do not each read the stream and add
        to it (norms after sums, parallel layers, several stacks); `BadInput` for texts whose tokens
        do not stand at the same places, or with the same answer; `Cancelled`.

        Example:

        >>> lm, on = attnviz.load("stories"), attnviz.NextToken(" Mary", against=" John")
        >>> text = "When Mary and John went to the store, John gave a drink to"
        >>> run, swapped = (
        ...     attnviz.experiment(lm, text.replace("John gave", f"{name} gave"), on=on)
        ...     for name in ("John", "Mary")
        ... )
        >>> run.circuit(swapped, exact=40).keep(40) > 0.9
        True
        """
        require_type("circuit", "other", other, Experiment, OTHER_RUN)
        return circuit.circuit(
            self._moving, other.prepared, exact=exact, steps=steps, progress=progress, cancel=cancel
        )

    # --- how the numbers of this pass came about --------------------------------------------------

    @overload
    def direct(self) -> Direct: ...
    @overload
    def direct(
        self,
        by: Literal["token"],
        *,
        of: Where | None = None,
        query: int | None = None,
        key: int | None = None,
        side: Side = "k",
    ) -> DirectByToken: ...
    def direct(
        self,
        by: Literal["component", "token"] = "component",
        *,
        of: Where | None = None,
        query: int | None = None,
        key: int | None = None,
        side: Side = "k",
    ) -> Direct | DirectByToken:
        """The answer's number split into what each head, MLP and embedding wrote of it.

        Direct logit attribution, norms and gates frozen: what a head does through later heads and
        MLPs is not in it. Read it beside `effects`. By token each head's part is split over the
        keys that it read, [head, key], beside the exact cut of the same edges.

        Parameters:

        - `by`: "component", or "token".
        - `of`, `query`, `key`: with "token", a cell of a later head whose score is split instead of
          the answer's number; `side` says on which side, "q" or "k".

        Returns `Direct`: `components` and `values`, which sum to the model's own number;
        `of(head)`, `error`, `ok`. By token a `DirectByToken`: `values`, `exact`, `rest`,
        `by_token(heads)`, `of(head)` by query and key.

        Raises `BadInput` without a measure, and for one that is not a linear number of logits or
        hidden states: a divergence, or a text's cosine with itself.

        Example:

        >>> on = attnviz.NextToken(" ball", against=" book")
        >>> text = "Lily gave the red ball to Tom. Tom gave the red"
        >>> run = attnviz.experiment("stories", text, on=on)
        >>> run.direct().ok
        True
        >>> tokens = run.direct(by="token")
        >>> tokens.tokens[0][int(tokens.by_token(["L2.H1"]).argmax())]
        'ball'
        """
        return by_token.direct_by(self.prepared, by, of, query, key, side)

    def lens(self, *, count: int = lens.DEFAULT_COUNT) -> Lens:
        """The `count` likeliest tokens after each state of the residual stream (logit lens).

        Every position is read; with a measure of the next token alone the last one is.

        Returns `Lens`: `states`, `ids`, `probabilities`, and the measure's `values` at each state.

        Raises `BadInput` for a model without logits.

        Example:

        >>> run = attnviz.experiment("stories", "Lily gave the red ball to")
        >>> run.lens(count=3).ids.shape[1:]
        (7, 3)
        """
        return lens.lens(self.prepared, count=count)

    def why(self, head: Where, query: int, key: int, *, through_mlps: bool = True) -> Why:
        """One score of one head split into pairs of what wrote its query and its key.

        Parameters:

        - `head`, `query`, `key`: the head and the positions of the cell.
        - `through_mlps`: pass MLPs with their gates frozen, so that "MLP 0" gives way to what it
          was made of.

        Returns `Why`: `shares` that sum to the centred score, `pairs(count)`, `by_source(side)`.

        Raises `BadInput` for a head or a position that does not exist, and `UnsupportedAttention`
        where W_Q or W_K of the head is not known.

        Example:

        >>> run = attnviz.experiment("stories", "Lily gave the red ball to Tom. Tom gave the")
        >>> run.why("L2.H1", query=10, key=4).ok
        True
        """
        return why.why(self.prepared, head, query, key, through_mlps=through_mlps)

    def tokens(self) -> TokenScores:
        """The tokens that the answer rests on, scored by every method.

        `hidden` and `masked` are changes without the token, `frozen` is the token's part of the
        number: where they agree, their signs are opposite. `agreement` compares sizes only.

        Returns `TokenScores`: `scores[method]`, `agreement`, `strongest(method)`.

        Raises `BadInput` for a model that does not read one text with one stack of self-attention,
        and for a measure that has no slope.

        Example:

        >>> on = attnviz.NextToken(" ball", against=" book")
        >>> text = "Lily gave the red ball to Tom. Tom gave the red"
        >>> run = attnviz.experiment("stories", text, on=on)
        >>> scores = run.tokens()
        >>> scores.tokens.labels[scores.strongest("hidden")]
        'ball'
        """
        return tokens.tokens(self.prepared)

    def to_dict(self) -> dict[str, object]:
        """The model, the tokens, the measure and the answer, as lists and texts."""
        own, answer = self.prepared, self.answer.to_dict()
        labels = {str(stack or "text"): list(rows[0].labels) for stack, rows in own.tokens.items()}
        on = None if own.on is None else str(own.on)
        return {"model": own.lm.name, "tokens": labels, "on": on, "answer": answer}

    def __repr__(self) -> str:
        prepared = self.prepared
        n_heads = sum(call.n_heads for call in prepared.calls)
        size = f"{counted(prepared.n_token, 'token')}, {counted(n_heads, 'head')}"
        return f"Experiment on {prepared.lm.name}, {size}: {self.answer}"
