"""Habits: policies that put fixed compliance calls around the requested calls."""
