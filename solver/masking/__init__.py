"""Masking of compliance calls, and what an instruction must state."""
