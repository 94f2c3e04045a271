"""The part of a lesson that a class reads and answers: cards, questions, texts (no torch).

`cards` has the vocabulary, the texts and the grading, `paper` prints worksheets, `classroom` keeps
the rooms of classes; `content` holds the texts in each language. The numbers come from
`attnviz.teach.course`, which computes them when a card is built; nothing here knows a number.
"""
