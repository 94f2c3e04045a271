"""One clean pass of a model, and every question on it: what its heads do to the answer.

By intervening: `heads` takes each head away in turn, `edges` cuts single edges, `patching` brings
heads from another text, `occlusion` hides tokens, `switches` and `output_replacement` read whole
answers before and after changes; exact, in batches (`rows`), one number each. By data flow:
`direct` splits the answer into what each head, MLP and embedding wrote, `lens` reads the stream
after each layer, `why` splits a score into writers × writers, `feeds` finds which head moves which
later one and `cut_path` cuts one such path, `from_where` follows the answer back to the tokens. A
share is not a cause: each stands beside an intervention. `answer_measures` name what is measured
and `readouts` read it; `outputs` is what the model itself says; `dataflow` knows no models.
"""
