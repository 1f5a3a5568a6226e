"""A run of the legal bench: cases to retrieved pieces to answers to tables."""
