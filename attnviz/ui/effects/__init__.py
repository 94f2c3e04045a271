"""What a head does: the page Switches, and what other pages say of the answer.

In: what is shown and the view. Out: mounted components and sentences. Each number comes from
`attnviz.effects` or `attnviz.attribution` and stands beside its control.
"""
