"""What a class reads and answers: cards, questions and their texts (numpy only, no torch).

`card` has the vocabulary, `content` the texts in four languages, `grade` tells whether an answer is
right and, if not, which mistake it shows. The numbers come from `attnviz.course`, which computes
them when a card is built; nothing here knows a number of its own.
"""
