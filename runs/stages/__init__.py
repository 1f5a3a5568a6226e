"""The stages of a run. Each has typed input and output and can be run alone."""
