"""Scoring: verdicts from attempts, metrics and statistics from verdicts. Pure functions."""
