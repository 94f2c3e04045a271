"""The effect of a head on the answer, measured by intervening: exact, in batches, one number each.

`answer_measures` name what is measured and `readouts` read it from the model's output; `clean_run`
makes inputs of what a caller gives, `rows` puts changed copies of them into one batch. `heads`
takes each head away in turn, `edges` cuts single edges, `occlusion` hides tokens; `answers` reads
whole answers, `switches` and `output_replacement` read them before and after changes. These numbers
come from running the model again; `first_order` estimates, and only where it is asked for by name.
"""
