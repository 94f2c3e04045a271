"""The model's own outputs as plain numbers: the next token, a class, a sentence's vector.

In: a capture, which carries the model's own logits or hidden states. Out: frozen dataclasses over
numpy, in probabilities. Only `answer` runs a model, to let it go on writing.
"""
