"""`record` on the attention of recurrent translators (Bahdanau, Luong) and readers (BiDAF)."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnviz.capture.record.recorder import record
from attnviz.errors import UnsupportedAttention
from attnviz.types import Kind

WIDTH, N_SOURCE, N_TARGET = 16, 7, 5


class Seq2Seq(nn.Module):
    """An encoder and a decoder with recurrent layers; `truth` has the weights of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.decoder = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.key, self.query = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.score, self.out = nn.Linear(WIDTH, 1), nn.Linear(2 * WIDTH, WIDTH)
        self.truth: list[Tensor] = []

    def kept(self, weights: Tensor) -> Tensor:
        """The weights, remembered."""
        self.truth.append(weights.detach().clone())
        return weights


class LuongDot(Seq2Seq):
    """Luong et al. 2015, "dot": states without a layer, then the context beside the state."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory, _ = self.encoder(source)
        states, _ = self.decoder(target)
        context = self.kept((states @ memory.mT).softmax(-1)) @ memory
        return torch.tanh(self.out(torch.cat([context, states], -1)))


class LuongGeneral(Seq2Seq):
    """Luong et al. 2015, "general", one target word at a time."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory, state = self.encoder(source)
        written = []
        for word in target.split(1, 1):
            asking, state = self.decoder(word, state)
            weights = torch.bmm(asking, self.key(memory).transpose(1, 2)).softmax(-1)
            context = torch.bmm(self.kept(weights), memory)
            written.append(self.out(torch.cat([asking, context], -1)))
        return torch.cat(written, 1)


class Bahdanau(Seq2Seq):
    """Bahdanau et al. 2015 as PyTorch's tutorial writes it: the state before each word asks."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory, state = self.encoder(source)
        written = []
        for word in target.split(1, 1):
            hidden = torch.tanh(self.query(state.permute(1, 0, 2)) + self.key(memory))
            weights = self.score(hidden).squeeze(2).unsqueeze(1).softmax(-1)
            context = torch.bmm(self.kept(weights), memory)
            output, state = self.decoder(self.out(torch.cat([word, context], -1)), state)
            written.append(output)
        return torch.cat(written, 1)


class Additive(Seq2Seq):
    """All target words at once, by their embeddings."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory, _ = self.encoder(source)
        hidden = torch.tanh(self.query(target)[:, :, None] + self.key(memory)[:, None])
        return self.kept(self.score(hidden).squeeze(-1).softmax(-1)) @ memory


class Memory(Seq2Seq):
    """Words that ask a memory; neither goes through a layer (Sukhbaatar et al. 2015)."""

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.kept((target @ source.mT / 4).softmax(-1)) @ source


class Reader(Seq2Seq):
    """A text that asks a question (BiDAF, Seo et al. 2017), scored by one layer."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(3 * WIDTH, 1)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        text = source[:, :, None].expand(-1, -1, N_TARGET, -1)
        question = target[:, None].expand(-1, N_SOURCE, -1, -1)
        scores = self.score(torch.cat([text, question, text * question], -1)).squeeze(-1)
        return torch.cat([source, self.kept(scores.softmax(-1)) @ target], -1)


class Pooling(Seq2Seq):
    """One sum of a text's words, weighted by a layer."""

    def forward(self, source: Tensor, _target: Tensor) -> Tensor:
        return self.kept(self.score(source).softmax(1).mT) @ source


KINDS: dict[type[Seq2Seq], Kind] = {
    LuongDot: "cross",
    LuongGeneral: "cross",
    Bahdanau: "cross",
    Additive: "cross",
    Memory: "cross",
    Pooling: "self",
}


def texts(cls: type[Seq2Seq], n_text: int) -> tuple[Seq2Seq, Tensor, Tensor]:
    torch.manual_seed(3)
    inputs = (torch.randn(n_text, length, WIDTH) for length in (N_SOURCE, N_TARGET))
    return cls().eval(), *inputs


@pytest.mark.parametrize("n_text", [1, 2])
@pytest.mark.parametrize("cls", KINDS, ids=lambda cls: cls.__name__)
def test_recurrent_translators_are_recorded_and_ask_another_text(
    cls: type[Seq2Seq], n_text: int
) -> None:
    model, source, target = texts(cls, n_text)
    with torch.no_grad(), record(model) as calls:
        model(source, target)
    assert not calls.missing
    assert {call.kind for call in calls} == {KINDS[cls]}
    assert [call.layer for call in calls] == [0] * len(model.truth)
    for call, truth in zip(calls, model.truth, strict=True):
        assert (call.n_batch, call.n_heads) == (n_text, 1)
        ours = torch.stack([call.weights(batch=batch)[0] for batch in range(n_text)])
        torch.testing.assert_close(ours, truth, atol=1e-6, rtol=0)
        call.verify().require()


def test_a_reader_of_two_texts_is_refused_where_no_layer_shows_its_batch() -> None:
    model, source, target = texts(Reader, 1)
    with torch.no_grad(), record(model) as calls:
        model(source, target)
    (call,) = calls
    assert call.kind == "cross"
    torch.testing.assert_close(call.weights(), model.truth[0], atol=1e-6, rtol=0)
    model, source, target = texts(Reader, 2)
    with pytest.raises(UnsupportedAttention, match="batch"), torch.no_grad(), record(model):
        model(source, target)


# --- recurrent layers show which axis is the texts ----------------------------------------------


class Bidaf(nn.Module):
    """Both attentions of BiDAF between two recurrent layers, over texts of different lengths."""

    def __init__(self, layer: type[nn.RNNBase], packed: bool, product: bool, first: bool) -> None:
        super().__init__()
        self.context = layer(WIDTH, WIDTH, batch_first=first, bidirectional=True)
        self.modeling = layer(8 * WIDTH, WIDTH, batch_first=first)
        self.of_text, self.of_question = nn.Linear(2 * WIDTH, 1), nn.Linear(2 * WIDTH, 1)
        self.score, self.start = nn.Linear(6 * WIDTH, 1), nn.Linear(WIDTH, 1)
        self.is_packed, self.has_product, self.is_first = packed, product, first
        self.truth: list[Tensor] = []

    def encoded(self, layer: nn.RNNBase, texts: Tensor, lengths: Tensor) -> Tensor:
        first = self.is_first
        if not self.is_packed:
            x = texts if first else texts.transpose(0, 1)
            return layer(x)[0] if first else layer(x)[0].transpose(0, 1)
        packed = pack_padded_sequence(texts, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(layer(packed)[0], True, total_length=texts.shape[1])[0]

    def scores(self, text: Tensor, question: Tensor) -> Tensor:
        if self.has_product:
            alone = self.of_text(text) + self.of_question(question).mT
            return alone + text @ question.mT
        n_text, n_question = text.shape[1], question.shape[1]
        sides = (
            text[:, :, None].expand(-1, -1, n_question, -1),
            question[:, None].expand(-1, n_text, -1, -1),
        )
        return self.score(torch.cat([*sides, sides[0] * sides[1]], -1)).squeeze(-1)

    def kept(self, scores: Tensor, lengths: Tensor) -> Tensor:
        """The weights on the real words, remembered."""
        is_real = torch.arange(scores.shape[-1]) < lengths[:, None, None]
        weights = scores.masked_fill(~is_real, -1e30).softmax(-1)
        self.truth.append(weights.clone())
        return weights

    def forward(self, text: Tensor, question: Tensor, lengths: Tensor) -> Tensor:
        of_text, of_question = lengths
        text = self.encoded(self.context, text, of_text)
        question = self.encoded(self.context, question, of_question)
        scores = self.scores(text, question)
        asked = self.kept(scores, of_question) @ question
        best = (self.kept(scores.amax(-1)[:, None], of_text) @ text).expand_as(text)
        both = torch.cat([text, asked, text * asked, text * best], -1)
        return self.start(self.encoded(self.modeling, both, of_text))


@pytest.mark.some(8)
@pytest.mark.parametrize("n_text", [1, 2, 3])
@pytest.mark.parametrize("how", ["packed", "padded", "time first"])
@pytest.mark.parametrize("product", [True, False])
@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU])
def test_a_reader_of_texts_of_different_lengths_is_recorded(
    layer: type[nn.RNNBase], product: bool, how: str, n_text: int
) -> None:
    torch.manual_seed(5)
    model = Bidaf(layer, how == "packed", product, how != "time first").eval()
    lengths = torch.tensor([[7, 5, 6], [4, 3, 2]])[:, :n_text]
    text, question = (torch.randn(n_text, n, WIDTH) for n in (7, 4))
    with torch.no_grad(), record(model) as calls:
        model(text, question, lengths)
    assert not calls.missing
    assert [(call.n_batch, call.n_heads, call.kind) for call in calls] == [(n_text, 1, "cross")] * 2
    for call, truth in zip(calls, model.truth, strict=True):
        ours = torch.stack([call.weights(batch=batch)[0] for batch in range(n_text)])
        torch.testing.assert_close(ours, truth, atol=1e-6, rtol=0)
        call.verify().require()
    for batch, (n_words, n_asked) in enumerate(lengths.T.tolist()):  # nothing on padding
        assert not calls[0].weights(batch=batch)[..., n_asked:].any()
        assert not calls[1].weights(batch=batch)[..., n_words:].any()


@pytest.mark.parametrize("n_text", [1, 2])
def test_heads_of_what_a_recurrent_layer_wrote_stay_heads(n_text: int) -> None:
    class Heads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before = nn.LSTM(WIDTH, WIDTH, batch_first=True)
            self.after = nn.LSTM(WIDTH, WIDTH, batch_first=True)

        def forward(self, x: Tensor) -> Tensor:
            x = self.before(x)[0]
            heads = x.unflatten(-1, (2, WIDTH // 2)).transpose(1, 2)
            self.weights = (heads @ heads.mT / 3).softmax(-1)
            return self.after((self.weights @ heads).transpose(1, 2).flatten(2))[0]

    torch.manual_seed(5)
    model = Heads().eval()
    with torch.no_grad(), record(model) as calls:
        model(torch.randn(n_text, N_SOURCE, WIDTH))
    (call,) = calls
    assert (call.n_batch, call.n_heads, call.kind) == (n_text, 2, "self")
    for batch in range(n_text):
        torch.testing.assert_close(call.weights(batch=batch), model.weights[batch])


def test_queries_that_are_among_their_keys_ask_themselves() -> None:
    class Joined(Seq2Seq):
        def forward(self, source: Tensor, _target: Tensor) -> Tensor:
            return self.kept((source[:, 2:] @ source.mT).softmax(-1)) @ source

    model, source, target = texts(Joined, 1)
    with torch.no_grad(), record(model) as calls:
        model(source, target)
    assert [call.kind for call in calls] == ["self"]
