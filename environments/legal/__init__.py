"""The case book of the legal benchmark: decisions of regulators, what agents read in them, and questions about them."""
