"""The stages of a run, each with typed input and output that can be run alone."""
