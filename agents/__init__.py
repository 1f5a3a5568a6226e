"""Agents: roles, conversations, model clients. Floor 3, the only one that imports AutoGen."""
