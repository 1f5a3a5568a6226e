"""How much one request of a conversation asks for. A plan of the calls reads this without the conversations."""

PROGRAMS_PER_REQUEST = 5
"""Programs asked of a trace writer at once."""
MAX_UNUSABLE_ANSWERS = 3
"""Unusable answers after which a trace writer is given up."""
