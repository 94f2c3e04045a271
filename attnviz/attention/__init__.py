"""The mathematics of one attention call.

`formula` has the equations, `inputs` the tensors of a call and every stage derived from them,
`steps` the stages of one head compared with the model's own tensors, `call` what was recorded.
Nothing here knows who recorded a call.
"""
