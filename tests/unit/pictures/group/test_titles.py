"""`views.titles`: what a model is called on screen."""

from attnviz.pictures.group.titles import model_title


def test_model_title_is_short() -> None:
    assert model_title("en", "minilm") == "MiniLM (encoder)"
    assert model_title("en", "openai/gpt2") == "openai/gpt2"
    assert model_title("en", "/srv/models/tiny/") == "tiny"
