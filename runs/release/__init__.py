"""A released task set: written from a seed, with a data card, and checked before anything is graded by it."""
