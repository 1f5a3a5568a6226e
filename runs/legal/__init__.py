"""Legal runs: from cases to retrieved chunks, answers and tables."""
