"""Retrieval: which pieces of a case an answer may rest on. Pure: from texts to scores, and from those to hits."""
