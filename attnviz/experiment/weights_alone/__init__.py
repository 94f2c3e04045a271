"""The circuits of a model's heads, as its weights have them before any text is read.

`matrices` finds the folded weights of every head and of the vocabulary by data flow, `scores` has
the formulas on them, `circuits` is what a caller asks. No architecture is known by name.
"""
