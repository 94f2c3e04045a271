"""The source of a class, by which a class of transformers is told that need not be watched."""

import inspect

import pytest
import torch
from torch import nn
from transformers import BertConfig
from transformers.models.bert import modeling_bert
from transformers.models.deberta import modeling_deberta

from attnviz.capture.locate import own_code
from attnviz.capture.locate.modules import modules_by_name

CLASSES = [
    cls
    for file in (modeling_bert, modeling_deberta)
    for _, cls in inspect.getmembers(file, inspect.isclass)
    if cls.__module__ == file.__name__ and issubclass(cls, nn.Module)
]


@pytest.mark.slow
def test_a_class_is_read_as_inspect_reads_it() -> None:
    assert len(CLASSES) > 20
    texts = own_code._classes_of(modeling_bert.__name__)
    texts |= own_code._classes_of(modeling_deberta.__name__)
    for cls in CLASSES:
        whole = inspect.getsource(cls)  # with what decorates it
        whole = whole[whole.index(f"class {cls.__name__}") :]
        assert texts[cls.__name__].rstrip().startswith(whole.rstrip()), cls


def test_a_file_is_read_once_for_all_its_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []

    def getsource(thing: object) -> str:
        read.append(thing)
        return original(thing)  # type: ignore[arg-type]

    original = inspect.getsource
    monkeypatch.setattr(inspect, "getsource", getsource)
    own_code._classes_of.cache_clear()
    own_code._file_source.cache_clear()
    for cls in CLASSES:
        own_code._source(cls)
    assert not [thing for thing in read if inspect.isclass(thing)]
    assert len(read) == len(set(map(id, read)))


def test_a_class_inside_a_function_has_its_source() -> None:
    class Attention(nn.Module):
        def forward(self, x):  # type: ignore[no-untyped-def]
            return (x @ x.mT).softmax(-1) @ x

    assert "softmax(" in own_code._source(Attention)
    assert own_code.is_named_attention(Attention())


def test_a_whole_model_does_not_ask_for_the_interface_itself() -> None:
    with torch.device("meta"):
        model = modeling_bert.BertModel(BertConfig(num_hidden_layers=1))
    asking = own_code.asking_modules(modules_by_name(model))
    assert asking == ["encoder.layer.0.attention.self"]
