"""Scripted roles of the legal benchmark: deterministic functions that need no model.

They compare words and match patterns. Results obtained with them are reported under the name ``offline``.
"""
