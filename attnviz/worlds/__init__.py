"""The generated worlds of the embedded models, as far as the app and the library need them.

`shapes` and `dates` draw examples with their right answers from a generator that the caller seeds;
`french` has the words and examples of `translator`. Training draws from them, checks and tests use
cases that training never saw, and the app shows samples. The grammars that only training needs
(French, stories, reviews) live in scripts/train/worlds. No torch, no corpus from elsewhere.
"""
