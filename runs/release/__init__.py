"""Released task sets: built from a seed, with a data card, and verified before use in grading."""
