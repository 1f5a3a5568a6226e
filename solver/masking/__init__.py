"""Masking of compliance calls, and checks of instructions."""
