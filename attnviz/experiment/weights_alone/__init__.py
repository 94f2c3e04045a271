"""What the weights of a model say before any text is read: the circuits of its heads.

`matrices` finds the folded weights of every head and of the vocabulary by data flow, `scores` has
the formulas on them, `circuits` is what a caller asks. No architecture is known by name.
"""
