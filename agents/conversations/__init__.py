"""Whole conversations: who speaks next, when it ends, and what comes out."""
