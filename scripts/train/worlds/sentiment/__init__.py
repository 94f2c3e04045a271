"""Film reviews with the feeling of each part: what the classifier learned from.

`reviews` draws them, `clauses` has the frames of sentences, `words` their vocabulary.
"""
