"""Explicit-state search over products of rule automata."""
