"""Complete conversations: the order of speakers, the end, and the result."""
