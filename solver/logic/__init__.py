"""The rule language: syntax, meaning and parser of formulas."""
