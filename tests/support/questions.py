"""Texts with a question about the answer, which several tests of effects and attribution ask.

The answers of the embedded models to them are known: the story model says Mary, the review is
praise that a negation makes, the sentences of the encoder are alike.
"""

from attnviz.experiment.answer_measures import AnswerMeasure, Class, Cosine, NextToken, Target

STORE = "When Mary and John went to the store, John gave a book to"
MARY = NextToken(" Mary", against=" John")
CAT = "The cat sat on the mat and looked at the dog there."
REVIEW = "the hotel was not bad at all ."
CASES: tuple[tuple[str, str, AnswerMeasure], ...] = (
    ("stories", STORE, MARY),
    ("stories", STORE, NextToken(" Mary")),
    ("stories-llama", STORE, MARY),
    ("stories-llama", STORE, Target()),
    ("translator", "the little cat sleeps .", Target("le petit chat dort .")),
    ("dates", "January 12, 1948", Target("1948-01-12")),
    ("sentiment", REVIEW, Class("negative", against="positive")),
    ("minilm", CAT, Cosine("A dog lay on a rug.")),
)
