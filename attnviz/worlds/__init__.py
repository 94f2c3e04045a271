"""The made-up worlds that the embedded models learned from: generated, seeded, free of any corpus.

Each module makes examples from a `random.Random` or numpy generator that the caller seeds, with
their right answers beside them. Training draws from them, checks and tests draw from seeds that
training never used, and the app shows them as samples. No torch; no files but its own tables.
"""
