"""Retrieval of the chunks for a question. Pure functions: texts to scores, scores to hits."""
