"""Reading external data: recorded conversations, programs, published tasks and records."""
