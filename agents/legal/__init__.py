"""Agents of the legal benchmark."""
