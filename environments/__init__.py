"""Environments: declarations, simulation, regulations and the sandbox. Layer 1, see README.md in this folder."""
