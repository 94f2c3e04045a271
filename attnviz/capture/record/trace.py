"""The attention that a model computes, put together from the operations that run.

In: every operation of a recorded model, with the modules that run around it. Out: a report of each
`SeenAttention`, credited to the innermost module in which both its softmax and its product with the
values ran, and the reason for each attention that was seen and cannot be recorded. Operations are
recognised by what they do, never by names. What multiplies a softmax tells attention from a
classifier or a router: attention multiplies values computed from the input, and its scores are
not the columns of a linear layer.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from attnviz.attention.inputs import AttentionInputs
from attnviz.attention.stored_weights import StoredWeights
from attnviz.capture.locate.own_code import is_named_attention
from attnviz.capture.record import evidence, fused_kernels, head_layout, multihead
from attnviz.capture.record import operations as ops
from attnviz.capture.record.chunk_loops import Loops, Operands
from attnviz.capture.record.derived_attention import explained
from attnviz.capture.record.gaps import (
    CHANGED,
    COARSE,
    DROPOUT,
    GROUPS,
    LATE_SUM,
    LEARNED,
    LINEAR,
    NO_KEYS,
    NO_ORDER,
    NO_SOFTMAX,
    NO_VALUES,
    ONE_QUERY,
    OTHER_AXIS,
    OTHER_VALUES,
    OVERWRITTEN,
    STACKED_QUERIES,
)
from attnviz.capture.record.head_layout import HeadLayout
from attnviz.capture.record.operations import LayerRun, MatrixProduct, OpenSoftmax, ScoreSource
from attnviz.capture.record.origins import CAT, NOTHING, STACK, Origins, joined_axis
from attnviz.capture.record.row_parts import RowParts
from attnviz.capture.record.score_trail import ScoreTrails, TrailedScores
from attnviz.capture.record.seen_attention import SeenAttention
from attnviz.capture.record.seen_layers import SeenLayers, Undecided, is_one_text, undecided
from attnviz.capture.record.sliding_window import windowed
from attnviz.capture.record.sources import Sources

OPEN_SOFTMAXES = 6
TAKEN_SOFTMAXES = 2


class ThreadTrace:
    """The operations of one thread, from the first to the last of a recorded model."""

    def __init__(
        self,
        parameters: Iterable[Tensor],
        report: Callable[[SeenAttention], None],
        refuse: Callable[[nn.Module, str], None],
        tell_product: Callable[[LayerRun], None],
    ) -> None:
        self._report, self._refuse, self._tell_product = report, refuse, tell_product
        self._origins = Origins(parameters)
        self._number = 0
        self._sources = Sources(self._origins)
        self._softmaxes: dict[int, OpenSoftmax] = {}
        self._logs: dict[int, OpenSoftmax] = {}
        self._exps: dict[int, ops.Exponentials] = {}
        self._scattered: set[int] = set()  # exponentials that were added up by an index
        self._log_sums: set[int] = set()  # products of which the logarithm of a sum was taken
        self._parts = RowParts(self._origins)
        self._layers = SeenLayers(self._parts)
        self._undecided: Undecided | None = None
        self._scaling: ops.Scaling | None = None
        self._trails = ScoreTrails()
        self._loops = Loops(self._sources, self._parts, report, refuse)
        # where products of two computed tensors, one of them the result of such a product, ran, and
        # the reason why they are no attention, by number
        self.chained: dict[int, tuple[ops.Stack, str]] = {}
        self._of_parameters: set[int] = set()  # products of nothing but parameters
        self._mixed: set[int] = set()  # the results of products with a softmax
        self._taken: dict[int, OpenSoftmax] = {}  # softmaxes whose product is recorded
        # the layers and sources before a recurrent layer that runs
        self._before_recurrent: tuple[tuple[LayerRun, ...], dict[int, ScoreSource]] = ((), {})

    def add(
        self,
        func: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        out: Any,
        stack: ops.Stack,
        *,
        in_torchs_own: bool,
    ) -> None:
        """Add an operation that ran."""
        self._parts.follow(func, args, kwargs, out)
        if func in ops.PRODUCTS:
            self._add_product(ops.as_product(func, args, kwargs, out), out, stack)
        elif func in ops.SOFTMAX:
            scores = self._trails.scores(args[0])
            self._add_softmax(args[0], args[1], out, stack, scores)
        elif func in ops.FUSED:
            names = [argument.name for argument in func._schema.arguments]
            self._add_fused(dict(zip(names, args, strict=False)) | dict(kwargs), out, stack)
        elif func in ops.LOG_SOFTMAX:
            number = self._next(self._logs, OPEN_SOFTMAXES)
            axis = args[1] % max(out.dim(), 1)
            sources = self._sources.entering(args[0])
            over_positions = self._is_over_positions(args[0], axis, sources)
            self._logs[number] = OpenSoftmax(
                out.detach(), axis, sources, stack, over_positions=over_positions
            )
            self._origins.replace(out, frozenset({number}))
        else:
            self._pass_on(func, args, kwargs, out)
            if func in ops.ADDS:
                self._add_bias(args, out)
            elif func is ops.CONVOLUTION:
                self._add_convolution(args, out)
            elif func in ops.EXP:
                self._add_exp(args[0], out, stack)
            elif func in ops.NORMALISING:
                self._add_quotient(out, stack)
                if in_torchs_own and func is ops.SCALE:
                    self._scaling = ops.Scaling(args[0].detach(), out.detach())

    def finish(self) -> None:
        """Report what waits, and refuse what was never multiplied with values."""
        self._decide_late()
        self._loops.end()
        while self._softmaxes:
            self._drop_oldest()
        for store in (self._sources, self._logs, self._exps, self._taken):
            store.clear()
        for numbers in (self._mixed, self._scattered, self._log_sums, self._of_parameters):
            numbers.clear()
        self._layers.clear()
        self._trails.clear()
        self._parts.clear()
        self._scaling = None

    def decide_by(self, read: Tensor) -> None:
        """Report the waiting attention if a layer is about to read its mixed values."""
        rows = read.detach().flatten(0, -2)
        self._decide_by_reader(LayerRun(rows, rows))

    def leave(self, module: nn.Module) -> None:
        """Report what a module computed in parts, once what is around it returns."""
        call = self._undecided
        if call is not None and self._loops.wait and module is call.stack[-1]:
            self._decide_late()
        self._loops.leave(module)

    def forget(self, written: Any) -> None:
        """Forget what was known of the memory of results that are none of the model's own code."""
        for tensor in ops.tensors_in(written if isinstance(written, tuple | list) else (written,)):
            if not self._origins.is_given(tensor):  # a view of a parameter
                self._origins.replace(tensor, NOTHING)

    def is_of_parameters(self, tensor: Tensor) -> bool:
        """True for a parameter, and for what was computed from parameters alone."""
        return self._origins.is_parameter(tensor)

    def _pass_on(self, func: Any, args: Any, kwargs: Mapping[str, Any], out: Any) -> None:
        written = ops.tensors_in(out if isinstance(out, tuple | list) else (out,))
        if written:
            read = ops.tensors_in((*args, *kwargs.values()) if kwargs else args)
            self._origins.pass_on(func, args, kwargs, read, written)
            if func is STACK or func is CAT:
                self._add_joined(args, kwargs, out)
            if func is ops.TOPK and self._sources.show_columns_only(args[0]):
                self.forget(out)  # a router's choice, and no scores
            if func is ops.LOGSUMEXP:
                self._log_sums |= self._origins.of(out)
            if func in ops.SCATTERS:
                entered = frozenset().union(*map(self._origins.of, read))
                self._scattered |= entered & self._exps.keys()
            self._trails.follow(func, args, kwargs, written)

    def _add_joined(self, args: tuple[Any, ...], kwargs: Mapping[str, Any], out: Tensor) -> None:
        """Know single columns side by side, each of a layer of its own, as those of one layer."""
        parts, axis = args[0], joined_axis(args, kwargs, out)
        if out.shape[axis] == len(parts) and self._sources.are_single_columns(parts):
            self._origins.add_columns(out, axis)

    def _is_over_positions(
        self, scores: Tensor, axis: int, sources: tuple[ScoreSource, ...]
    ) -> bool:
        """True if scores were computed by products, and an axis is not the columns of a layer."""
        return bool(sources) and not self._origins.is_of_columns(scores, axis)

    def _next(self, store: dict[int, Any], most: int) -> int:
        """A new number, after the oldest entries of a store were dropped."""
        while len(store) >= most:
            del store[next(iter(store))]
        self._number += 1
        return self._number

    def _add_softmax(
        self,
        read: Tensor,
        axis: int,
        out: Tensor,
        stack: ops.Stack,
        scores: TrailedScores | None = None,
    ) -> None:
        if out.dim() == 0:
            return
        axis %= out.dim()
        sources = self._sources.entering(read)
        over_positions = self._is_over_positions(read, axis, sources)
        is_learned = self._origins.is_parameter(read)
        softmax = OpenSoftmax(
            out.detach(), axis, sources, stack, scores, over_positions, is_learned
        )
        self._open(softmax, self._origins.of(read), out)

    def _open(self, softmax: OpenSoftmax, entered: frozenset[int], out: Tensor) -> None:
        """Keep a softmax until values are multiplied with it; what entered it are its scores."""
        for number in entered:
            self.chained.pop(number, None)
        while len(self._softmaxes) >= OPEN_SOFTMAXES:
            self._drop_oldest()
        number = self._next({}, OPEN_SOFTMAXES)
        self._softmaxes[number] = softmax
        self._origins.replace(out, frozenset({number}))

    def _add_exp(self, scores: Tensor, out: Tensor, stack: ops.Stack) -> None:
        numbers = self._origins.of(out)
        for number in numbers:
            log = self._logs.get(number)
            if log is not None and log.kept.shape == out.shape:
                self._open(replace(log, kept=out.detach(), stack=stack), numbers, out)
                return
        sources = self._sources.entering(out)
        if not sources or out.dim() < 2:
            return
        # by chance the exponentials may add up to 1 before they are divided by their sum
        early = self._number if self._add_if_normalised(sources, out, stack) else None
        if early is None and numbers & self._log_sums and out.dtype in (torch.bfloat16, torch.half):
            if self._is_over_positions(out, out.dim() - 1, sources):
                self._refuse(stack[-1], COARSE)
        numbers |= self._origins.of(out)
        number = self._next(self._exps, OPEN_SOFTMAXES)
        self._exps[number] = ops.Exponentials(sources, early)
        self._origins.renumber(out, numbers | {number})

    def _add_quotient(self, out: Tensor, stack: ops.Stack) -> None:
        """Take exp(x) divided by its sum as a softmax."""
        numbers = self._origins.of(out)
        for number in numbers:
            if number in self._exps and out.dim() >= 2:
                exponentials = self._exps[number]
                if self._add_if_normalised(exponentials.sources, out, stack):
                    self._softmaxes.pop(exponentials.early or 0, None)
                elif number in self._scattered:
                    self._refuse(stack[-1], GROUPS)
                return

    def _add_if_normalised(
        self, sources: tuple[ScoreSource, ...], out: Tensor, stack: ops.Stack
    ) -> bool:
        for axis in (out.dim() - 1, out.dim() - 2):
            if out.shape[axis] > 1 and evidence.sums_to_one(out.detach(), axis):
                kept = out.clone() if out._is_view() else out.detach()
                over_positions = self._is_over_positions(out, axis, sources)
                softmax = OpenSoftmax(kept, axis, sources, stack, over_positions=over_positions)
                self._open(softmax, self._origins.of(out), out)
                return True
        return False

    def _add_product(self, product: MatrixProduct, out: Tensor, stack: ops.Stack) -> None:
        left, right = self._origins.of(product.left), self._origins.of(product.right)
        is_learned = [self._origins.is_parameter(part) for part in (product.left, product.right)]
        self._retract_if_read(right)
        number = self._next({}, OPEN_SOFTMAXES)
        if all(is_learned):
            self._of_parameters.add(number)
        if any(is_learned):
            self._trails.drop(out)
        else:
            self._trails.begin(out, product.factor, product.added, product.beta)
            if self._find_values(product, left, right, stack, number):
                self._mixed.add(number)
            elif any(self._is_raw_product(n) for n in left | right):
                if not right or right - self._of_parameters:  # an adapter multiplies its matrices
                    is_late = bool((left | right) & self._exps.keys())
                    self.chained[number] = stack, LATE_SUM if is_late else NO_SOFTMAX
        source = ScoreSource(
            product.left,
            product.right,
            tuple(product.out.shape),
            product.added,
            any(is_learned),
            is_learned[1] and not is_learned[0],
        )
        self._sources.keep(number, source)
        has_columns = is_learned[1] and not is_learned[0] and out.dim() > 1
        self._origins.replace(out, frozenset({number}), -1 if has_columns else None)
        if not is_learned[1] or is_learned[0]:
            return
        self._parts.follow_layer(product.left, product.right, product.out)
        n_matrix = ops.n_matrix_of_text(product)
        if n_matrix is None:
            self._layers.are_all_known = False
        elif not self._sources.splits_rows(product.left):
            adds = product.added is not None and self._origins.is_parameter(product.added)
            layer = ops.layer_run(product, n_matrix, stack[-1], adds_parameter=adds)
            self._layers.add(layer)
            self._decide_by_reader(layer)
            self._tell_product(layer)

    def _find_values(
        self,
        product: MatrixProduct,
        left: frozenset[int],
        right: frozenset[int],
        stack: ops.Stack,
        result: int,
    ) -> bool:
        """Take a product as weights·V if one of its factors is an open softmax.

        True if a factor was computed from a softmax, whether the product is taken or not.
        """
        self._name_other_values(product, left, stack)
        is_mixed = any(n in self._taken for n in left | right)
        for number in sorted(left | right, reverse=True):
            softmax = self._softmaxes.get(number)
            if softmax is None:
                continue
            is_mixed = True
            turned = product if number in left else ops.swapped(product)
            common = ops.common(softmax.stack, stack)
            if not evidence.has_keys(softmax, self._sources.entering(turned.right)):
                softmax.fault = common[-1], NO_KEYS
                continue
            arrangement = evidence.arranged(softmax, turned.left)
            call = (
                self._layers.with_shared_values(softmax, common, turned, result)
                if arrangement is None
                else undecided(softmax, common, arrangement, turned, self._scaling, result)
            )
            if call is None:
                if not self._take_windowed(softmax, number, turned, common):
                    softmax.fault = common[-1], self._why_changed(softmax, turned, common)
                    continue
                break
            n_query, n_key = call.weights.shape[-2:]
            if n_query != n_key:  # scores that show no sides of several queries: another text's
                shown = self._sources.kind_by_reads(softmax.sources)
                call.kind = shown or ("cross" if n_query > 1 else None)
            self._close(number)
            self._decide_late()
            self._take(call)
            break
        return is_mixed

    def _close(self, number: int) -> None:
        """Keep a softmax only to know a second product with it."""
        while len(self._taken) >= TAKEN_SOFTMAXES:
            del self._taken[next(iter(self._taken))]
        self._taken[number] = self._softmaxes.pop(number)

    def _name_other_values(
        self, product: MatrixProduct, left: frozenset[int], stack: ops.Stack
    ) -> None:
        """Refuse a second product of the weights of a softmax, whose first one is recorded."""
        for number in left & self._taken.keys():
            softmax = self._taken[number]
            if evidence.arranged(softmax, product.left) is not None:
                self._refuse(ops.common(softmax.stack, stack)[-1], OTHER_VALUES)

    def _is_raw_product(self, number: int) -> bool:
        """True for a product of two computed tensors that no softmax was a factor of."""
        is_product = number in self._sources and number not in self._mixed
        return is_product and not self._sources.is_learned(number)

    def _why_changed(self, softmax: OpenSoftmax, product: MatrixProduct, stack: ops.Stack) -> str:
        """The reason why a factor of a product is not the weights of a softmax over the keys."""
        if softmax.is_learned:
            return LEARNED
        arrangement = evidence.arranged_by_another_axis(softmax, product.left)
        if arrangement is None:
            return DROPOUT if stack[-1].training else CHANGED
        if softmax.axis == arrangement.query:
            return OTHER_AXIS.format(axis="queries")
        n_heads = head_layout.head_count(stack)
        for layout in head_layout.layouts(arrangement.sizes, n_heads):
            if self._layers.have_written(layout, product.right):
                is_head = layout.head_axis == arrangement.lead.index(softmax.axis)
                return OTHER_AXIS.format(axis="heads" if is_head else "texts of the batch")
        return OTHER_AXIS.format(axis="heads or the texts of the batch")

    def _take_windowed(
        self, softmax: OpenSoftmax, number: int, product: MatrixProduct, stack: ops.Stack
    ) -> bool:
        """True if a product is that of a window's chunks with their values: it is reported."""
        call = windowed(softmax, product, self._layers.runs)
        if call is None:
            return False
        self._close(number)
        self._decide_late()
        self._loops.end()
        self._report(SeenAttention(stack[-1], call.inputs, call.mixed, call.kind))
        return True

    def _take(self, call: Undecided) -> None:
        """Report an attention whose order of axes is shown; let any other wait."""
        if not call.instead:
            call.layout = call.layout or self._layers.layout(call)
        if call.layout is not None and self._layers.show_stacked_queries(call, call.layout):
            self._refuse(call.stack[-1], STACKED_QUERIES)
        elif call.layout is not None and not call.is_learned:
            self._finish_attention(call, call.layout)
        else:
            call.wait()
            self._undecided = call

    def _add_convolution(self, args: tuple[Any, ...], out: Tensor) -> None:
        """Keep a convolution, which makes q, k and v where pictures and sounds attend."""
        if not self._origins.is_parameter(args[1]):
            return
        layer = ops.convolution(args, out)
        number = self._next({}, OPEN_SOFTMAXES)
        earlier = {n for n in self._origins.of(out) if not self._sources.is_learned(n)}
        shape = tuple(layer.written.shape)
        self._sources.keep(number, ScoreSource(layer.read, args[1], shape, None, True, True))
        self._origins.replace(out, frozenset({*earlier, number}), 1)
        self._layers.add(layer)
        self._decide_by_reader(layer)

    def begin_recurrent(self, read: object) -> None:
        """Take a recurrent layer as one that reads texts whole, and not in steps."""
        self._before_recurrent = tuple(self._layers.runs), dict(self._sources)
        whole = ops.padded(read)
        if whole is not None:
            self.decide_by(whole)

    def end_recurrent(self, layer: nn.RNNBase, read: object, returned: tuple[Any, ...]) -> None:
        """Keep a recurrent layer, whose own products are steps, as one that wrote texts."""
        runs, sources = self._before_recurrent
        self._layers.runs.clear()
        self._layers.runs.extend(runs)
        self._sources.clear()
        self._sources.update(sources)
        texts, states = returned
        before, after = ops.padded(read), ops.padded(texts)
        if before is None or after is None:
            return
        self._layers.add(LayerRun(before.flatten(0, -2), after.flatten(0, -2)))
        number, shape = self._next({}, OPEN_SOFTMAXES), tuple(after.shape)
        weight: Tensor = layer.weight_ih_l0  # type: ignore[assignment]  # every one has it
        self._sources.keep(number, ScoreSource(before, weight, shape, None, True, True))
        out = texts.data if isinstance(texts, PackedSequence) else texts
        for tensor in (out, *(states if isinstance(states, tuple) else (states,))):
            self._origins.replace(tensor, frozenset({number}), -1)

    def _add_bias(self, args: tuple[Any, ...], out: Tensor) -> None:
        """Take a parameter added to a layer's product as its bias."""
        if not self._layers.runs or not all(isinstance(arg, Tensor) for arg in args[:2]):
            return
        before, added = args[:2] if self._origins.is_parameter(args[1]) else args[1::-1]
        if self._origins.is_parameter(added):
            layer = self._layers.runs[-1].plus(added.detach(), before.detach(), out.detach())
            if layer is not None:
                self._layers.add(layer)
                self._tell_product(layer)

    def _retract_if_read(self, right: frozenset[int]) -> None:
        """Refuse linear attention: queries multiply what a softmax over the keys gave."""
        call = self._undecided
        if call is not None and call.is_learned and call.number in right:
            self._undecided = None
            self._refuse(call.stack[-1], LINEAR)

    def _decide_by_reader(self, layer: LayerRun) -> None:
        """Report the waiting attention if a layer reads its mixed values under some layout."""
        call = self._undecided
        if call is None:
            self._loops.decide_by(layer.read)
        if call is None or layer.read.numel() < call.mixed.numel():
            return
        if call.layout is not None:
            if layer.read.numel() == call.mixed.numel() or self._loops.wait:
                self._decide_late()
                self._loops.decide_by(layer.read)
            return
        n_heads = head_layout.head_count(call.stack)
        for way in (call, *call.instead):
            for layout in head_layout.layouts(way.lead, n_heads):
                if is_one_text(layout, way) and head_layout.read_by(layout, way.mixed, layer.read):
                    self._undecided = None
                    self._finish_attention(way, layout)
                    return
        if self._loops.wait:  # for more of this one's queries, of which a layer reads all now
            self._decide_late()
            self._loops.decide_by(layer.read)

    def _decide_late(self) -> None:
        """Report the waiting attention by what its modules declare, else refuse it."""
        call, self._undecided = self._undecided, None
        if call is None:
            return
        n_heads = head_layout.head_count(call.stack)
        if call.instead:
            ways = [way for way in (call, *call.instead) if way.lead[1] == n_heads]
            call = ways[0] if len(ways) == 1 else call
            layout = HeadLayout(call.lead, 1) if len(ways) == 1 else None
        else:
            layout = call.layout or head_layout.declared(call.lead, n_heads)
        if layout is None and len(call.lead) == 1:
            one_head = HeadLayout(call.lead, None)
            # the module got them so: there are no layers, or they show one score for each key
            if (self._layers.are_none and n_heads in (None, 1)) or self._layers.show_one_score(
                call, one_head
            ):
                layout = one_head
        if layout is None:
            self._refuse(call.stack[-1], NO_ORDER)
        elif self._layers.show_stacked_queries(call, layout):
            self._refuse(call.stack[-1], STACKED_QUERIES)
        else:
            self._finish_attention(call, layout)

    def _finish_attention(self, call: Undecided, layout: HeadLayout) -> None:
        if not all(state.holds() for state in call.states):
            self._refuse(call.stack[-1], OVERWRITTEN)
            return
        query, key, before, kind, reads = None, None, None, call.kind, None
        if call.factors is not None:
            query, key = (layout.by_head(tensor) for tensor in call.factors[:2])
            reads = self._layers.reads(layout, *call.factors[:2])
            reads = reads or self._sources.reads(*call.factors[:2])
            kind = self._sources.kind_of_reads(*reads) if reads else call.kind
            scaling = call.scaling
            if scaling is not None and ops.is_same_view(scaling.after, call.factors[2].left):
                before = multihead.ScoreProduct(scaling.before, call.factors[2].added)
        stored = StoredWeights(
            layout.by_head(call.weights), query, key, layout.by_head(call.values)
        )
        asked, answering = (None, None) if call.factors is None else call.factors[:2]
        inputs: AttentionInputs | StoredWeights = stored
        if before is None:
            inputs, is_turned = explained(stored, call, layout)
            if is_turned:
                asked, answering, reads = answering, asked, reads and reads[::-1]
        mixed = layout.by_head(call.mixed).transpose(1, 2)
        operands = Operands(asked, answering, call.values, call.weights)
        products = partial(self._layers.products, call.stack, layout, operands.by_name())
        module = call.stack[-1]
        seen = SeenAttention(module, inputs, mixed, kind, product=before, products=products)
        self._loops.add(call.stack, seen, operands, reads)

    def _add_fused(self, arguments: Mapping[str, Any], out: object, stack: ops.Stack) -> None:
        """Take a fused kernel as a whole attention."""
        self._decide_late()
        output = out[0] if isinstance(out, tuple) else out
        assert isinstance(output, Tensor), "of a fused kernel"
        self._origins.replace(output, NOTHING)
        if arguments.get("dropout_p"):
            self._refuse(stack[-1], DROPOUT)
            return
        query, value = arguments["query"].detach(), arguments["value"].detach()
        layout = self._layers.fused_layout(query, value, stack)
        if layout is None and query.dim() == 4 and query.shape[1] > 1 and query.stride(1) == 0:
            self._refuse(stack[-1], ONE_QUERY)
            return
        heads_first = layout is not None and layout.head_axis == 0
        inputs, mixed = fused_kernels.opened(arguments, output, heads_first=heads_first)
        q, k, reads = inputs.query, inputs.key, None
        if q.dim() == 4 and q.shape[:2] == k.shape[:2]:
            heads = HeadLayout(tuple(q.shape[:2]), 1)
            reads = self._layers.reads(heads, q.flatten(0, 1), k.flatten(0, 1))
        reads = reads or self._sources.reads(arguments["query"], arguments["key"])
        kind = self._sources.kind_of_reads(*reads) if reads else None
        operands = Operands(arguments["query"], arguments["key"], arguments["value"])
        self._loops.add(stack, SeenAttention(stack[-1], inputs, mixed, kind), operands, reads)

    def _drop_oldest(self) -> None:
        """Refuse the oldest open softmax if it is attention, and forget it."""
        softmax = self._softmaxes.pop(next(iter(self._softmaxes)))
        module = softmax.stack[-1]
        if isinstance(module, nn.Softmax) and len(softmax.stack) > 1:
            module = softmax.stack[-2]
        if softmax.fault is not None:
            self._refuse(*softmax.fault)
        elif softmax.over_positions or any(not part.is_learned for part in softmax.sources):
            self._refuse(module, DROPOUT if module.training else NO_VALUES)
        elif is_named_attention(module):
            self._refuse(module, NO_KEYS)
