"""People verify rules and tasks: what they see, how they vote, when an item is accepted (P 4.2)."""
