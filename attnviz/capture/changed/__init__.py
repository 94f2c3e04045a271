"""Interventions applied: what `attnviz.changes` describes, done to a model while it runs.

A caller's `Change` (ablate, patch, …) is placed on an attention call, with the others of that call
(`PlacedChanges`), becomes functions of its stages, and is applied by the `Changer`, which is asked
at each call; what was done stands with the call's inputs as `StageChange`s.

`layout` finds the attention call that a site means, `resolve` turns changes into functions of that
call's stages, `functions` has these, `changer` applies them at the attention function (`applied`),
`corpus` records what heads say on average, `run` has `attnviz.changed`.
"""
