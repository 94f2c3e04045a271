"""The words under the switches: what each adds to the answer, and one look that is forbidden.

In: a number of the answer, split by head and token, and a `ForbiddenLook`. Out: a `WordsView`. A
direct share is what a look writes itself; it never stands alone: the look is forbidden, as a mask
forbids it and as Start and Look do, and the exact change stands beside it, in words where the two
disagree, and as a control the same in the other heads, or with the other words.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from attnviz.errors import AttnVizError
from attnviz.i18n import Language, text
from attnviz.i18n.numbers import number
from attnviz.pictures.group import answers
from attnviz.pictures.group.axes import word_at
from attnviz.pictures.switches import ForbiddenLook, WordsView

if TYPE_CHECKING:
    from attnviz.changes import Change
    from attnviz.experiment.answer_measures import AnswerMeasure
    from attnviz.experiment.by_token import DirectByToken
    from attnviz.experiment.run import Experiment

MAX_WORDS = 128
READS = ("encoder", "decoder", "encoder-decoder")  # text


@dataclass(frozen=True, eq=False)
class WordShares:
    """A number of the answer, named `number`, split by the `places` of heads that read the text.

    `title` is its short name. It is printed with so many `decimals`.
    """

    lang: Language
    number: str
    title: str
    split: "DirectByToken"
    places: tuple[int, ...]
    decimals: int

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """The heads that read the words."""
        return tuple(str(self.split.heads[place]) for place in self.places)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The words that they read."""
        return self.split.tokens[self.places[0]]

    def fitting(self, look: ForbiddenLook) -> ForbiddenLook:
        """The look, without a head or a word that there is not."""
        key = look.key if look.key is not None and look.key < len(self.tokens) else None
        return ForbiddenLook(look.head if look.head in self.heads else "", key)

    def strongest(self, head: str) -> ForbiddenLook:
        """The look of a head whose share is the largest; none of a head that reads no words."""
        if head not in self.heads:
            return ForbiddenLook()
        shares = self.split.values[self.places[self.heads.index(head)], : len(self.tokens)]
        return ForbiddenLook(head, int(np.argmax(np.abs(shares))))

    def changes(self, look: ForbiddenLook) -> "tuple[Change, ...]":
        """The changes that forbid the look; none where no word is chosen."""
        if look.key is None:
            return ()
        return self.split.cuts_of(
            [(place, look.key) for place in self._asked(look)], renormalise=True
        )

    def query(self) -> int | None:
        """The one place at which heads write into the answer.

        None where there are several, or several attentions: then no cell says what is forbidden.
        """
        is_plain = all(head.stack is None and head.kind == "self" for head in self.split.heads)
        (first, *others) = self._rows()
        return first if is_plain and not others else None

    def _rows(self) -> list[int]:
        """The places at which heads write into the answer: a look is forbidden in all of them."""
        written = [self.split.shares[at].queries for at in self.places]
        return sorted({row for each in written for row in range(each.start, each.stop)})

    def name(self, look: ForbiddenLook) -> str:
        """The look in words."""
        word = "" if look.key is None else word_at(self.lang, self.tokens, look.key)
        one, every = ("one_rows", "all_rows") if len(self._rows()) > 1 else ("one", "all")
        form = one if look.head else every
        return text(self.lang, f"word_shares.{form}", head=look.head, word=word)

    def view(self, look: ForbiddenLook) -> WordsView:
        """The words as the page shows them; the cuts are run here."""
        from attnviz.attention.axis_tokens import key_tokens

        cut = None if look.key is None else self._cut(look.key)
        said, notes = (self._whole(look), ()) if cut is None else self._forbidden(look, cut)
        n, first = len(self.tokens), self.split.shares[self.places[0]].call
        special = key_tokens(self.split.prepared.tokens, first, 0).special
        return WordsView(
            title=text(self.lang, "word_shares.title", number=self.title),
            tokens=self.tokens,
            special=special,
            heads=self.heads,
            values=self.split.values[list(self.places), :n].astype(np.float32),
            look=str(look),
            decimals=self.decimals,
            sentences=said,
            notes=notes,
            cut=None if cut is None else cut.astype(np.float32),
            query=self.query(),
        )

    def _asked(self, look: ForbiddenLook) -> tuple[int, ...]:
        return (self.places[self.heads.index(look.head)],) if look.head else self.places

    def _cut(self, key: int) -> np.ndarray:
        """The exact change with each head's look at a word forbidden alone."""
        table = self.split.cut([(place, key) for place in self.places], renormalise=True)
        numbers: np.ndarray = table[list(self.places), key]
        return numbers

    def _whole(self, look: ForbiddenLook) -> tuple[str, ...]:
        """The sentence where no word is chosen: the sum, and what is no head."""
        by_token = self.split.values[list(self._asked(look))].sum(0)
        most = int(np.argmax(np.abs(by_token)))
        return (
            text(
                self.lang,
                "word_shares.sum_one" if look.head else "word_shares.sum_all",
                head=look.head,
                number=self.number,
                sum=self._signed(float(by_token.sum())),
                own=self._signed(self.split.own),
                rest=self._signed(self.split.own - float(by_token.sum())),
                word=word_at(self.lang, self.tokens, most),
                most=self._signed(float(by_token[most])),
            ),
        )

    def _forbidden(
        self, look: ForbiddenLook, cut: np.ndarray
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(what the look adds, what happens without it, if the two disagree; the control)."""
        assert look.key is not None, "a word is chosen"
        share = float(self.split.values[list(self._asked(look)), look.key].sum())
        if look.head:
            at = self.heads.index(look.head)
            change, others = float(cut[at]), np.delete(cut, at)
            names = [*self.heads[:at], *self.heads[at + 1 :]]
        else:
            by_word = self.split.cut_tokens(self.heads, renormalise=True)
            change, others = float(by_word[look.key]), np.delete(by_word, look.key)
            every = [word_at(self.lang, self.tokens, at) for at in range(len(self.tokens))]
            names = [name for at, name in enumerate(every) if at != look.key]
        values = {
            "share": self._signed(share),
            "change": self._signed(change),
            "was": self._signed(self.split.own),
            "now": self._signed(self.split.own + change),
        }
        said_too = verdict(round(share, self.decimals), round(change, self.decimals))
        forms = ["share", "cut", *([said_too] if said_too else [])]
        said = tuple(text(self.lang, f"word_shares.{form}", **values) for form in forms)
        notes = []
        if len(others):
            sizes = np.abs(others)
            notes.append(
                text(
                    self.lang,
                    "word_shares.control_one" if look.head else "word_shares.control_all",
                    n=len(others),
                    median=self._size(float(np.median(sizes))),
                    most=self._size(float(sizes.max())),
                    name=names[int(sizes.argmax())],
                )
            )
        notes.append(
            text(
                self.lang,
                "word_shares.agreement",
                n=int((~np.isnan(self.split.exact)).sum()),
                percent=round(100 * self.split.agreement),
            )
        )
        return said, tuple(notes)

    def _signed(self, value: float) -> str:
        """A number with its sign; no sign for 0."""
        rounded = round(value, self.decimals)
        sign = "+" if rounded else ""
        return number(self.lang, rounded or 0, f"{sign}.{self.decimals}f")

    def _size(self, value: float) -> str:
        return number(self.lang, value, f".{self.decimals}f")


def verdict(share: float, change: float) -> str:
    """The key of the sentence on share and exact change; "" where they agree, as printed."""
    if not change:
        return "idle" if share else ""
    if not share:
        return "silent"
    if (share > 0) == (change > 0):
        return "against" if share > 0 else "for"
    return ""


def words_of(lang: Language, run: "Experiment", split: "DirectByToken | None") -> WordShares | None:
    """The words of a run's answer; None where they have no direct shares.

    In a model with an encoder and a decoder the words are the encoder's, read through
    cross-attention.
    """
    if split is None:
        return None
    crossing = any(head.kind == "cross" for head in split.heads)
    places = tuple(
        place for place, head in enumerate(split.heads) if not crossing or head.kind == "cross"
    )
    fits = places and split.ok
    decimals = 4 if run.reader.kind == "cosines" else 2
    whole, short = (_number(lang, run, is_short) for is_short in (False, True))
    return WordShares(lang, whole, short, split, places, decimals) if fits else None


def split_of(run: "Experiment") -> "DirectByToken | None":
    """A number of a run's answer by head and token; None where it cannot be split, or is long.

    The trace of a long text is large, and so many words are no list to read.
    """
    lm, on = run.prepared.lm, _measure(run)
    texts = (text for texts in run.prepared.tokens.values() for text in texts)
    is_long = max(map(len, texts), default=0) > MAX_WORDS
    if on is None or is_long or lm.tokenizer is None or lm.kind not in READS:
        return None
    try:
        return run.with_measure(on).direct(by="token")
    except AttnVizError:  # a number that is not linear, a layer whose W_O is not known
        return None


def _measure(run: "Experiment") -> "AnswerMeasure | None":
    """The lead of the first choice, a target, or a cosine to another sentence.

    A target's log-likelihood is not linear: the sum of its logits, each minus the mean of all, is
    split in its place.
    """
    from attnviz.experiment.answer_measures import Cosine

    if run.reader.kind == "cosines" and run.others:
        return Cosine(to=run.others[0])
    return run.reader.lead


def _number(lang: Language, run: "Experiment", is_short: bool) -> str:
    """The number that is split, in words; the short ones do not say what the second choice is."""
    if run.reader.kind == "target":
        return text(lang, "word_shares.target")
    if run.reader.kind == "cosines":
        return text(lang, "word_shares.cosine", other=run.others[0])
    first, second = run.reader.pair
    names = {"first": run.reader.name(first).strip(), "second": run.reader.name(second).strip()}
    form = "lead" if is_short or answers.is_runner_up(run.reader, second) else "lead_text"
    return text(lang, f"word_shares.{form}", **names)
