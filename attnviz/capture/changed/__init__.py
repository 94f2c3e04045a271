"""Interventions applied: what `attnviz.changes` describes, done to a model while it runs.

`layout` finds the attention call that a site means, `resolve` turns changes into functions of that
call's stages, `functions` has these, `changer` applies them at the attention function (`applied`),
`corpus` records what heads say on average, `run` has `attnviz.changed`.
"""
