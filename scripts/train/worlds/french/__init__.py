"""Sentence pairs, English and French, from a small grammar: what the translator learned from.

`sentences` draws pairs; `clauses`, `nouns` and `objects` build their parts, `words` has the
lexicon and inflects it, `spelling` writes words and keeps which English words each one translates.
"""
