"""Commands of the legal benchmark."""
