"""`record` on the attention of recurrent translators (Bahdanau, Luong) and readers (BiDAF)."""

import pytest
import torch
from torch import Tensor, nn

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


def test_queries_that_are_among_their_keys_ask_themselves() -> None:
    class Joined(Seq2Seq):
        def forward(self, source: Tensor, _target: Tensor) -> Tensor:
            return self.kept((source[:, 2:] @ source.mT).softmax(-1)) @ source

    model, source, target = texts(Joined, 1)
    with torch.no_grad(), record(model) as calls:
        model(source, target)
    assert [call.kind for call in calls] == ["self"]
