"""Minimal automata of formulas without time, and operations on them."""
