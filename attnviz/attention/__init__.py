"""The mathematics of one attention call.

`formula` has the equations, `inputs` the tensors of a call and every stage derived from them,
`call` one recorded call, `steps` all stages of one head, `capture` all calls of a forward pass.
`tolerance` and `verification` compare derived numbers with the model's own. Nothing here knows who
recorded a call.
"""
