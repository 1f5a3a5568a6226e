"""The dataset of the legal benchmark: decisions of regulators, the chunks that agents produced from them, and
questions."""
