"""The effects of heads: the page Switches, and the sentences about the answer on other pages.

In: what is shown and the view. Out: mounted components and sentences. Each number comes from
`attnviz.experiment` and stands beside its control.
"""
