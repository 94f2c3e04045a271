"""The generated worlds that only training needs: grammars of sentences, stories and reviews.

Each package draws texts with their right answers from a `random.Random` that the caller seeds. What
the app and the checks need of them is stored in attnviz: word lists and examples in
`attnviz.worlds`, held-out cases in `attnviz.worlds.cases`; a test generates both again.
"""
